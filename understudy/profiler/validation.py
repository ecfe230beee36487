# SPDX-License-Identifier: MIT
"""SIGCSE 2006's own check (section 2.2): 1,000 random seeks and 1,000 random transfers.

A seek begins and ends at a random block; it is timed by reading the block where it ends, so
there is a wait for the platter in it.  A transfer is of 512 bytes to 16 MB at a random block, and
the head is put there before it is timed.  What counts is the mean.  A target that takes no
requests as long as that gets shorter ones.
"""

import random
from collections.abc import Iterator

import numpy as np

from understudy.profiler.demerit import Check, both
from understudy.profiler.target import Bench

REQUESTS = 1000
LARGEST = 2**15  # sectors: 16 MB
SEEK, TRANSFER = "random seek", "random transfer"

Timed = tuple[int, int, int]  # where the head is put, then what is timed: sector and sectors


def compare(target: Bench, model: Bench, seed: int) -> list[Check]:
    """Both on both."""
    return [_compared(name, target, model, seed) for name in WORKLOADS]


def _compared(name: str, target: Bench, model: Bench, seed: int) -> Check:
    draw = random.Random(f"validation {name} {seed}")
    times = []
    longest = min(LARGEST, target.longest_sectors)
    for begin, sector, sectors in WORKLOADS[name](draw, target.capacity_sectors, longest):
        both(("read", begin, 1), target, model)
        times.append(both(("read", sector, sectors), target, model))
    one, other = np.array(times).T / 1e6
    return Check(name, one, other)


def _seeks(draw: random.Random, capacity_sectors: int, longest: int) -> Iterator[Timed]:
    for _ in range(REQUESTS):
        yield draw.randrange(capacity_sectors), draw.randrange(capacity_sectors), 1


def _transfers(draw: random.Random, capacity_sectors: int, longest: int) -> Iterator[Timed]:
    """The block before is read first: it brings the head there, and what is timed is new."""
    for _ in range(REQUESTS):
        sectors = draw.randint(1, longest)
        sector = draw.randint(1, capacity_sectors - sectors)
        yield sector - 1, sector, sectors


WORKLOADS = {SEEK: _seeks, TRANSFER: _transfers}
