# SPDX-License-Identifier: MIT
"""The reference of commands in Markdown, and what all generated pages share."""

import re
from collections.abc import Iterable, Iterator, Sequence

from manual.commands import AS_TYPED, Described, exit_codes


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    lines = [columns, ["---"] * len(columns), *(map(cell, row) for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def cell(text: str) -> str:
    """Return text that does not end its cell."""
    return text.replace("|", "\\|")


def anchor(title: str) -> str:
    """Return the anchor of a heading."""
    return re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")


def command_page(command: Described) -> str:
    """Return the page of a command and of the commands below it."""
    parts = [part for each in command.each() for part in _parts(each)]
    return "\n\n".join(parts) + "\n"


def commands_page(program: Described) -> str:
    """Return the page that lists the commands and the exit codes."""
    links = [
        (f"[{each.name}](commands/{each.words[1]}.md)", f"{each.summary}.")
        for each in program.commands
    ]
    codes = table(("exit code", "meaning"), exit_codes())
    return (
        f"# Commands and options\n\n{program.paragraphs[0]}\n\n"
        f"{table(('command', 'what it does'), links)}\n\n## Exit codes\n\n{codes}\n"
    )


def _parts(command: Described) -> Iterator[str]:
    level = "#" * (len(command.words) - 1)
    yield f"{level} {command.name}"
    yield f"```text\n{command.usage}\n```"
    for text in command.paragraphs:
        yield _as_typed(text.removeprefix(AS_TYPED)) if text.startswith(AS_TYPED) else _plain(text)
    for title, options in command.groups.items():
        yield f"**{title}**"
        rows = [(f"`{option.names}`", _plain(option.help)) for option in options]
        yield table(("option", "meaning"), rows)
    if command.examples:
        yield _as_typed("\n".join(command.examples))


def _as_typed(text: str) -> str:
    return f"```text\n{text}\n```"


def _plain(text: str) -> str:
    """Return text in which no character has a meaning in Markdown."""
    return re.sub(r"([\\`*_<>\[\]#])", r"\\\1", text)
