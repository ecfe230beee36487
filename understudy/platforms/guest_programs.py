# SPDX-License-Identifier: MIT
"""The programs that run in the guest, static: each is guest/NAME.c and what its headers are of.

One that plays a workload includes reads.h; nothing else says so.
"""

import re
from functools import cache

from understudy.base.errors import UserError
from understudy.base.paths import ROOT
from understudy.base.programs import Program, included

IN_EVERY_GUEST = ("restore", "wire", "drain", "port")
PLAYS = "guest/reads.h"
LINKED = re.compile(r"(guest|core)/\w+\.c")
A_PROGRAM = re.compile(rb"^int main\(", re.MULTILINE)


@cache
def program(name: str) -> Program:
    """The program of that name; UserError if there is none."""
    source = f"guest/{name}.c"
    if not (ROOT / source).is_file():
        raise UserError(f"no program {name} for the guest: {source} is missing")
    return Program(name, linked(source))


def linked(source: str) -> tuple[str, ...]:
    """A source, and those of the guest and the core of which it includes the header, and they."""
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
    """Those that a machine has before it knows what it is for."""
    names = sorted(file.stem for file in (ROOT / "guest").glob("*.c"))
    play = [name for name in names if _plays(f"guest/{name}.c")]
    return tuple(program(name) for name in (*play, *IN_EVERY_GUEST))


def _plays(source: str) -> bool:
    return PLAYS in included([source]) and _is_program(source)
