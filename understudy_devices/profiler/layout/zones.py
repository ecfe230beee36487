# SPDX-License-Identifier: MIT
"""Finds where zones begin: measures the time at some sectors, then bisects where times differ."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

FINEST = 512  # a zone's beginning is found to 1/512 of the disk
NARROWEST = 1.5 / FINEST
MARGIN = 1 / 256  # of the disk, at its ends

Look = Callable[[float], float]  # a sector's time, ns, at a fraction of the disk


@dataclass(frozen=True)
class Zone:
    """A zone that begins at a fraction of the disk."""

    at: float
    sector_ns: float


def find(look: Look, places: int, same: float, narrowest: float = NARROWEST) -> list[Zone]:
    """Return all zones, from the outermost.

    Two zones count as one if their times differ by less than the share `same`.  A zone narrower
    than `narrowest` is left out.
    """
    seen = [(at, look(at)) for at in map(float, np.linspace(MARGIN, 1 - MARGIN, places))]
    zones = [Zone(0.0, seen[0][1])]
    for (low, before), (high, after) in pairwise(seen):
        zones += _between(look, same, (low, before), (high, after))
    return _merged(zones, same, narrowest)


def _between(
    look: Look, same: float, lower: tuple[float, float], upper: tuple[float, float]
) -> list[Zone]:
    """Return the zones that begin between two measured locations on the disk."""
    (low, before), (high, after) = lower, upper
    if _same(before, after, same):
        return []
    middle = (low + high) / 2
    if high - low < 1 / FINEST:
        return [Zone(middle, after)]
    here = (middle, look(middle))
    return _between(look, same, lower, here) + _between(look, same, here, upper)


def _same(one_ns: float, other_ns: float, same: float) -> bool:
    return abs(one_ns - other_ns) < same * one_ns


def _merged(zones: list[Zone], same: float, narrowest: float) -> list[Zone]:
    """Join zones with the same time; remove narrow zones, from samples that were in two zones."""
    wide = zones[:1]
    for zone, after in pairwise([*zones[1:], Zone(1.0, 0.0)]):
        is_real = after.at - zone.at >= narrowest
        if is_real and not _same(wide[-1].sector_ns, zone.sector_ns, same):
            wide.append(zone)
    return wide
