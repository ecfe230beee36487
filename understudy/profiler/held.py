# SPDX-License-Identifier: MIT
"""Places that were read, and whether the drive still holds them.

It is seen by reading them again, or, on a drive that discards what it has sent, by reading what
lies right behind, which it has read ahead meanwhile.  Where a track ends at once there may be
nothing: such a drive is asked about places only where that has been seen to be held.
"""

from dataclasses import dataclass

from understudy.profiler.hits import Hits
from understudy.profiler.target import Bench

A_READ = 8  # sectors
PAUSE_NS = 30_000_000  # some rotations, and a few sectors
CHANCES = 8  # of places, one of which is good
FORGET = 256  # SEGMENTS_MAX in understudy/device/profile.py


@dataclass
class Held:
    """A place of A_READ sectors; `sector` is where it will be asked next."""

    bench: Bench
    hits: Hits
    sector: int

    def read(self) -> None:
        """For the first time."""
        self.bench.read(self.sector, A_READ)
        self._sent()

    def is_held(self) -> bool:
        """Ask; that is a use of it."""
        service_ns = self.bench.read(self.sector, A_READ)
        self._sent()
        return self.hits.is_hit(service_ns, A_READ)

    def _sent(self) -> None:
        if self.hits.discards:
            self.sector += A_READ
            self.bench.wait(PAUSE_NS)


def one(bench: Bench, hits: Hits) -> Held:
    """A place that is held."""
    for _ in range(CHANCES):
        place = Held(bench, hits, bench.place(A_READ))
        place.read()
        if not hits.discards or place.is_held():
            break
    return place


def places(bench: Bench, hits: Hits, number: int) -> list[int]:
    """So many, none of which is held now."""
    if not hits.discards:
        return [bench.place(A_READ) for _ in range(number)]
    good: list[int] = []
    for _ in range(CHANCES * number):
        place = Held(bench, hits, bench.place(A_READ))
        first = place.sector
        place.read()
        if place.is_held() and place.is_held():
            good.append(first)
        if len(good) == number:
            break
    bench.elsewhere(FORGET)
    return good
