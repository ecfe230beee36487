# SPDX-License-Identifier: MIT
"""Measures the papers' cache (PERFORM 2010, section 3).

There, prefetched sectors are in the cache when the read completes, and a hit has the same cost at
any length.  The probe can see both without a pause: it reads sectors that it has not used before,
and immediately a sector farther on.  A read longer than a segment leaves its last sectors in the
segment.  The first sector that is still in the cache shows the segment's length.
"""

from collections.abc import Callable
from dataclasses import dataclass

from understudy.profiler.findings.finding import Finding
from understudy.profiler.probes.hits import TOLERANCE_NS, Hits
from understudy.profiler.probes.segments import A_READ, LARGEST, Segments
from understudy.profiler.targets.bench import Bench

TRIES = 3
SAME_COST = 1.1  # longest hit over shortest hit
PASSES = 5  # times the tolerance of a hit: a platter would not have rotated so far
NUMBER_KEY, SIZE_KEY = "cache.segments", "cache.segment_sectors"
AHEAD_KEY, HIT_KEY = "cache.prefetch_sectors", "cache.hit_us"


@dataclass(frozen=True)
class AtOnce:
    """A profile's [cache]."""

    segments: Segments
    segment_sectors: int
    prefetch_sectors: int
    hit_ns: float

    def findings(self) -> list[Finding]:
        """Convert to findings."""
        number, *_ = self.segments.findings()
        said = f"most of {TRIES} tries a step, without a pause"
        return [
            Finding(NUMBER_KEY, number.value, number.confidence),
            Finding(SIZE_KEY, self.segment_sectors, said),
            Finding(AHEAD_KEY, self.prefetch_sectors, said),
            Finding(HIT_KEY, round(self.hit_ns / 1e3, 3), "the same for all lengths"),
        ]


def measure(bench: Bench, hits: Hits, segments: Segments, sector_ns: float | None) -> AtOnce | None:
    """Measure; None: it is another kind of cache.

    `sector_ns`: the medium's time per sector; None if it is zero.
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
        """Return how many sectors are prefetched at once; 0: none, or too many to see an end."""
        return _last(lambda distance: self._holds(A_READ, A_READ + distance - 1), self._most)

    def size(self, ahead: int) -> int:
        """Return the sectors of a segment; 0: a segment is longer than the longest read."""
        length = A_READ
        while self._holds(length, 0):
            length *= 2
            if length > self._bench.longest_sectors:
                return 0
        end = length + ahead
        return _last(lambda back: self._holds(length, end - back), end)

    def _holds(self, length: int, at: int) -> bool:
        """Return whether, after a read of that length, sector `at` hits in most tries."""
        return sum(self._is_held(length, at) for _ in range(TRIES)) > TRIES / 2

    def _is_held(self, length: int, at: int) -> bool:
        place = self._bench.place(max(length, at + 1))
        self._bench.read(place, length)
        return self._hits.is_hit(self._bench.read(place + at))


def _last(is_so: Callable[[int], bool], most: int) -> int:
    """Return the largest number such that `is_so` is true from 1 up to it; 0 if it is true for
    none, or for all up to `most`.
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
