# SPDX-License-Identifier: MIT
"""Statements in the documents that can be compared with the code."""

import runpy
from pathlib import Path

from click.testing import CliRunner

from understudy.base.paths import ROOT
from understudy.cli.main import main


def test_the_tables_of_settings_and_schedulers_are_what_they_declare() -> None:
    """The tables list a device's settings, and each scheduler's tunables, defaults, ranges and
    counters.
    """
    script = runpy.run_path(str(ROOT / "scripts" / "sysfs_tables.py"))
    page = script["PAGE"].read_text()
    assert page == script["with_tables"](page), "python scripts/sysfs_tables.py mends it"


def test_the_tables_of_real_drives_are_what_their_profiles_say() -> None:
    """The tables also have the model's times for random pages."""
    script = runpy.run_path(str(ROOT / "scripts" / "disk_tables.py"))
    page = script["PAGE"].read_text()
    assert page == script["with_tables"](page), "python scripts/disk_tables.py mends it"


def printed(*words: str) -> list[str]:
    """Return the lines that a command prints."""
    done = CliRunner().invoke(main, words, catch_exceptions=False)
    return [line.rstrip() for line in done.stdout.splitlines()]


def test_the_demo_prints_what_its_page_shows(tmp_path: Path) -> None:
    """The page shows the simulator's exact output, except for the line of wall seconds."""
    _, example = (ROOT / "docs" / "table2.md").read_text().split("```text\n$ ", 1)
    command, *lines = example[: example.index("...\n")].splitlines()
    assert f"\t{command}\n" in (ROOT / "Makefile").read_text()
    output = printed(*command.split()[1:], "--on", "sim", "--out", str(tmp_path / "run"))
    steady = [line for line in lines if not line.startswith(" wall seconds")]
    assert steady == [line for line in output if not line.startswith(" wall")][: len(steady)]
    assert sum(", ours" in line and line.endswith("as real") for line in lines) == 4


def blocks(language: str) -> list[str]:
    """Return the README's blocks in this language."""
    readme = (ROOT / "README.md").read_text()
    return [part.partition("```")[0] for part in readme.split(f"```{language}\n")[1:]]


def test_the_readme_quotes_the_page_of_the_demo() -> None:
    page = (ROOT / "docs" / "table2.md").read_text().splitlines()
    assert set(blocks("text")[0].splitlines()) <= set(page)


def test_the_scheduler_of_the_readme_ranks_as_it_says(tmp_path: Path) -> None:
    """The README's scheduler, copied into a file, prints the lines that the README shows."""
    file = tmp_path / "mine.c"
    (text,) = blocks("c")
    file.write_text(text)
    command, *lines = blocks("text")[1].splitlines()
    words = command.replace("./mine.c", str(file)).split()[2:]
    assert set(lines) <= set(printed(*words, "--out", str(tmp_path / "run")))
