# SPDX-License-Identifier: MIT
"""Finds the files of a blktrace, one per CPU: NAME.blktrace.0 and so on, perhaps compressed.

The name of one of these files, or NAME alone, stands for all of them.
"""

import re
from collections.abc import Sequence
from pathlib import Path

PER_CPU = re.compile(r"(?P<name>.+)\.blktrace\.(?P<cpu>\d+)(\.(gz|bz2|xz|zst))?")
CPUS_MAX = 8192  # Linux allows no more


def files_of(path: Path) -> list[Path]:
    """Return the files of the trace that the path names, in order of CPUs; for any other path,
    only the path.
    """
    named = PER_CPU.fullmatch(path.name)
    if not named and path.exists():
        return [path]
    name = named["name"] if named else path.name
    cpu_of = {}
    for file in path.parent.glob("*"):
        other = PER_CPU.fullmatch(file.name)
        if other and other["name"] == name:
            cpu_of[file] = int(other["cpu"])
    return sorted(cpu_of, key=cpu_of.__getitem__) or [path]


def missing(paths: Sequence[Path]) -> list[str]:
    """Return the names of files that blktrace must have written beside these files of a trace: it
    writes one for each CPU, from 0.
    """
    named = [match for path in paths if (match := PER_CPU.fullmatch(path.name))]
    cpus = {int(match["cpu"]) for match in named}
    if not named or max(cpus) >= CPUS_MAX:
        return []
    return [f"{named[0]['name']}.blktrace.{cpu}" for cpu in range(max(cpus)) if cpu not in cpus]


def largest(path: Path) -> Path:
    """Return the largest of the files, to recognise the format; an idle CPU's file is empty."""
    return max(files_of(path), key=_bytes)


def _bytes(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
