# SPDX-License-Identifier: MIT
"""A disk in the units of core/: whole ns, ps, and sectors of the virtual disk.

Profiles use fractions of the disk.  Here the fractions are converted to sectors of one virtual
disk, for both the throttle and the core.
"""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, field
from fractions import Fraction
from itertools import groupby
from operator import itemgetter

Curve = tuple[tuple[int, int], ...]
Sample = tuple[Fraction, Fraction]  # fraction of the disk, value
TURN = 2**64  # one rotation in the units of core/drive/platter.h


@dataclass(frozen=True)
class TrackLevel:
    """A group of tracks: the number of tracks, the sum of their sectors, and the skew after the
    last track (struct track_level in core/drive/tracks.h)."""

    tracks: int = 0
    sectors: int = 0
    skew: int = 0


NO_LEVEL = TrackLevel()


@dataclass(frozen=True)
class TrackZone:
    """A recording zone (struct track_zone in core/drive/tracks.h)."""

    first: int
    sectors: int
    slot: int = 0
    angle: int = 0
    skew: int = 0
    cylinder: TrackLevel = NO_LEVEL
    band: TrackLevel = NO_LEVEL
    before: int = 0
    surfaces: int = 0


def flat(zone: TrackZone) -> list[int]:
    """Return the numbers of the zone and of its levels as one list, in the order of the fields."""
    numbers: list[int] = []
    for value in astuple(zone):
        numbers += value if isinstance(value, tuple) else (value,)
    return numbers


@dataclass(frozen=True)
class Tracks:
    """The layout (struct tracks in core/drive/tracks.h); `slips` are pairs of a sector and the
    total number of slots skipped before that sector."""

    zones: tuple[TrackZone, ...] = ()
    slips: tuple[tuple[int, int], ...] = ()
    velocity: int = 0
    step: int = 0


NO_TRACKS = Tracks()


@dataclass(frozen=True)
class Timing:
    """One disk at one size.

    `seek` has points (distance, ns), and `transfer` has points (first sector, ps per sector); both
    curves are linear between points.  If `transfer` has no points, the transfer adds no
    time.  `switch_ns` is the time from one of the `tracks` to the next track.  If the tracks
    have a velocity, the model knows when each sector is under the head, and `transfer` is computed
    from the tracks' slots.  `cache` is the number of segments, the sectors in each segment, and the
    sectors of a prefetch; a disk with a `buffer` (settings by name) ignores `cache`.  `queue_depth`
    is the number of entries of the command queue in use; 0 means one request at a time.
    """

    capacity_sectors: int
    intercept_ns: int
    seek: Curve
    transfer: Curve = ()
    rotation_ns: int = 0
    random_phase: bool = False
    tracks: Tracks = NO_TRACKS
    switch_ns: int = 0
    cache: tuple[int, int, int] = (0, 0, 0)
    hit_ns: int = 0
    buffer: Mapping[str, int] = field(default_factory=dict)
    queue_depth: int = 0
    queue_age_limit_ns: int = 0

    def settings(self) -> dict[str, int]:
        """Return the values that are single numbers, by their names in core/drive/settings.c."""
        segments, segment_sectors, prefetch_sectors = self.cache
        values = {
            "intercept_ns": self.intercept_ns,
            "rotation_ns": self.rotation_ns,
            "rotation_random": self.random_phase,
            "track_switch_ns": self.switch_ns,
            "tracks_step": self.tracks.step,
            "tracks_velocity": self.tracks.velocity,
            "hit_ns": self.hit_ns,
            "cache_segments": segments,
            "cache_segment_sectors": segment_sectors,
            "cache_prefetch_sectors": prefetch_sectors,
            "queue_depth": self.queue_depth,
            "queue_age_limit_ns": self.queue_age_limit_ns,
        }
        if self.buffer:
            values |= {"buffered": 1, **self.buffer}
        return {name: int(value) for name, value in values.items()}


def lines(samples: Sequence[Sample], end: int) -> Curve:
    """Return the piecewise linear curve as points at whole sectors, those nearest to the samples.

    A point has the curve's value at its sector, which may differ from the sample's value.  Samples
    with the same nearest sector (on a small disk) become one point.
    """
    places = sorted({round(at * end) for at, _ in samples})
    return tuple((place, round(_value(samples, Fraction(place, end)))) for place in places)


def zones(samples: Sequence[Sample], end: int) -> Curve:
    """Return a piecewise constant curve.

    Each value holds from the sector nearest to its fraction up to the next zone.
    """
    return steps([(round(at * end), round(value)) for at, value in samples], end)


def steps(firsts: Sequence[tuple[int, int]], end: int) -> Curve:
    """Return a piecewise constant curve from first sectors and values.

    If several pieces begin at the same sector, the last piece counts.  Adjacent pieces with equal
    values are joined.
    """
    groups = groupby(dict(firsts).items(), key=itemgetter(1))
    pieces = dict(next(alike) for _, alike in groups)
    lasts = [*(first - 1 for first in list(pieces)[1:]), end]
    return tuple(
        (place, value)
        for (first, value), last in zip(pieces.items(), lasts, strict=True)
        for place in ((first, last) if first != last else (first,))
    )


def value_at(curve: Curve, place: int) -> Fraction:
    """Return the curve's value at a sector or distance, interpolated linearly."""
    return _value([(Fraction(at), Fraction(value)) for at, value in curve], Fraction(place))


def _value(samples: Sequence[Sample], at: Fraction) -> Fraction:
    above = bisect_right(samples, at, key=lambda sample: sample[0])
    if above == len(samples):
        return samples[-1][1]
    (x0, y0), (x1, y1) = samples[above - 1], samples[above]
    return y0 + (y1 - y0) * (at - x0) / (x1 - x0)
