# SPDX-License-Identifier: MIT
"""Measures the seek curve, if each sector's angle is known.

If angles are known, rotational latency is known too.  So a read after a seek shows whether the arm
arrived before the sector passed, or missed it and needed another rotation.  For the next read, a
sector is chosen whose angle bisects the remaining range of seek times (minimum time between request
completions, Worthington and others 1995, section 3.3.1).  Each read is at another location, since a
seek over a given number of tracks takes the same time everywhere.

Angles on a track are only known in steps of a sector.  So the probe considers several pairs of
tracks, and uses the pair on which a sector passes soonest after the time to be tested.
"""

import math
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy.interpolate import PchipInterpolator

from understudy_devices.profiler.findings.statistics import ascending, median
from understudy_devices.profiler.layout.arm import Arm
from understudy_devices.profiler.layout.layout import Layout, Zone
from understudy_devices.profiler.probes.hits import Hits
from understudy_devices.profiler.probes.platters import MANY
from understudy_devices.profiler.probes.seek import FAR, LAST, NEAR, NEAR_END, Seek
from understudy_devices.profiler.targets.bench import Bench

TRIES = 16  # pairs of tracks from which one pair is chosen for a read
HALVINGS = 14
REPEATS = 3
READS_MAX = 4 * HALVINGS  # for one sample: some reads hit, or complete late
OFF_NS = 500.0  # largest distance between a line's middle and the curve
SPLITS = 4  # of a line: the profile has room for 1,024 points
LATE = 0.02  # of a rotation
CHECKED = 100  # reads
LEAST_RIGHT = 0.9  # the share that must complete in the predicted rotation
HOW = (
    f"{REPEATS} times {HALVINGS} halvings a distance in tracks, each at another place, "
    "and a cubic through them"
)

Pair = Callable[[], tuple[int, int]]  # first sectors of two tracks


def measure(
    bench: Bench, layout: Layout, period_ns: float, hits: Hits | None, reach_sectors: int
) -> Seek | None:
    """Measure the seek curve; `reach_sectors` is the longest prefetch.

    Return None if too many reads hit the cache, or if the curve does not predict other reads,
    because the distance in tracks does not determine the seek time.
    """
    prober = Prober(bench, layout, period_ns, hits)
    arm = Arm(layout)
    near = arm.surfaces * (1 + 2 * reach_sectors / min(zone.sectors for zone in layout.zones))
    tried = [
        (tracks, prober.reach_ns(_over(bench, arm, tracks, tracks < near)))
        for tracks in _distances(arm.tracks)
        for _ in range(REPEATS)
    ]
    samples = [(tracks, ns) for tracks, ns in tried if math.isfinite(ns)]
    if len(samples) < len(tried) / 2:
        return None
    at, ns = _curve(samples, arm.tracks)
    if not _foresees(bench, prober, arm, at, ns, near):
        return None
    apart = [abs(value - np.interp(tracks, at, ns)) for tracks, value in samples]
    seen = [(tracks / arm.tracks, value) for tracks, value in samples]
    at, ns = _rounded_off(at, ns)
    shares = tuple(tracks / arm.tracks for tracks in at)
    return Seek(shares, tuple(ns), median(apart), HOW, seen, "tracks")


def _rounded_off(at: Sequence[float], ns: Sequence[float]) -> tuple[list[float], list[float]]:
    """Return the curve with additional points where straight lines between samples are too far from
    a monotone cubic through the samples, over the square root of the distance.
    """
    curve = PchipInterpolator(np.sqrt(at), ns)
    points = [at[0]]
    for low, high in pairwise(at):
        points += _between(lambda tracks: float(curve(math.sqrt(tracks))), low, high, SPLITS)
    return points, [float(curve(math.sqrt(tracks))) for tracks in points]


def _between(curve: Callable[[float], float], low: float, high: float, splits: int) -> list[float]:
    """Return points after `low` and up to `high`, close enough that straight lines between them are
    near the curve.
    """
    middle = round((low + high) / 2)
    off_ns = abs(curve(middle) - (curve(low) + curve(high)) / 2)
    if not splits or high - low < 2 or off_ns < OFF_NS:
        return [high]
    return [
        *_between(curve, low, middle, splits - 1),
        *_between(curve, middle, high, splits - 1),
    ]


