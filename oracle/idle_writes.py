# SPDX-License-Identifier: MIT
"""A drive that defers writes. A write completes once it is in the cache. After `idle_ms` without a
request, the drive destages one span of written sectors. If `rests`, the drive destages the next
span after the same pause, else at once. A full cache is destaged without a pause, down to the share
`low`.
"""

import random
from collections import OrderedDict
from dataclasses import dataclass, field

from oracle.detailed.drive import MS
from oracle.firmware import Firmware, random_mechanism

OLDEST, ASCENDING, NEAREST = range(3)


@dataclass(eq=False)
class IdleWrites(Firmware):
    """A drive whose cache holds at most `most_spans` spans with at most `cache_sectors` sectors in
    total.
    """

    idle_ms: float = 3
    rests: bool = True
    most_spans: int = 64
    cache_sectors: int = 4096
    low: float = 0.5  # a full cache is destaged to this share of its spans and sectors
    order: int = ASCENDING
    spans: OrderedDict[int, int] = field(init=False, repr=False)  # start to end, by age
    full: bool = field(init=False, repr=False)
    destaged: int = field(init=False, repr=False)  # where the last span ended

    def reset(self) -> None:
        """Reset to the initial state, at time 0."""
        super().reset()
        self.spans = OrderedDict()
        self.full = False
        self.destaged = 0

    def serve(self, op: str, sector: int, sectors: int, at_ns: int) -> int:
        """Serve a read from the cache if one span contains it; cache a write that is not larger
        than the cache; otherwise use the mechanism.
        """
        end = sector + sectors
        met = [start for start, stop in self.spans.items() if start < end and sector < stop]
        of = self.drive.parameters
        bus_ns = sectors * of.bus_sector_ns
        if op == "read" and any(start <= sector and end <= self.spans[start] for start in met):
            return round(at_ns + of.read_hit_overhead_ns + bus_ns)
        if op == "read" or sectors > self.cache_sectors:
            for start in met:
                self._destage(start, at_ns)
            return self.mechanism(op, sector, sectors, at_ns)
        ready_ns = at_ns + of.write_overhead_ns
        return round(max(ready_ns, self._hold(sector, end, at_ns)) + bus_ns)

    def _hold(self, start: int, end: int, at_ns: int) -> int:
        """Add a write to the cache, joined with the spans that it overlaps or touches. Destage
        spans first if there is no room.

        Return the time at which the write is in the cache.
        """
        for first, stop in list(self.spans.items()):
            if first > end or start > stop:
                continue
            if max(stop, end) - min(first, start) > self.cache_sectors:
                at_ns = self._destage(first, at_ns)
                continue
            del self.spans[first]
            start, end = min(first, start), max(stop, end)
        while not self._fits(1, end - start, 1):
            self.full = True
            at_ns = self._destage(self._next(), at_ns)
        self.spans[start] = end
        return at_ns

    def _fits(self, spans: int, sectors: int, share: float) -> bool:
        """Return whether this many more spans and sectors fit into this share of the cache."""
        held = sum(stop - start for start, stop in self.spans.items())
        return (
            len(self.spans) + spans <= share * self.most_spans
            and held + sectors <= share * self.cache_sectors
        )

    def _next(self) -> int:
        """Return the span to destage next."""
        if self.order == OLDEST:
            return next(iter(self.spans))
        if self.order == NEAREST:
            return min(self.spans, key=lambda start: abs(start - self.destaged))
        return min(self.spans, key=lambda start: (start < self.destaged, start))

    def _destage(self, start: int, at_ns: int) -> int:
        self.destaged = self.spans.pop(start)
        done_ns = self.mechanism("write", start, self.destaged - start, at_ns)
        if self._fits(0, 0, self.low):
            self.full = False
        return done_ns

    def next_step_ns(self) -> float:
        """Return the time of the next destage; there is no pause before it if the cache was
        full.
        """
        if self.full:
            return max(self.completion_ns, self.free_ns)
        if self.rests:
            return max(self.completion_ns, self.free_ns) + self.idle_ms * MS
        return super().next_step_ns()

    def step(self, at_ns: int) -> bool:
        """Destage a span."""
        if not self.spans:
            return False
        self._destage(self._next(), at_ns)
        return True


def random_idle_writes(seed: int) -> IdleWrites:
    """Return a random drive, a different one for each seed."""
    draw = random.Random(f"idle writes {seed}")
    return IdleWrites(
        random_mechanism(seed),
        idle_ms=draw.choice((1, 3, 10, 30, 100)),
        rests=draw.random() < 0.5,
        most_spans=draw.choice((4, 32, 128)),
        cache_sectors=draw.choice((512, 2048, 8192)),
        low=draw.choice((0, 0.5, 0.9)),
        order=draw.choice((OLDEST, ASCENDING, NEAREST)),
    )
