# SPDX-License-Identifier: MIT
"""Measures the medium's transfer rate at many locations.

If angles are known, they determine the time per sector.  If not, the probe computes it from the
difference between a long read and a read of one sector, each after a seek of the same length.  It
repeats the reads until rotational latency matters little.  If the bus is slower than the medium,
the result is the bus's rate.
"""

import math
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from understudy_devices.profiler.findings.finding import Finding, Points, not_seen
from understudy_devices.profiler.layout import zones
from understudy_devices.profiler.probes.hits import NS_TO_MB_PER_S, Hits
from understudy_devices.profiler.probes.tracks import Tracks
from understudy_devices.profiler.targets.bench import Bench

PLACES = 17  # number of locations measured first
TRIES = (3, 6, 32)
SURE_ENOUGH = 0.002
SHARES = (1024, 64)  # of the disk: the longest read; the second, if the first is too uncertain
AMONG = (0.28, 0.53, 0.78)  # locations; a read at one of them may cross a zone's end
SAME = 0.005  # of the time per sector: two zones differ by more
SURE = 4  # times the error
AWAY = 2**12  # sectors
CHANCES = 8
NO_TIME_NS = 20.0  # per sector: quicker than any platter
LONG_NS = 100_000_000  # of transfer; compared with it a part of a rotation is short
LONGEST = 2**17  # sectors
HIDDEN = 1.02
KEYS = ("throughput.zones", "throughput.at", "throughput.mb_per_s")


@dataclass(frozen=True)
class Medium:
    """The time per sector, ns, of zones that begin at fractions `at` of the disk; `seen` has the
    measured locations and their times per sector.
    """

    at: tuple[float, ...]
    sector_ns: tuple[float, ...]
    confidence: str
    seen: Points = field(default=(), repr=False)

    def sector_ns_at(self, at: float) -> float:
        """Return the time per sector at a fraction of the disk."""
        return self.sector_ns[max(0, bisect_right(self.at, at) - 1)]

    @property
    def slowest_ns(self) -> float:
        """Return the longest time per sector."""
        return max(self.sector_ns)

    def findings(self) -> list[Finding]:
        """Convert to findings."""
        rates = [round(NS_TO_MB_PER_S / ns, 4) for ns in self.sector_ns]
        seen = [(at, NS_TO_MB_PER_S / ns) for at, ns in self.seen]
        return [
            Finding(KEYS[0], True),
            Finding(KEYS[1], [round(at, 6) for at in self.at]),
            Finding(KEYS[2], rates, self.confidence, seen),
        ]


def measure(bench: Bench, tracks: Tracks | None, hits: Hits | None) -> Medium | None:
    """Measure the medium; return None if long reads take as long as short reads."""
    if tracks:
        zones = tracks.zones
        return Medium(
            tuple(zone.at for zone in zones),
            tuple(zone.sector_ns for zone in zones),
            "from angles of sectors, without what is lost between tracks",
            tracks.seen,
        )
    return _timed(bench, hits)


def findings(medium: Medium | None) -> list[Finding]:
    """Convert to findings."""
    if medium:
        return medium.findings()
    return [not_seen(key, "longer reads take no longer") for key in KEYS]


def _timed(bench: Bench, hits: Hits | None) -> Medium | None:
    watch = _Watch(bench, hits)
    for share in SHARES:
        most = min(bench.longest_sectors, LONGEST, bench.capacity_sectors // share)
        roughly = watch.look(0.5, min(2048, most))
        if roughly.sector_ns <= NO_TIME_NS:
            return None
        sectors = min(most, max(2048, round(LONG_NS / roughly.sector_ns)))
        surest = min((watch.look(at, sectors) for at in AMONG), key=lambda look: look.error)
        if surest.error < SURE_ENOUGH:
            break
    seen: list[tuple[float, float]] = []

    def look(at: float) -> float:
        seen.append((at, watch.look(at, sectors).sector_ns))
        return seen[-1][1]

    all_zones = zones.find(
        look,
        PLACES,
        same=max(SAME, SURE * surest.error),
        narrowest=max(zones.NARROWEST, surest.of_the_disk),
    )
    shortest_ns = min(zone.sector_ns for zone in all_zones)
    if shortest_ns <= NO_TIME_NS:
        return None
    confidence = f"+- {surest.error:.2g} of it, skews included"
    if hits and shortest_ns < HIDDEN * hits.bus_sector_ns:
        confidence = "the bus's, where it is slower than the medium and hides it"
    return Medium(
        tuple(zone.at for zone in all_zones),
        tuple(zone.sector_ns for zone in all_zones),
        confidence,
        tuple(seen),
    )


@dataclass(frozen=True)
class _Looked:
    """The time per sector at one location, its relative error, and the share of the disk that was
    read.
    """

    sector_ns: float
    error: float
    of_the_disk: float


class _Watch:
    """Compares long reads with reads of one sector, each after a seek of the same length."""

    def __init__(self, bench: Bench, hits: Hits | None) -> None:
        self._bench = bench
        self._hits = hits
        places = iter(lambda: bench.place(AWAY + 1), None)
        self._single = [self._missed(places, 1) for _ in range(TRIES[-1])]

    def look(self, at: float, sectors: int) -> _Looked:
        """Measure the time per sector around that fraction of the disk."""
        places = self._fresh(at, AWAY + sectors)
        times: list[int] = []
        for tries in TRIES:
            times += [self._missed(places, sectors) for _ in range(tries - len(times))]
            between_ns = _middle(times) - _middle(self._single)
            error_ns = self._error(times)
            if error_ns < SURE_ENOUGH * between_ns:
                break
        return _Looked(
            between_ns / (sectors - 1),
            error_ns / max(between_ns, 1.0),
            len(times) * (AWAY + sectors) / self._bench.capacity_sectors,
        )

    def _fresh(self, at: float, room: int) -> Iterator[int]:
        """Yield sectors near `at` with room for a read, in descending order, so that no read hits
        the previous read's prefetch.
        """
        capacity_sectors = self._bench.capacity_sectors
        first = round(at * capacity_sectors) + self._bench.random.randrange(TRIES[0] * room)
        first = min(max(first, TRIES[-1] * room), capacity_sectors)
        yield from range(first - room, -1, -room)
        while True:  # needed on a small disk
            yield self._bench.place(room)

    def _error(self, times: Sequence[int]) -> float:
        """Return the error of the difference of means, assuming that latencies are uniform over
        their range: the spread of few samples is unreliable.
        """
        range_ns = max(max(each) - min(each) for each in (times, self._single))
        return range_ns / 2**0.5 * math.hypot(1 / len(times), 1 / len(self._single))

    def _missed(self, places: Iterator[int], sectors: int) -> int:
        """Return the time of a read after a seek, at the first of `places` where both reads miss
        the cache.
        """
        for place in islice(places, CHANCES):
            first_ns = self._bench.read(place)
            service_ns = self._bench.read(place + AWAY, sectors)
            if not self._hits or not (
                self._hits.is_hit(first_ns) or self._hits.is_hit(service_ns, sectors)
            ):
                break
        return service_ns


def _middle(times: Sequence[int]) -> float:
    """Return the middle of the range of times, half a rotation above the shortest."""
    return (max(times) + min(times)) / 2
