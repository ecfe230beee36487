# SPDX-License-Identifier: MIT
"""Compiles and runs the core's benchmarks, which are C programs, and counts their instructions."""

import re
import runpy
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from understudy_devices.base.errors import RunFailed, UserError
from understudy_devices.base.paths import ROOT
from understudy_devices.base.programs import Program, compiled

CODE = ("core/**/*.c", "sim/*.c", "sim/workloads/*.c")
LISTS = {"scheduler": "core/schedulers/*.c", "workload": "sim/workloads/*.c"}


def build(name: str, *sources: str) -> Path:
    """Compile bench/parts/NAME.c with the whole core and simulator."""
    write = runpy.run_path(str(ROOT / "sim/registry.py"))["text"]
    lists = {
        f"{kind}_list.c": write(kind, [ROOT / source for source in _found([pattern])])
        for kind, pattern in LISTS.items()
    }
    written = (f"bench/parts/{name}.c", "tests/core/schedulers.c", *sources)
    return compiled(
        Program(
            name,
            (*written, *_found(CODE), *lists),
            flags=("-flto", "-Wno-unused-parameter", "-DSCHEDULERS_IN_A_LIST"),
            generated=tuple(lists.items()),
        )
    )


def _found(patterns: Sequence[str]) -> list[str]:
    return sorted(str(path.relative_to(ROOT)) for one in patterns for path in ROOT.glob(one))


def printed(program: Path, *arguments: object) -> float:
    """Run the program and return the figure that it prints."""
    return float(_run([str(program), *map(str, arguments)]).stdout)


def instructions(program: Path, function: str, *arguments: object) -> int:
    """Return the number of instructions in the function and its callees, over all calls."""
    if not shutil.which("valgrind"):
        raise UserError("no valgrind here to count instructions: apt-get install valgrind")
    command = [
        "valgrind",
        "--tool=callgrind",
        "--callgrind-out-file=/dev/null",
        f"--toggle-collect={function}",
        str(program),
        *map(str, arguments),
    ]
    report = _run(command).stderr
    match = re.search(r"Collected : (\d+)", report)
    if not match or not int(match[1]):
        raise RunFailed(f"valgrind counted nothing in {function}:\n{report}")
    return int(match[1])


def _run(command: list[str]) -> "subprocess.CompletedProcess[str]":
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RunFailed(f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr}")
    return done
