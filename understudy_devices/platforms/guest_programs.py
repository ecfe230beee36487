# SPDX-License-Identifier: MIT
"""The guest's static programs: each is guest/NAME.c and the source files that belong to its
headers.

A program that includes reads.h plays a workload. There is no other list of the programs that play a
workload.
"""

import re
from functools import cache

from understudy_devices.base.errors import UserError
from understudy_devices.base.paths import ROOT
from understudy_devices.base.programs import Program, included

IN_EVERY_GUEST = ("restore", "wire", "drain", "port")
PLAYS = "guest/reads.h"
LINKED = re.compile(r"(guest|core)/\w+\.c")
A_PROGRAM = re.compile(rb"^int main\(", re.MULTILINE)


@cache
def program(name: str) -> Program:
    """Return the program of that name; UserError if there is none."""
    source = f"guest/{name}.c"
    if not (ROOT / source).is_file():
        raise UserError(f"no program {name} for the guest: {source} is missing")
    return Program(name, linked(source))


def linked(source: str) -> tuple[str, ...]:
    """Return the source, and all sources of guest and core whose headers it includes, directly or
    not.
    """
    own = {source: None}
    waiting = [source]
    while waiting:
        beside = [f"{name.removesuffix('.h')}.c" for name in included([waiting.pop(0)])]
        new = [name for name in beside if name not in own and _is_linked(name)]
        own |= dict.fromkeys(new)
        waiting += new
    return tuple(own)


def _is_linked(name: str) -> bool:
    there = LINKED.fullmatch(name) and (ROOT / name).is_file()
    return bool(there) and not _is_program(name)


def _is_program(name: str) -> bool:
    return bool(A_PROGRAM.search((ROOT / name).read_bytes()))


@cache
def of_every_guest() -> tuple[Program, ...]:
    """Return the programs that every machine needs before its task is known."""
    names = sorted(file.stem for file in (ROOT / "guest").glob("*.c"))
    play = [name for name in names if _plays(f"guest/{name}.c")]
    return tuple(program(name) for name in (*play, *IN_EVERY_GUEST))


def _plays(source: str) -> bool:
    return PLAYS in included([source]) and _is_program(source)
