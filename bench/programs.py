# SPDX-License-Identifier: MIT
"""The core's benchmarks are C programs: compile and run them, and count what they execute."""

import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import click

from understudy.base.paths import ROOT
from understudy.base.programs import Program, compiled

CODE = ("core/**/*.c", "sim/*.c", "sim/workloads/*.c")
HEADERS = ("core/*.h", "sim/*.h")


def build(name: str, *sources: str) -> Path:
    """bench/NAME.c with the whole core and the whole simulator."""
    return compiled(
        Program(
            name,
            (f"bench/{name}.c", "tests/core/schedulers.c", *sources, *_found(CODE)),
            tuple(_found(HEADERS)),
            flags=("-flto", "-Wno-unused-parameter", "-DSCHEDULERS_IN_A_LIST"),
        )
    )


def _found(patterns: Sequence[str]) -> list[str]:
    return sorted(str(path.relative_to(ROOT)) for one in patterns for path in ROOT.glob(one))


def printed(program: Path, *arguments: object) -> float:
    """The figure that it prints."""
    command = [program, *map(str, arguments)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def instructions(program: Path, function: str, *arguments: object) -> int:
    """How many the function and what it calls execute, in all its calls."""
    if not shutil.which("valgrind"):
        raise click.ClickException(
            "valgrind is missing, which counts instructions; apt-get install valgrind"
        )
    command = [
        "valgrind",
        "--tool=callgrind",
        "--callgrind-out-file=/dev/null",
        f"--toggle-collect={function}",
        str(program),
        *map(str, arguments),
    ]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found = re.search(r"Collected : (\d+)", done.stderr)
    if not found:
        raise click.ClickException(f"valgrind counted nothing:\n{done.stderr}")
    return int(found[1])
