# SPDX-License-Identifier: MIT
"""The man pages and the reference of commands say what the commands' own help says."""

import shlex
import shutil
import subprocess
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from manual import man
from manual.commands import Described, describe, exit_codes
from understudy_devices.cli.main import main

COMMANDS = list(describe().each())


def test_every_command_has_a_page() -> None:
    names = {"understudy.1", "understudy-predict.1", "understudy-card-check.1"}
    assert names < set(man.pages())
    assert len(man.pages()) == len(COMMANDS)


def test_mandoc_finds_no_mistake(tmp_path: Path) -> None:
    assert shutil.which("mandoc"), "no mandoc: apt-get install -y mandoc"
    for name, text in man.pages().items():
        (tmp_path / name).write_text(text)
    done = subprocess.run(
        ["mandoc", "-T", "lint", "-W", "warning", *man.pages()],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout + done.stderr == ""
    assert done.returncode == 0


@pytest.mark.parametrize("command", COMMANDS, ids=[one.name for one in COMMANDS])
def test_a_page_shows_what_the_help_says(command: Described, tmp_path: Path) -> None:
    """Word by word: options, defaults, ranges, paragraphs and examples."""
    done = CliRunner().invoke(
        main, [*command.words[1:], "--help"], terminal_width=10_000, max_content_width=10_000
    )
    assert done.exit_code == 0
    page = tmp_path / "page.1"
    page.write_text(man.pages()["-".join(command.words) + ".1"])
    shown = subprocess.run(
        ["mandoc", "-T", "utf8", "-O", "width=500", page],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    text = "".join(letter for letter in _without_overstrikes(shown) if letter not in " \n\t")
    for line in done.stdout.splitlines():
        words = line.strip().removeprefix("Usage: ").removeprefix("Example: ")
        for part in words.split("  "):
            if not part.endswith(":") and "..." not in part:
                assert part.replace(" ", "") in text, part


@pytest.mark.parametrize("command", COMMANDS, ids=[one.name for one in COMMANDS])
def test_an_example_has_the_options_it_needs(
    command: Described, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "vms").mkdir()  # an example names it
    for example in command.examples:
        program, *words = shlex.split(example.partition(" > ")[0])
        found: click.Command | None = main
        while isinstance(found, click.Group) and words:
            name = words.pop(0)
            found = found.get_command(click.Context(main), name)
        if program == "understudy":
            assert found, example
            found.make_context(name, words)


def _without_overstrikes(text: str) -> str:
    """Leave out what makes letters bold on a terminal: the letter, a backspace, the letter."""
    while "\b" in text:
        place = text.index("\b")
        text = text[: place - 1] + text[place + 1 :]
    return text


def test_exit_codes_are_the_four_of_the_page() -> None:
    assert [code for code, _ in exit_codes()] == ["0", "1", "2", "130"]
