# SPDX-License-Identifier: MIT
"""Measures the time of a cache hit: an overhead, and a time per sector on the bus.

The probe reads the same sectors twice in succession, at lengths that double.  The second read is a
hit if it is much quicker than a read of other sectors nearby.  The probe stops at the first length
that is not a hit.  A second read that waits for the platter takes more than twice the time of a hit
of half its length.  A second read longer than a segment is only partly a hit, and its time is above
the line through the shorter hits' times.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from understudy_devices.profiler.findings.finding import Finding, Points, not_seen
from understudy_devices.profiler.findings.statistics import median, spread
from understudy_devices.profiler.targets.bench import Bench

LENGTHS = tuple(2**power for power in range(11))
TRIES = 9
OFF_LINE = 0.002  # of a hit's time: a read that hits only in part deviates by more
TOLERANCE_NS = 10_000  # for a host that is always on time
NOISE = 4  # times the spread of hits: a slower read is not a hit
BESIDE = 2**12  # sectors: no cache reads so far backwards
FASTEST_NS = 0.6  # time per sector on the bus: the quickest that a profile can express
BUS_KEY, HIT_KEY = "buffer.bus_mb_per_s", "buffer.read_hit_us"
NS_TO_MB_PER_S = 512e3  # converts ns per sector to MB/s and back


@dataclass(frozen=True)
class Hits:
    """The overhead and the time per sector of hits, ns, from hits of up to `longest` sectors;
    `seen` has the hit times by length.
    """

    overhead_ns: float
    bus_sector_ns: float
    longest: int
    residual_ns: float
    tolerance_ns: float = TOLERANCE_NS
    seen: Points = field(default=(), repr=False)

    def cost_ns(self, sectors: int) -> float:
        """Return the time of a hit of that length."""
        return self.overhead_ns + sectors * self.bus_sector_ns

    def is_hit(self, service_ns: float, sectors: int = 1) -> bool:
        """Return whether a read with that service time was a hit."""
        cost_ns = self.cost_ns(sectors)
        return service_ns <= cost_ns + max(self.tolerance_ns, 0.02 * cost_ns)

    def findings(self) -> list[Finding]:
        """Convert to findings."""
        confidence = f"+- {self.residual_ns / 1e3:.2g} us over lengths up to {self.longest}"
        bus = round(NS_TO_MB_PER_S / self.bus_sector_ns, 4)
        return [
            Finding(BUS_KEY, bus, f"from hits: {confidence}"),
            Finding(HIT_KEY, round(self.overhead_ns / 1e3, 3), confidence, self._seen_us),
        ]

    @property
    def _seen_us(self) -> Points:
        return tuple((sectors, ns / 1e3) for sectors, ns in self.seen)


def measure(bench: Bench) -> Hits | None:
    """Measure the time of a hit; return None if a second read is not much quicker than the
    first.
    """
    hits: list[tuple[int, float]] = []
    noise_ns = 0.0
    for sectors in (length for length in LENGTHS if length <= bench.longest_sectors):
        first_ns, times = _again(bench, sectors)
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


def findings(hits: Hits | None) -> list[Finding]:
    """Convert to findings."""
    if hits:
        return hits.findings()
    why = "a second read costs as much as the first"
    return [not_seen(key, why) for key in (BUS_KEY, HIT_KEY)]


def _again(bench: Bench, sectors: int) -> tuple[float, Sequence[int]]:
    """Return the median of the first reads' times, and the times of the second reads."""
    firsts, agains = [], []
    for _ in range(TRIES):
        place = bench.place(sectors)
        firsts.append(bench.read(place, sectors))
        agains.append(bench.read(place, sectors))
    return median(firsts), agains


def _beside_ns(bench: Bench) -> float:
    """Return the time of a read of uncached sectors near the previous read.

    The arm moves hardly farther than for a repeated read, so a repeated read that is much quicker
    is a hit.
    """
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
