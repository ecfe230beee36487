# SPDX-License-Identifier: MIT
"""Libvesper in tests: the files that `understudy vesper` writes, and programs with them."""

import subprocess
from collections.abc import Sequence
from pathlib import Path

from click.testing import CliRunner

from understudy_devices.cli.main import main

STRICT = ("-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror")


def understudy(*words: object) -> str:
    """Run a command that succeeds; return what it prints."""
    done = CliRunner().invoke(main, [str(word) for word in words], catch_exceptions=False)
    assert done.exit_code == 0, done.stderr
    return done.stdout


def refused(*words: object) -> str:
    """Run a command that is refused; return its line."""
    done = CliRunner().invoke(main, [str(word) for word in words], catch_exceptions=False)
    assert done.exit_code == 2
    assert done.stderr.count("\n") == 1
    return done.stderr


def compiled(folder: Path, output: str, *words: object, compiler: str = "gcc") -> Path:
    """Run a compiler in a folder; return its output there."""
    command = [compiler, *map(str, words), "-o", output]
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    except FileNotFoundError as error:
        raise AssertionError(
            f"{compiler} is missing: scripts/install-packages tests/packages.txt"
        ) from error
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    return folder / output


def output_of(program: Path, *words: object, given: str = "") -> str:
    """Run a program that succeeds; return what it prints."""
    done = subprocess.run(
        [program, *map(str, words)], input=given, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def symbols(file: Path, kinds: str, tool: str = "nm") -> set[str]:
    """Return the names of an object file's symbols of these kinds."""
    listed = subprocess.run([tool, file], capture_output=True, text=True, check=True).stdout
    rows: Sequence[list[str]] = [line.split() for line in listed.splitlines()]
    return {row[-1] for row in rows if row[-2] in kinds}
