# SPDX-License-Identifier: MIT
"""What the documents say of the code, where it can be held against it."""

import runpy
from pathlib import Path

from click.testing import CliRunner

from understudy.base.paths import ROOT
from understudy.cli.main import main


def test_the_tables_of_settings_and_schedulers_are_what_they_declare() -> None:
    """A device's settings, and each scheduler with its tunables, their defaults and ranges, and its
    counters."""
    script = runpy.run_path(str(ROOT / "scripts" / "sysfs_tables.py"))
    page = script["PAGE"].read_text()
    assert page == script["with_tables"](page), "python scripts/sysfs_tables.py mends it"


def test_the_tables_of_real_drives_are_what_their_profiles_say() -> None:
    """And what the drive's model makes of random pages."""
    script = runpy.run_path(str(ROOT / "scripts" / "disk_tables.py"))
    page = script["PAGE"].read_text()
    assert page == script["with_tables"](page), "python scripts/disk_tables.py mends it"


def printed(*words: str) -> list[str]:
    """What a command prints."""
    done = CliRunner().invoke(main, words, catch_exceptions=False)
    return [line.rstrip() for line in done.stdout.splitlines()]


def test_the_demo_prints_what_its_page_shows(tmp_path: Path) -> None:
    """Of the simulator, to the byte, but for the wall seconds; and the ranks are as real."""
    _, shown = (ROOT / "docs" / "table2.md").read_text().split("```text\n$ ", 1)
    command, *lines = shown[: shown.index("...\n")].splitlines()
    assert f"\t{command}\n" in (ROOT / "Makefile").read_text()
    found = printed(*command.split()[1:], "--on", "sim", "--out", str(tmp_path / "run"))
    steady = [line for line in lines if not line.startswith(" wall seconds")]
    assert steady == [line for line in found if not line.startswith(" wall")][: len(steady)]
    assert sum(", ours" in line and line.endswith("as real") for line in lines) == 4


def blocks(language: str) -> list[str]:
    """The README's."""
    readme = (ROOT / "README.md").read_text()
    return [part.partition("```")[0] for part in readme.split(f"```{language}\n")[1:]]


def test_the_readme_quotes_the_page_of_the_demo() -> None:
    """Each line of its excerpt."""
    page = (ROOT / "docs" / "table2.md").read_text().splitlines()
    assert set(blocks("text")[0].splitlines()) <= set(page)


def test_the_scheduler_of_the_readme_ranks_as_it_says(tmp_path: Path) -> None:
    """Copied into a file, it prints the lines that stand below it."""
    file = tmp_path / "mine.c"
    (text,) = blocks("c")
    file.write_text(text)
    command, *lines = blocks("text")[1].splitlines()
    words = command.replace("./mine.c", str(file)).split()[2:]
    assert set(lines) <= set(printed(*words, "--out", str(tmp_path / "run")))
