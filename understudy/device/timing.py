# SPDX-License-Identifier: MIT
"""A disk in the units of core/: whole ns, ps and sectors of the disk that stands in.

A profile speaks of fractions of the disk.  Here they become curves over the sectors of
one virtual disk, for the throttle and the core alike.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

Curve = tuple[tuple[int, int], ...]
Sample = tuple[Fraction, Fraction]  # fraction of the disk, value


@dataclass(frozen=True)
class Timing:
    """One disk at one size.

    `seek` has (distance, ns), `transfer` (first sector, ps for each sector; none: transfer
    takes no time of its own), both a line between two points; `cache` is segments,
    sectors in each, prefetch.
    """

    capacity_sectors: int
    intercept_ns: int
    seek: Curve
    transfer: Curve = ()
    rotation_ns: int = 0
    random_phase: bool = False
    cache: tuple[int, int, int] = (0, 0, 0)
    hit_ns: int = 0


def lines(samples: Sequence[Sample], end: int) -> Curve:
    """The lines between the samples, taken at the sectors that are nearest to them.

    Taken there, not moved there: each point is on the profile's curve, and samples
    that fall on one sector of a small disk are one point.
    """
    places = sorted({round(at * end) for at, _ in samples})
    return tuple((place, round(_value(samples, Fraction(place, end)))) for place in places)


def zones(samples: Sequence[Sample], end: int) -> Curve:
    """Each value from the sector nearest to its fraction up to the next zone."""
    return steps([(round(at * end), round(value)) for at, value in samples], end)


def steps(firsts: Sequence[tuple[int, int]], end: int) -> Curve:
    """A curve that is constant in pieces; of several at one sector the last one counts."""
    pieces = dict(firsts)
    lasts = [*(first - 1 for first in list(pieces)[1:]), end]
    return tuple(
        (place, value)
        for (first, value), last in zip(pieces.items(), lasts, strict=True)
        for place in ((first, last) if first != last else (first,))
    )


def _value(samples: Sequence[Sample], at: Fraction) -> Fraction:
    above = bisect_right(samples, at, key=lambda sample: sample[0])
    if above == len(samples):
        return samples[-1][1]
    (x0, y0), (x1, y1) = samples[above - 1], samples[above]
    return y0 + (y1 - y0) * (at - x0) / (x1 - x0)
