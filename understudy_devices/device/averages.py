# SPDX-License-Identifier: MIT
"""A disk's average times, computed from its timing, to compare with a data sheet."""

from collections.abc import Callable
from itertools import pairwise

from understudy_devices.device.timing import Curve, Timing


def seek_ms(timing: Timing) -> float:
    """Return the mean seek time between two random sectors, in ms.

    The seek distance x, as a fraction of the disk, has the probability density 2 (1 - x).
    """
    return _mean(timing.seek, lambda x: 2 * x - x**2, lambda x: x**2 - 2 * x**3 / 3) / 1e6


def sector_ms(timing: Timing) -> float:
    """Return the mean time that a sector needs to pass under the head, in ms."""
    return _mean(timing.transfer, lambda x: x, lambda x: x**2 / 2) / 1e9 if timing.transfer else 0.0


def random_read_ms(timing: Timing, sectors: int) -> float:
    """Return the mean time in ms of a read of `sectors` sectors from the medium, at a random
    location."""
    fixed_ms = (timing.intercept_ns + timing.rotation_ns / 2) / 1e6
    return fixed_ms + seek_ms(timing) + transfer_ms(timing, sectors)


def transfer_ms(timing: Timing, sectors: int) -> float:
    """Return the mean transfer time in ms.  With a buffer, the transfer over the bus overlaps the
    reading, from the first sector on."""
    medium_ms = sectors * sector_ms(timing)
    if not timing.buffer:
        return medium_ms
    return max(medium_ms, sector_ms(timing) + sectors * timing.buffer["bus_sector_ps"] / 1e9)


def _mean(
    curve: Curve, weight: Callable[[float], float], moment: Callable[[float], float]
) -> float:
    """Return the mean of a piecewise linear curve, weighted by a density over x from 0 to 1.

    `weight` is the integral of the density, and `moment` is the integral of x times the density.
    """
    end = curve[-1][0]
    total = 0.0
    for (first, low), (last, high) in pairwise(curve):
        left, right = first / end, last / end
        slope = (high - low) / (right - left)
        level = low - slope * left
        total += level * (weight(right) - weight(left)) + slope * (moment(right) - moment(left))
    return total
