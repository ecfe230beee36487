# SPDX-License-Identifier: MIT
"""Measures the papers' cache (PERFORM 2010, section 3).

In this cache, prefetched sectors are available as soon as the read completes, and hits of all
lengths take the same time.  So the probe reads new sectors, and then, without a pause, a sector
farther on.  A read longer than a segment leaves only its last sectors in the segment.  The first of
the sectors that still hit shows the segment's length.
"""

from collections.abc import Callable
from dataclasses import dataclass

from understudy_devices.profiler.findings.finding import Finding
from understudy_devices.profiler.probes.hits import TOLERANCE_NS, Hits
from understudy_devices.profiler.probes.segments import A_READ, LARGEST, Segments
from understudy_devices.profiler.targets.bench import Bench

TRIES = 3
SAME_COST = 1.1  # longest hit over shortest hit
PASSES = 5  # shortest time to read the prefetch from a platter, in tolerances of a hit
NUMBER_KEY, SIZE_KEY = "cache.segments", "cache.segment_sectors"
AHEAD_KEY, HIT_KEY = "cache.prefetch_sectors", "cache.hit_us"


@dataclass(frozen=True)
class AtOnce:
    """The values of a profile's [cache]."""

    segments: Segments
    segment_sectors: int
    prefetch_sectors: int
    hit_ns: float

    def findings(self) -> list[Finding]:
        """Convert to findings."""
        number, *_ = self.segments.findings()
        confidence = f"most of {TRIES} tries a step, without a pause"
        return [
            Finding(NUMBER_KEY, number.value, number.confidence),
            Finding(SIZE_KEY, self.segment_sectors, confidence),
            Finding(AHEAD_KEY, self.prefetch_sectors, confidence),
            Finding(HIT_KEY, round(self.hit_ns / 1e3, 3), "the same for all lengths"),
        ]


def measure(bench: Bench, hits: Hits, segments: Segments, sector_ns: float | None) -> AtOnce | None:
    """Measure the cache; return None if it is of another kind.

    `sector_ns` is the medium's time per sector; None if transfers take no time.
    """
    if hits.cost_ns(hits.longest) > SAME_COST * hits.cost_ns(1):
        return None
    prober = _Prober(bench, hits)
    ahead = prober.ahead()
    if not ahead or (sector_ns and ahead * sector_ns < PASSES * TOLERANCE_NS):
        return None
    size = prober.size(ahead)
    return AtOnce(segments, size, ahead, hits.cost_ns(1)) if size else None


class _Prober:
    def __init__(self, bench: Bench, hits: Hits) -> None:
        self._bench = bench
        self._hits = hits
        self._most = min(LARGEST, bench.capacity_sectors // 16)

    def ahead(self) -> int:
        """Return how many prefetched sectors are available as soon as a read completes; 0 if there
        are none, or more than the probe tries.
        """
        return _last(lambda distance: self._holds(A_READ, A_READ + distance - 1), self._most)

    def size(self, ahead: int) -> int:
        """Return a segment's number of sectors; 0 if a segment is longer than the longest read."""
        length = A_READ
        while self._holds(length, 0):
            length *= 2
            if length > self._bench.longest_sectors:
                return 0
        end = length + ahead
        return _last(lambda back: self._holds(length, end - back), end)

    def _holds(self, length: int, at: int) -> bool:
        """Return whether the sector `at` sectors from a read's beginning hits in most tries."""
        return sum(self._is_held(length, at) for _ in range(TRIES)) > TRIES / 2

    def _is_held(self, length: int, at: int) -> bool:
        place = self._bench.place(max(length, at + 1))
        self._bench.read(place, length)
        return self._hits.is_hit(self._bench.read(place + at))


def _last(is_so: Callable[[int], bool], most: int) -> int:
    """Return the largest number n such that `is_so` is true from 1 to n; 0 if there is no such
    number up to `most`.
    """
    no = 1
    while is_so(no):
        no *= 2
        if no > most:
            return 0
    yes = no // 2
    while no - yes > 1:
        middle = (yes + no) // 2
        yes, no = (middle, no) if is_so(middle) else (yes, middle)
    return yes
