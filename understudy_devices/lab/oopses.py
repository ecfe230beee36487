# SPDX-License-Identifier: MIT
"""Finds in a console's log what Linux prints when its kernel fails: oopses, warnings, panics."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

BEGIN = re.compile(
    r"(?:BUG: |kernel BUG at |Oops: |Unable to handle kernel |general protection fault"
    r"|divide error: |WARNING: CPU: |Kernel panic - not syncing|INFO: task .* blocked for more than"
    r"|watchdog: BUG: |rcu: INFO: .* detected .*stall)"
)
END = re.compile(r"---\[ end (?:trace|Kernel panic)")
STAMP = re.compile(r"\[ *[0-9]+\.[0-9]{6}\](?:\[[^]]*\])? ?")
"""How each line of the kernel begins; a program's line does not."""
PLACE = re.compile(r"RIP: [0-9a-f]+:(\S+?)/0x[0-9a-f]+( \[\w+\])?")
LINES_MAX = 200
CHARACTERS_MAX = 1000
"""Where the search in a line ends: a guest may print a line on which it would take hours."""


@dataclass(frozen=True)
class Oops:
    """title: the first line, without its time stamp, and where the kernel was.  lines: all."""

    title: str
    lines: list[str]


def of(text: str) -> list[Oops]:
    """Return what a log without colours has, oldest first."""
    return [Oops(_title(block), block) for block in _blocks(text.splitlines())]


def _blocks(lines: list[str]) -> Iterator[list[str]]:
    block: list[str] = []
    for line in lines:
        begin = line[:CHARACTERS_MAX]
        stamp = STAMP.match(begin)
        words = begin[stamp.end() :] if stamp else ""
        if block and stamp and len(block) < LINES_MAX:
            block.append(line)
        elif block:
            yield block
            block = []
        if not block and stamp and BEGIN.match(words):
            block = [line]
        if block and END.search(words):
            yield block
            block = []
    if block:
        yield block


def _title(block: list[str]) -> str:
    lines = [line[:CHARACTERS_MAX] for line in block]
    first = STAMP.sub("", lines[0], count=1).strip()
    match = next(filter(None, map(PLACE.search, lines)), None)
    return f"{first} in {match[1]}{match[2] or ''}" if match else first
