# SPDX-License-Identifier: MIT
"""A description of every command, read from its click object: the source of man pages and of the
site's reference.

Nothing here is about a format.  Exit codes are those of docs/commands.md, which holds for every
command.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from inspect import cleandoc
from pathlib import Path

import click

from understudy_devices.cli.main import PROGRAM, main
from understudy_devices.cli.options import Grouped

CHECKOUT = Path(__file__).resolve().parents[1]
AS_TYPED = "\b\n"  # click's mark of a paragraph whose lines are not filled
EXAMPLE = "Example:"


@dataclass(frozen=True)
class Option:
    """An option: its spellings with the value's name, and its help with default and range."""

    names: str
    help: str


@dataclass(frozen=True)
class Described:
    """A command: its words, usage, paragraphs of help, options by group, and examples."""

    words: tuple[str, ...]
    summary: str
    usage: str
    paragraphs: tuple[str, ...]
    groups: Mapping[str, Sequence[Option]]
    examples: tuple[str, ...]
    commands: Sequence["Described"]

    @property
    def name(self) -> str:
        """Return the words with spaces between them, as they are typed."""
        return " ".join(self.words)

    def each(self) -> Iterator["Described"]:
        """Yield this command and all commands below it."""
        yield self
        for command in self.commands:
            yield from command.each()


def describe() -> Described:
    """Describe the command `understudy` and all commands below it."""
    return _described(main, click.Context(main, info_name=PROGRAM, **main.context_settings))


def exit_codes() -> list[tuple[str, str]]:
    """Return each exit code with its meaning."""
    page = (CHECKOUT / "docs" / "commands.md").read_text("utf-8")
    return re.findall(r"^\| (\d+) \| (.*) \|$", page, re.MULTILINE)


def _described(command: click.Command, context: click.Context) -> Described:
    paragraphs, examples = [], []
    for text in cleandoc(command.help or "").split("\n\n"):
        listed = text.removeprefix(AS_TYPED)
        if listed.startswith(EXAMPLE):
            examples += [line.strip() for line in listed.splitlines()[1:]]
        else:
            paragraphs.append(text)
    if command.epilog:
        examples.append(command.epilog.removeprefix(EXAMPLE).strip())
    return Described(
        words=tuple(context.command_path.split()),
        summary=command.get_short_help_str(200).rstrip("."),
        usage=" ".join([context.command_path, *command.collect_usage_pieces(context)]),
        paragraphs=tuple(paragraphs),
        groups=_groups(command, context),
        examples=tuple(examples),
        commands=[
            _described(inner, click.Context(inner, info_name=name, parent=context))
            for name, inner in _inner(command, context)
        ],
    )


def _inner(command: click.Command, context: click.Context) -> Iterator[tuple[str, click.Command]]:
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner
            yield name, inner


def _groups(command: click.Command, context: click.Context) -> dict[str, list[Option]]:
    params = (
        command.groups(context)
        if isinstance(command, Grouped)
        else {"Options": command.get_params(context)}
    )
    groups = {
        title: [
            Option(record[0], " ".join(record[1].split()))
            for option in options
            if isinstance(option, click.Option) and (record := option.get_help_record(context))
        ]
        for title, options in params.items()
    }
    return {title: options for title, options in groups.items() if options}
