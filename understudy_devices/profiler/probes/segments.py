# SPDX-License-Identifier: MIT
"""Measures the read cache's segments: their number and their length.

The probe reads many scattered sectors without a pause, and then reads them again in reverse order.
The number of hits is the number of segments, since hits evict no segment (Worthington and others
1995, section 3.4).  To find a segment's length, the probe reads a sequential stream longer than a
segment, and waits for the prefetch.  Then the sectors that hit form a span as long as a segment.
Bisection finds both ends of this span; before each try, reads elsewhere clear the cache.
"""

from dataclasses import dataclass, replace
from itertools import takewhile

from understudy_devices.profiler.findings.finding import Finding, not_seen
from understudy_devices.profiler.findings.statistics import first, median
from understudy_devices.profiler.probes.hits import Hits
from understudy_devices.profiler.targets.bench import Bench

A_READ = 8  # sectors
MOST = 256  # SEGMENTS_MAX in understudy_devices/device/profile.py
TRIES = 5
LARGEST = 2**18  # sectors: 128 MiB
SURE = 2  # number of areas that agree on the size
PLACES = 4  # largest number of areas
STEPS = 4  # steps per doubling of the distance, in search of a cached sector
MOST_BEHIND = 4  # times the prefetch of a single read
PAUSE_NS = 100_000_000
NUMBER_KEY, SIZE_KEY = "buffer.segments", "buffer.segment_sectors"


@dataclass(frozen=True)
class Segments:
    """The number of segments, how many tries agree on it, and a segment's size in sectors (None if
    it was not seen).
    """

    number: int
    agree: int
    sectors: int | None = None
    sure_of_size: bool = False

    def findings(self) -> list[Finding]:
        """Convert to findings."""
        tries = f"{self.agree} of {TRIES} tries{', or more' if self.number == MOST else ''}"
        sure = f"exact, at {SURE} places" if self.sure_of_size else "places differ, the longest"
        return [
            Finding(NUMBER_KEY, self.number, tries),
            Finding(SIZE_KEY, self.sectors, sure)
            if self.sectors
            else not_seen(SIZE_KEY, f"more than {LARGEST} sectors, or sizes do not repeat"),
        ]


def measure(bench: Bench, hits: Hits | None) -> Segments | None:
    """Measure the number of segments."""
    if not hits:
        return None
    counts = [_count(bench, hits) for _ in range(TRIES)]
    number = round(median(counts))
    return Segments(number, counts.count(number))


def _count(bench: Bench, hits: Hits) -> int:
    """Return how many of the most recent reads hit when they are repeated."""
    number = 16
    while number <= MOST:
        places = [bench.place(A_READ) for _ in range(number)]
        for place in places:
            bench.read(place, A_READ)
        for count, place in enumerate(reversed(places)):
            if not hits.is_hit(bench.read(place, A_READ), A_READ):
                return count
        number *= 2  # all repeated reads hit
    return MOST


def with_size(
    bench: Bench, hits: Hits, segments: Segments, sector_ns: float, ahead: int
) -> Segments:
    """Return `segments` with a segment's size; `ahead` is the number of sectors prefetched after a
    read.
    """
    sizes: list[int] = []
    for _ in range(PLACES):
        size = _Span(bench, hits, segments, sector_ns, ahead).size()
        if not size:
            continue
        sizes.append(size)
        if sizes.count(size) == SURE:
            return replace(segments, sectors=size, sure_of_size=True)
    return replace(segments, sectors=max(sizes, default=None))


class _Span:
    """The span of sectors that a long stream leaves in the cache."""

    def __init__(
        self, bench: Bench, hits: Hits, segments: Segments, sector_ns: float, ahead: int
    ) -> None:
        self._bench = bench
        self._hits = hits
        self._number = segments.number
        self._sector_ns = sector_ns
        self._ahead = ahead
        self._largest = min(LARGEST, bench.capacity_sectors // 16)
        self._place = 1 + bench.place(4 * self._largest)

    def size(self) -> int | None:
        """Return the span's length in sectors; None if it was not found."""
        length = 64
        while self._holds(length, 0):
            length *= 2
            if length > self._largest:
                return None
        length *= 2
        inside = self._inside(length)
        if inside is None:
            return None
        step = 1
        while self._holds(length, inside + step):
            step *= 2
            if step > self._largest:
                return None
        low = first(lambda at: self._holds(length, at), -1, inside)
        high = first(lambda at: not self._holds(length, at), inside, inside + step)
        return high - low

    def _inside(self, length: int) -> int | None:
        """Return a sector of the span: the last sector of the stream, or a prefetched sector after
        it.

        The prefetch may have overwritten the stream's own sectors, and even the first prefetched
        sectors.
        """
        behind = (round(2 ** (n / STEPS)) for n in range(STEPS * self._largest.bit_length()))
        farthest = min(MOST_BEHIND * self._ahead, self._largest)
        tried = (-1, 0, *takewhile(lambda at: at <= farthest, behind))
        return next((length + at for at in tried if self._holds(length, length + at)), None)

    def _holds(self, length: int, at: int) -> bool:
        """Return whether sector `at`, counted from the stream's beginning, is in the cache after a
        stream of `length` sectors.
        """
        self._bench.elsewhere(self._number + 2)
        part = min(max(A_READ, length // 64), self._bench.longest_sectors)
        for begin in range(0, length, part):
            self._bench.read(self._place + begin, part)
        self._bench.wait(PAUSE_NS + 2 * length * self._sector_ns)
        return self._hits.is_hit(self._bench.read(self._place + at))


def findings(segments: Segments | None) -> list[Finding]:
    """Convert to findings."""
    if segments and segments.number:
        return segments.findings()
    return [not_seen(NUMBER_KEY, "nothing that was read is held")]
