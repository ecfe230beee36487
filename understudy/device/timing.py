# SPDX-License-Identifier: MIT
"""A disk in the units of core/: whole ns, ps and sectors of the disk that stands in.

A profile speaks of fractions of the disk.  Here they become curves over the sectors of
one virtual disk, for the throttle and the core alike.
"""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import groupby
from operator import itemgetter

Curve = tuple[tuple[int, int], ...]
Sample = tuple[Fraction, Fraction]  # fraction of the disk, value
TURN = 2**64  # core/drive/platter.h counts angles so


@dataclass(frozen=True)
class PlatterZone:
    """What the angles in a zone come from (struct platter_zone in core/drive/platter.h)."""

    slot: int
    angle: int
    skew: int
    cylinder: int
    cylinder_skew: int
    band: int = 0
    band_skew: int = 0
    spare: int = 0
    place: int = 0
    step: int = 0
    surfaces: int = 0


@dataclass(frozen=True)
class Platter:
    """The platters in turn (core/drive/platter.h): 2^-64 turns in a ns, and a zone for each of the
    tracks'."""

    velocity: int
    zones: tuple[PlatterZone, ...]


@dataclass(frozen=True)
class Timing:
    """One disk at one size.

    `seek` has (distance, ns), `transfer` (first sector, ps for each sector; none: transfer
    takes no time of its own), both a line between two points; `tracks` has (first sector
    of a zone, sectors in a track), `switch_ns` is from one to the next; with a `platter` it is
    known when a sector is under the head, and `transfer` is what its slots say; `cache` is
    segments, sectors in each, prefetch; a disk with a `buffer`, which is settings by their names,
    does not look at it.  `queue_depth` is how much of its command queue is in use; 0: it takes one
    request at a time.
    """

    capacity_sectors: int
    intercept_ns: int
    seek: Curve
    transfer: Curve = ()
    rotation_ns: int = 0
    random_phase: bool = False
    tracks: Curve = ()
    switch_ns: int = 0
    platter: Platter | None = None
    cache: tuple[int, int, int] = (0, 0, 0)
    hit_ns: int = 0
    buffer: Mapping[str, int] = field(default_factory=dict)
    queue_depth: int = 0
    queue_age_limit_ns: int = 0

    def settings(self) -> dict[str, int]:
        """What of it is a number, by the names of core/drive/settings.c."""
        segments, segment_sectors, prefetch_sectors = self.cache
        found = {
            "intercept_ns": self.intercept_ns,
            "rotation_ns": self.rotation_ns,
            "rotation_random": self.random_phase,
            "track_switch_ns": self.switch_ns,
            "hit_ns": self.hit_ns,
            "cache_segments": segments,
            "cache_segment_sectors": segment_sectors,
            "cache_prefetch_sectors": prefetch_sectors,
            "queue_depth": self.queue_depth,
            "queue_age_limit_ns": self.queue_age_limit_ns,
        }
        if self.buffer:
            found |= {"buffered": 1, **self.buffer}
        return {name: int(value) for name, value in found.items()}


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
    """A curve that is constant in pieces; of several at one sector the last one counts, and
    neighbours that are alike are one."""
    groups = groupby(dict(firsts).items(), key=itemgetter(1))
    pieces = dict(next(alike) for _, alike in groups)
    lasts = [*(first - 1 for first in list(pieces)[1:]), end]
    return tuple(
        (place, value)
        for (first, value), last in zip(pieces.items(), lasts, strict=True)
        for place in ((first, last) if first != last else (first,))
    )


def value_at(curve: Curve, place: int) -> Fraction:
    """On the line between two points."""
    return _value([(Fraction(at), Fraction(value)) for at, value in curve], Fraction(place))


def _value(samples: Sequence[Sample], at: Fraction) -> Fraction:
    above = bisect_right(samples, at, key=lambda sample: sample[0])
    if above == len(samples):
        return samples[-1][1]
    (x0, y0), (x1, y1) = samples[above - 1], samples[above]
    return y0 + (y1 - y0) * (at - x0) / (x1 - x0)
