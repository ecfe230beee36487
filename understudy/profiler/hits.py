# SPDX-License-Identifier: MIT
"""What a read costs that the drive holds: an overhead, and its sectors on the bus.

A place is read for the first time and at once again, at lengths that double; it is a hit if it
is much quicker than another read nearby.  A read that has to wait for the platter again costs
more than twice one of half its length; one that is longer than a segment, and hits in part, is
off the line that the shorter ones are on.

A drive that discards what it has sent shows no hit so.  On it the sectors right behind are read
instead, as many and once they have been read ahead; where a track ends before they are not.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from understudy.profiler.found import Finding, Points, not_seen
from understudy.profiler.statistics import median, spread
from understudy.profiler.target import Bench

LENGTHS = tuple(2**power for power in range(11))
TRIES = 9
TRIES_BEHIND = 3 * TRIES
OFF_LINE = 0.002  # of a hit's cost: one that waits for a part of it is off by more
TOLERANCE_NS = 10_000  # of a host that is always on time
NOISE = 4  # times the spread of hits: more is no hit
BESIDE = 2**12  # sectors: no cache has read so far back
FASTEST_NS = 0.6  # a sector on the bus: as quick as a profile can say
SLOWEST_NS = 50_000  # a sector from the medium
PAUSE_NS = 60_000_000  # in which an arm has come to the next track
BUS_KEY, HIT_KEY = "buffer.bus_mb_per_s", "buffer.read_hit_us"
DISCARDS_KEY = "buffer.read_discards"
SENT_SAID = "a read again missed, one right behind it hit"
NS_TO_MB_PER_S = 512e3  # a sector's ns to MB/s and back


@dataclass(frozen=True)
class Hits:
    """Overhead and a sector's time, ns; `longest` sectors were seen to hit; `seen` by length.

    `discards`: what was sent is not held, but what was read ahead behind it is.
    """

    overhead_ns: float
    bus_sector_ns: float
    longest: int
    residual_ns: float
    tolerance_ns: float = TOLERANCE_NS
    seen: Points = field(default=(), repr=False)
    discards: bool = False

    def cost_ns(self, sectors: int) -> float:
        """Of a hit of that length."""
        return self.overhead_ns + sectors * self.bus_sector_ns

    def is_hit(self, service_ns: float, sectors: int = 1) -> bool:
        """As quick as the cache, and as no platter."""
        cost_ns = self.cost_ns(sectors)
        return service_ns <= cost_ns + max(self.tolerance_ns, 0.02 * cost_ns)

    def findings(self) -> list[Finding]:
        """In the profile's words."""
        said = f"+- {self.residual_ns / 1e3:.2g} us over lengths up to {self.longest}"
        bus = round(NS_TO_MB_PER_S / self.bus_sector_ns, 4)
        return [
            Finding(BUS_KEY, bus, f"from hits: {said}"),
            Finding(HIT_KEY, round(self.overhead_ns / 1e3, 3), said, self._seen_us),
        ]

    @property
    def _seen_us(self) -> Points:
        return tuple((sectors, ns / 1e3) for sectors, ns in self.seen)


def measure(bench: Bench) -> Hits | None:
    """None: neither a read again nor one right behind another costs less than the first."""
    again = _measured(bench, _again)
    if again:
        return again
    behind = _measured(bench, _behind)
    return replace(behind, discards=True) if behind else None


def _measured(
    bench: Bench, tried: Callable[[Bench, int], tuple[float, Sequence[int]]]
) -> Hits | None:
    hits: list[tuple[int, float]] = []
    noise_ns = 0.0
    for sectors in LENGTHS:
        first_ns, times = tried(bench, sectors)
        again_ns, apart_ns = median(times), spread(times)
        if not hits and again_ns >= 0.5 * min(first_ns, _beside_ns(bench)):
            return None
        limit_ns = 2.2 * hits[-1][1] + TOLERANCE_NS if hits else first_ns
        if apart_ns > 2 * TOLERANCE_NS + 0.05 * max(first_ns, again_ns) or again_ns > limit_ns:
            break
        if len(hits) > 2 and not _on_line(hits, sectors, again_ns):
            break
        hits.append((sectors, again_ns))
        noise_ns = max(noise_ns, apart_ns)
    return _line(hits, max(TOLERANCE_NS, NOISE * noise_ns)) if len(hits) > 2 else None


def findings(found: Hits | None) -> list[Finding]:
    """In the profile's words."""
    if found:
        said = SENT_SAID if found.discards else f"{TRIES} tries of each length to read it again hit"
        return [*found.findings(), Finding(DISCARDS_KEY, found.discards, said)]
    why = "a read again costs what it cost the first time, and so does one right behind it"
    return [not_seen(key, why) for key in (BUS_KEY, HIT_KEY)]


def _again(bench: Bench, sectors: int) -> tuple[float, Sequence[int]]:
    """The median of first reads, and what the second ones took."""
    firsts, agains = [], []
    for _ in range(TRIES):
        place = bench.place(sectors)
        firsts.append(bench.read(place, sectors))
        agains.append(bench.read(place, sectors))
    return median(firsts), agains


def _behind(bench: Bench, sectors: int) -> tuple[float, Sequence[int]]:
    """The same of reads right behind; if enough are as quick as the quickest, those.

    No pause is like another, or an angle that always comes by as soon would look like a cache.
    """
    firsts, behinds = [], []
    for _ in range(TRIES_BEHIND):
        place = bench.place(2 * sectors)
        firsts.append(bench.read(place, sectors))
        bench.wait(bench.random.uniform(1, 2) * PAUSE_NS + 2 * sectors * SLOWEST_NS)
        behinds.append(bench.read(place + sectors, sectors))
    limit_ns = 1.01 * min(behinds) + 2 * TOLERANCE_NS
    quick = [ns for ns in behinds if ns <= limit_ns]
    return median(firsts), quick if len(quick) >= TRIES else behinds


def _beside_ns(bench: Bench) -> float:
    """Of a read near the last one, where nobody has read: the arm has as little to do as for the
    same place again, and only a cache is quicker."""
    times = []
    for _ in range(TRIES):
        place = bench.place(BESIDE + 1)
        bench.read(place + BESIDE)
        times.append(bench.read(place))
    return median(times)


def _on_line(hits: list[tuple[int, float]], sectors: int, again_ns: float) -> bool:
    cost_ns = _line(hits, TOLERANCE_NS).cost_ns(sectors)
    return again_ns <= cost_ns + TOLERANCE_NS + OFF_LINE * cost_ns


def _line(hits: list[tuple[int, float]], tolerance_ns: float) -> Hits:
    lengths, times = np.array(hits, float).T
    slope, overhead = np.polyfit(lengths, times, 1, w=1 / np.maximum(times, 1.0))
    residual = float(np.abs(times - slope * lengths - overhead).max())
    return Hits(
        max(float(overhead), 1.0),
        max(float(slope), FASTEST_NS),
        int(lengths[-1]),
        residual,
        tolerance_ns,
        tuple(hits),
    )
