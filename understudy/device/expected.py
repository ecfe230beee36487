# SPDX-License-Identifier: MIT
"""What a disk does on average, from its timing: the figures to hold against a data sheet."""

from collections.abc import Callable
from itertools import pairwise

from understudy.device.timing import Curve, Timing


def seek_ms(timing: Timing) -> float:
    """Over uniformly random pairs of places, whose distances x have the density 2 (1 - x)."""
    return _mean(timing.seek, lambda x: 2 * x - x**2, lambda x: x**2 - 2 * x**3 / 3) / 1e6


def sector_ms(timing: Timing) -> float:
    """For a sector to pass under the head, anywhere."""
    return _mean(timing.transfer, lambda x: x, lambda x: x**2 / 2) / 1e9 if timing.transfer else 0.0


def random_read_ms(timing: Timing, sectors: int) -> float:
    """Of a read of that many sectors anywhere on the disk, from the medium, alone."""
    fixed_ms = (timing.intercept_ns + timing.rotation_ns / 2) / 1e6
    return fixed_ms + seek_ms(timing) + transfer_ms(timing, sectors)


def transfer_ms(timing: Timing, sectors: int) -> float:
    """Past the head; the bus begins when the first sector is there."""
    medium_ms = sectors * sector_ms(timing)
    if not timing.buffer:
        return medium_ms
    return max(medium_ms, sector_ms(timing) + sectors * timing.buffer["bus_sector_ps"] / 1e9)


def _mean(
    curve: Curve, weight: Callable[[float], float], moment: Callable[[float], float]
) -> float:
    """Of a curve of lines.  The functions are integrals: of a density, and of x times it."""
    end = curve[-1][0]
    total = 0.0
    for (first, low), (last, high) in pairwise(curve):
        left, right = first / end, last / end
        slope = (high - low) / (right - left)
        level = low - slope * left
        total += level * (weight(right) - weight(left)) + slope * (moment(right) - moment(left))
    return total
