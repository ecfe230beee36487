# SPDX-License-Identifier: MIT
"""Compile small C programs: those of the guest (static) and the host's mkfiles.

A program is compiled once for a given content of its sources and kept in the cache.
"""

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from understudy.base.cache import cached_folder, digest
from understudy.base.errors import RunFailed, UserError
from understudy.base.paths import ROOT

CFLAGS = ("-O2", "-std=gnu11", "-Wall", "-Wextra", "-Werror")


@dataclass(frozen=True)
class Program:
    """One executable: `depends` are compiled from nothing but make it stale."""

    name: str
    sources: tuple[str, ...]
    depends: tuple[str, ...] = ()
    flags: tuple[str, ...] = ("-static",)
    libraries: tuple[str, ...] = ()
    package: str = "gcc libc6-dev"


def compiled(program: Program) -> Path:
    """Where the program is in the cache, compiled first if its sources are new."""
    folder = cached_folder(
        f"programs/{program.name}-{_content(program)}",
        lambda scratch: _compile(program, scratch / program.name),
    )
    return folder / program.name


def _content(program: Program) -> str:
    options = (compiler_version(), *CFLAGS, *program.flags, *program.libraries)
    names = (*program.sources, *program.depends)
    return digest([part.encode() for part in (*options, *names)] + [_source(n) for n in names])


def _source(name: str) -> bytes:
    try:
        return (ROOT / name).read_bytes()
    except OSError as error:
        raise RunFailed(f"{name}: {error.strerror} (errno {error.errno})") from error


@cache
def compiler_version() -> str:
    """Of gcc; it goes into the name of everything that is compiled."""
    return _run(("gcc", "-dumpfullversion"), "gcc libc6-dev").stdout.strip()


def _compile(program: Program, target: Path) -> None:
    command = ("gcc", *CFLAGS, *program.flags, "-o", str(target), *program.sources)
    done = _run((*command, *program.libraries), program.package)
    if done.returncode:
        raise RunFailed(
            f"{program.name} does not compile (its packages: apt-get install {program.package}):\n"
            + done.stderr.rstrip()
        )


def _run(command: Sequence[str], package: str) -> "subprocess.CompletedProcess[str]":
    try:
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    except FileNotFoundError as error:
        raise UserError(f"no {command[0]} here: apt-get install {package}") from error