def _curve(samples: Sequence[tuple[int, float]], tracks: float) -> tuple[list[float], list[float]]:
    """Return distances, from 0 to the number of all tracks, and their seek times, ns."""
    at = sorted({distance for distance, _ in samples})
    ns = ascending([median([ns for there, ns in samples if there == each]) for each in at])
    last_ns = ns[-1] + (ns[-1] - ns[-4]) / (at[-1] - at[-4]) * (tracks - at[-1])
    if at[0] == 0:
        return [*at, tracks], [*ns, last_ns]
    return [0, *at, tracks], [ns[0], *ns, last_ns]


def _foresees(
    bench: Bench,
    prober: "Prober",
    arm: Arm,
    at: Sequence[float],
    ns: Sequence[float],
    near: float,
) -> bool:
    """Return whether the curve predicts in which rotation random reads complete."""
    right = []
    for _ in range(CHECKED):
        tracks = int(bench.random.uniform(0, LAST) * arm.tracks)
        pair = _over(bench, arm, tracks, tracks < near)
        made_it = prober.makes_it(pair, float(np.interp(tracks, at, ns)))
        right += [made_it] if made_it is not None else []
    return sum(right) >= LEAST_RIGHT * len(right)


def has_surfaces(bench: Bench, layout: Layout, period_ns: float, hits: Hits | None) -> bool:
    """Return whether the layout's "cylinders" are really tracks on one surface each.

    Then the next "cylinder" is on another surface and runs back: from this cylinder's first track,
    the arm reaches the last track of the next cylinder sooner than its first track.  Each read is
    at another cylinder, since a single area might soon be in the drive's cache.
    """
    zones = [(zone, _followed(zone, layout.end(i))) for i, zone in enumerate(layout.zones)]
    zone, followed = max(zones, key=lambda each: each[0].cylinder * len(each[1]))
    if not followed:
        return False

    def back_from(track: int) -> Pair:
        def pair() -> tuple[int, int]:
            first = bench.random.choice(followed) * zone.cylinder
            return zone.track(first + zone.cylinder + track), zone.track(first)

        return pair

    prober = Prober(bench, layout, period_ns, hits)
    far_ns = prober.middle_ns(back_from(0))
    above_ns = prober.middle_ns(back_from(zone.cylinder - 1))
    return math.isfinite(far_ns) and far_ns - above_ns > LATE * period_ns


def _followed(zone: Zone, end: int) -> list[int]:
    """Return the cylinders that may be tracks on one surface, and that have a next cylinder in the
    same band.
    """
    if not zone.has_bands and zone.cylinder <= MANY:
        return []
    number, in_band = (end - zone.first) // zone.cylinder_sectors, zone.band // zone.cylinder
    return [each for each in range(number - 1) if (each + 1) % in_band]


def _distances(tracks: float) -> list[int]:
    """Return the distances of the samples, in tracks, beginning with 0; short distances are
    denser.
    """
    near = np.geomspace(1, NEAR_END * tracks, NEAR, endpoint=False)
    far = np.linspace(NEAR_END**0.5, LAST**0.5, FAR) ** 2 * tracks
    return sorted({0, *(max(1, round(each)) for each in (*near, *far))})


def _over(bench: Bench, arm: Arm, tracks: int, is_near: bool) -> Pair:
    """Return a function that selects pairs of tracks `tracks` apart, in either direction.

    Near pairs only go backwards, since the drive prefetches forwards.
    """

    def pair() -> tuple[int, int]:
        low = bench.random.uniform(0, arm.tracks - tracks - 1)
        one, other = (arm.track(place, bench.random) for place in (low, low + tracks))
        back = max(one, other), min(one, other)
        return back if is_near or bench.random.random() < 0.5 else back[::-1]

    return pair


