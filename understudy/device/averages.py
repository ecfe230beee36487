# SPDX-License-Identifier: MIT
"""A disk's average times, computed from its timing, to compare with a data sheet."""

from collections.abc import Callable
from itertools import pairwise

from understudy.device.timing import Curve, Timing


def seek_ms(timing: Timing) -> float:
    """Mean seek time over random pairs of places; their distances x have the density 2 (1 - x)."""
    return _mean(timing.seek, lambda x: 2 * x - x**2, lambda x: x**2 - 2 * x**3 / 3) / 1e6


def sector_ms(timing: Timing) -> float:
    """Mean time for a sector to pass under the head."""
    return _mean(timing.transfer, lambda x: x, lambda x: x**2 / 2) / 1e9 if timing.transfer else 0.0


def random_read_ms(timing: Timing, sectors: int) -> float:
    """Mean time of a single read of that many sectors from the medium, anywhere on the disk."""
    fixed_ms = (timing.intercept_ns + timing.rotation_ns / 2) / 1e6
    return fixed_ms + seek_ms(timing) + transfer_ms(timing, sectors)


def transfer_ms(timing: Timing, sectors: int) -> float:
    """Mean transfer time; the bus begins when the first sector has passed under the head."""
    medium_ms = sectors * sector_ms(timing)
    if not timing.buffer:
        return medium_ms
    return max(medium_ms, sector_ms(timing) + sectors * timing.buffer["bus_sector_ps"] / 1e9)


def _mean(
    curve: Curve, weight: Callable[[float], float], moment: Callable[[float], float]
) -> float:
    """The mean of a piecewise linear curve.

    The functions are the integrals of a density, and of x times the density.
    """
    end = curve[-1][0]
    total = 0.0
    for (first, low), (last, high) in pairwise(curve):
        left, right = first / end, last / end
        slope = (high - low) / (right - left)
        level = low - slope * left
        total += level * (weight(right) - weight(left)) + slope * (moment(right) - moment(left))
    return total
