# SPDX-License-Identifier: MIT
"""The medium's rate by place.

Where angles are seen, a sector's time is known from them.  Where not, two long reads at one
place, the second twice as long, differ by the sectors between; the shortest of some tries
each, since a wait for the platter may be in them.  A bus that is slower hides the medium.
"""

from bisect import bisect_right
from dataclasses import dataclass, field

from understudy.profiler.found import Finding, Points, not_seen
from understudy.profiler.hits import NS_TO_MB_PER_S, Hits
from understudy.profiler.target import Bench
from understudy.profiler.tracks import Tracks

PLACES = 24
TRIES = 6
LONG_NS = 500_000_000  # of transfer, in which a part of a rotation is little
LONGEST = 2**17  # sectors
HIDDEN = 1.02
KEYS = ("throughput.zones", "throughput.at", "throughput.mb_per_s")


@dataclass(frozen=True)
class Medium:
    """A sector's time, ns, from each fraction of the disk on; `seen` where it was looked at."""

    at: tuple[float, ...]
    sector_ns: tuple[float, ...]
    confidence: str
    seen: Points = field(default=(), repr=False)

    def sector_ns_at(self, at: float) -> float:
        """At a fraction of the disk."""
        return self.sector_ns[max(0, bisect_right(self.at, at) - 1)]

    @property
    def slowest_ns(self) -> float:
        """A sector's time, where it is longest."""
        return max(self.sector_ns)

    def findings(self) -> list[Finding]:
        """In the profile's words."""
        rates = [round(NS_TO_MB_PER_S / ns, 4) for ns in self.sector_ns]
        seen = [(at, NS_TO_MB_PER_S / ns) for at, ns in self.seen]
        return [
            Finding(KEYS[0], True),
            Finding(KEYS[1], [round(at, 6) for at in self.at]),
            Finding(KEYS[2], rates, self.confidence, seen),
        ]


def measure(bench: Bench, tracks: Tracks | None, hits: Hits | None) -> Medium | None:
    """None: longer reads take no longer."""
    if tracks:
        zones = tracks.zones
        return Medium(
            tuple(zone.at for zone in zones),
            tuple(zone.sector_ns for zone in zones),
            "from angles of sectors, without what is lost between tracks",
            tracks.seen,
        )
    return _timed(bench, hits)


def findings(found: Medium | None) -> list[Finding]:
    """In the profile's words."""
    if found:
        return found.findings()
    return [not_seen(key, "longer reads take no longer") for key in KEYS]


def _timed(bench: Bench, hits: Hits | None) -> Medium | None:
    most = min(LONGEST, bench.capacity_sectors // 64)
    roughly_ns = _sector_ns(bench, 0.5, min(2048, most))
    if roughly_ns <= 0:
        return None
    sectors = min(most, max(2048, round(LONG_NS / roughly_ns)))
    at = [place / PLACES for place in range(PLACES)]
    found = [_sector_ns(bench, place, sectors) for place in at]
    if min(found) <= 0:
        return None
    said = "two long reads, with what is lost between tracks"
    if hits and min(found) < HIDDEN * hits.bus_sector_ns:
        said = "the bus's where it is the slower one: the medium is hidden by it"
    seen = [(place + 0.5 / PLACES, ns) for place, ns in zip(at, found, strict=True)]
    return Medium(tuple(at), tuple(found), said, seen)


def _sector_ns(bench: Bench, at: float, sectors: int) -> float:
    """From reads of half as many and of all."""

    def shortest_ns(length: int) -> int:
        places = (bench.place(length, at, at + 1 / PLACES) for _ in range(TRIES))
        return min(bench.read(place, length) for place in places)

    return (shortest_ns(sectors) - shortest_ns(sectors // 2)) / (sectors - sectors // 2)
