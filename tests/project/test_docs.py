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


def test_the_readme_shows_what_make_demo_prints(tmp_path: Path) -> None:
    """Of the simulator, to the byte, but for the wall seconds; and the ranks are as real."""
    _, shown = (ROOT / "README.md").read_text().split("```text\n$ ", 1)
    command, *lines = shown[: shown.index("...\n")].splitlines()
    assert f"\t{command}\n" in (ROOT / "Makefile").read_text()
    words = [*command.split()[1:], "--on", "sim", "--out", str(tmp_path / "run")]
    done = CliRunner().invoke(main, words, catch_exceptions=False)
    printed = [line.rstrip() for line in done.stdout.splitlines()]
    steady = [line for line in lines if not line.startswith(" wall seconds")]
    assert steady == [line for line in printed if not line.startswith(" wall")][: len(steady)]
    assert sum(", ours" in line and line.endswith("as real") for line in lines) == 4