class Prober:
    """Measures seek times by bisection."""

    def __init__(self, bench: Bench, layout: Layout, period_ns: float, hits: Hits | None) -> None:
        self._bench = bench
        self._layout = layout
        self._period_ns = period_ns
        self._hits = hits
        self._bus_turns = hits.bus_sector_ns / period_ns if hits else 0.0

    def middle_ns(self, pair: Pair) -> float:
        """Return the median of REPEATS measured seek times, ns."""
        return median([self.reach_ns(pair) for _ in range(REPEATS)])

    def reach_ns(self, pair: Pair) -> float:
        """Return the seek time between the two tracks of a pair, including the overhead of a read,
        ns; infinite if all reads were hits.
        """
        low_ns, high_ns, halvings = 0.0, float("inf"), 0
        for _ in range(READS_MAX):
            middle_ns = (low_ns + high_ns) / 2 if halvings else 0.0
            latest_ns = self._made_it_by_ns(pair, middle_ns)
            if latest_ns is None:
                continue
            low_ns = max(low_ns, latest_ns - self._period_ns)
            high_ns = min(high_ns, latest_ns)
            halvings += 1
            if halvings == HALVINGS:
                break
        return max((max(low_ns, high_ns - self._period_ns) + high_ns) / 2, 1.0)

    def makes_it(self, pair: Pair, reach_ns: float) -> bool | None:
        """Return whether a read confirms the seek time `reach_ns`; None if the read shows
        nothing.
        """
        after_ns = self._bench.random.uniform(0, self._period_ns)
        latest_ns = self._made_it_by_ns(pair, after_ns)
        if latest_ns is None:
            return None
        return latest_ns - self._period_ns <= reach_ns <= latest_ns

    def _made_it_by_ns(self, pair: Pair, after_ns: float) -> float | None:
        """Read a sector that passes `after_ns` after the first read; return the latest time at
        which the arm can have arrived, ns.

        Return None after a hit or a late completion.
        """
        after = after_ns / self._period_ns
        tries = [self._read_after(*pair(), after) for _ in range(TRIES)]
        read = min(tries, key=lambda read: (read.begins - after) % 1)
        first_ns = self._bench.read(read.first)
        service_ns = self._bench.read(read.second)
        if self._hits and (self._hits.is_hit(first_ns) or self._hits.is_hit(service_ns)):
            return None
        turns = service_ns / self._period_ns - read.ends
        if abs(turns - round(turns)) > LATE:
            return None
        return (read.begins + round(turns)) * self._period_ns

    def _read_after(self, one: int, other: int, after: float) -> "Reads":
        """Return a sector of one track, and a sector of the other track that passes at least
        `after` rotations later.
        """
        zones = self._layout.zone(one), self._layout.zone(other)
        if one == other:
            first, second = self._behind(zones[0], one, after)
        else:
            first = one + self._bench.random.randrange(max(1, zones[0].sectors - 1))
            second = _passing(zones[1], other, zones[0].end(first, self._bus_turns) + after)
        first_end, end = (
            zone.end(sector, self._bus_turns)
            for zone, sector in zip(zones, (first, second), strict=True)
        )
        ends = (end - first_end) % 1
        return Reads(first, second, ends, ends - zones[1].lead(self._bus_turns))

    def _behind(self, zone: Zone, track: int, after: float) -> tuple[int, int]:
        """Return two sectors of one track; the second sector is before the first, since sectors
        after the first may be prefetched.
        """
        apart = min(int((1 - after % 1) * zone.slots), zone.sectors - 1)
        begin = track + self._bench.random.randrange(apart, zone.sectors)
        return begin, begin - apart


class Reads(NamedTuple):
    """Two sectors to read in sequence, and when the second sector ends and begins to pass, in
    rotations after the end of the first.
    """

    first: int
    second: int
    ends: float
    begins: float


def _passing(zone: Zone, track: int, turn: float) -> int:
    """Return the first sector of a track that passes after angle `turn`."""
    until = (turn - zone.turn(track)) % 1 * zone.slots
    return track + min(int(until) + 1, zone.sectors - 1)
