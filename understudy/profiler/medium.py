# SPDX-License-Identifier: MIT
"""The medium's rate by place.

Where angles are seen, a sector's time is known from them.  Where not, two long reads at one
place, the second twice as long, differ by the sectors between.  Each follows a seek of the same
length, and is tried until the wait for the platter that may be in them matters little.  A bus
that is slower hides the medium.
"""

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from understudy.profiler import zones
from understudy.profiler.found import Finding, not_seen
from understudy.profiler.hits import NS_TO_MB_PER_S, Hits
from understudy.profiler.target import Bench
from understudy.profiler.tracks import Tracks

PLACES = 17  # where it looks first
TRIES = (3, 6, 32)
SURE_ENOUGH = 0.002
SAME = 0.005  # of a sector's time: less does not tell two zones apart
SURE = 4  # errors
AWAY = 2**12  # sectors
LONG_NS = 500_000_000  # of transfer, in which a part of a rotation is little
LONGEST = 2**17  # sectors
HIDDEN = 1.02
KEYS = ("throughput.zones", "throughput.at", "throughput.mb_per_s")


@dataclass(frozen=True)
class Medium:
    """A sector's time, ns, from each fraction of the disk on."""

    at: tuple[float, ...]
    sector_ns: tuple[float, ...]
    confidence: str

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
        return [
            Finding(KEYS[0], True),
            Finding(KEYS[1], [round(at, 6) for at in self.at]),
            Finding(KEYS[2], rates, self.confidence),
        ]


def measure(bench: Bench, tracks: Tracks | None, hits: Hits | None) -> Medium | None:
    """None: longer reads take no longer."""
    if tracks:
        zones = tracks.zones
        return Medium(
            tuple(zone.at for zone in zones),
            tuple(zone.sector_ns for zone in zones),
            "from angles of sectors, without what is lost between tracks",
        )
    return _timed(bench, hits)


def findings(found: Medium | None) -> list[Finding]:
    """In the profile's words."""
    if found:
        return found.findings()
    return [not_seen(key, "longer reads take no longer") for key in KEYS]


def _timed(bench: Bench, hits: Hits | None) -> Medium | None:
    most = min(bench.longest_sectors, LONGEST, bench.capacity_sectors // 64)
    roughly_ns, _ = _sector_ns(bench, 0.5, min(2048, most))
    if roughly_ns <= 0:
        return None
    sectors = min(most, max(2048, round(LONG_NS / roughly_ns)))
    middle_ns, error_ns = _sector_ns(bench, 0.5, sectors)
    same = max(SAME, SURE * error_ns / middle_ns)
    found = zones.find(lambda at: _sector_ns(bench, at, sectors)[0], PLACES, same)
    slowest_ns = min(zone.sector_ns for zone in found)
    if slowest_ns <= 0:
        return None
    said = f"+- {error_ns / middle_ns:.2g} of it, with what is lost between tracks"
    if hits and slowest_ns < HIDDEN * hits.bus_sector_ns:
        said = "the bus's where it is the slower one: the medium is hidden by it"
    return Medium(
        tuple(zone.at for zone in found), tuple(zone.sector_ns for zone in found), said
    )


def _sector_ns(bench: Bench, at: float, sectors: int) -> tuple[float, float]:
    """From reads of half as many and of all at the same places, and how far off it may be."""
    half = sectors // 2
    all_ns: list[int] = []
    half_ns: list[int] = []
    for tries in TRIES:
        for _ in range(tries - len(all_ns)):
            place = _around(bench, at, AWAY + sectors)
            all_ns.append(_long_ns(bench, place, sectors))
            half_ns.append(_long_ns(bench, place, half))
        between_ns = _middle(all_ns) - _middle(half_ns)
        error_ns = math.hypot(_error(all_ns), _error(half_ns))
        if error_ns < SURE_ENOUGH * between_ns:
            break
    return between_ns / (sectors - half), error_ns / (sectors - half)


def _around(bench: Bench, at: float, sectors: int) -> int:
    place = round(at * bench.capacity_sectors) - bench.random.randrange(sectors)
    return min(max(place, 0), bench.capacity_sectors - sectors)


def _long_ns(bench: Bench, place: int, sectors: int) -> int:
    """After a seek that is always as long."""
    bench.read(place)
    return bench.read(place + AWAY, sectors)


def _middle(times: Sequence[int]) -> float:
    """Of the range: half a rotation above the shortest."""
    return (max(times) + min(times)) / 2


def _error(times: Sequence[int]) -> float:
    """If they are uniform on their range."""
    return (max(times) - min(times)) / 2**0.5 / len(times)
