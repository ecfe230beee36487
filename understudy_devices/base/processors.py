# SPDX-License-Identifier: MIT
"""Which processors of this machine share a cache, and pinning a process to them.

A process that moves to a processor with another cache has to fill that cache anew, so VMs are
pinned to processors that share one (Jones 2010, section 5.3).
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

SYSFS = Path("/sys/devices/system/cpu")


def parsed(text: str) -> frozenset[int]:
    """Return the numbers of a list as the kernel writes it, such as 0-3,8."""
    ranges = (part.partition("-") for part in text.strip().split(",") if part)
    return frozenset(
        number for low, _, high in ranges for number in range(int(low), int(high or low) + 1)
    )


def groups(cores: int, sysfs: Path = SYSFS) -> list[frozenset[int]]:
    """Return the smallest sets of this process's processors that share a cache and are on at least
    so many cores, in ascending order.  Each processor is in one set.

    All of the process's processors in one set, if no cache is shared by so many.  What is left of a
    larger set beside smaller ones, on fewer cores, joins one of them.
    """
    allowed = frozenset(os.sched_getaffinity(0))
    found = {number: _smallest(number, cores, allowed, sysfs) for number in allowed}
    if not all(found.values()):
        return [allowed]
    sets: list[frozenset[int]] = []
    for each in sorted(set(found.values()), key=lambda one: (len(one), sorted(one))):
        rest = each.difference(*sets)
        inside = [index for index, one in enumerate(sets) if one <= each]
        if rest and inside and _cores(rest, sysfs) < cores:
            sets[inside[-1]] |= rest
        elif rest:
            sets.append(rest)
    return sorted(sets, key=sorted)


@contextmanager
def pinned(processors: frozenset[int]) -> Iterator[None]:
    """Pin this thread, and the processes that it starts meanwhile, to processors."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, processors)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def _smallest(number: int, cores: int, allowed: frozenset[int], sysfs: Path) -> frozenset[int]:
    """Return the smallest set with a processor; none if there is none."""
    folder = sysfs / f"cpu{number}"
    shared = {
        parsed(path.read_text()) & allowed for path in folder.glob("cache/index*/shared_cpu_list")
    }
    large = [each for each in shared if _cores(each, sysfs) >= cores]
    return min(large, key=len, default=frozenset())


def _cores(processors: frozenset[int], sysfs: Path) -> int:
    """Return on how many cores processors are; several of one core share its units."""
    siblings = set()
    for number in processors:
        with suppress(FileNotFoundError):
            path = sysfs / f"cpu{number}/topology/thread_siblings_list"
            siblings.add(parsed(path.read_text()))
    return len(siblings)
