# SPDX-License-Identifier: MIT
"""Measures one track exactly: where it ends, and how many slots it has.

Along a track, angles grow evenly; at the next track's first sector, the skew is added.  The angle
between two sectors gives the number of slots in a rotation, more exactly if the sectors are farther
apart.  Then bisection finds the track's end.  The last few sectors are read in descending order,
since a drive may have prefetched the sectors after a read.
"""

from dataclasses import dataclass, field

from understudy_devices.profiler.layout.layout import centred
from understudy_devices.profiler.probes.angles import NOISE, Protractor

FIRST_STEP = 8  # sectors
FARTHER = 3  # factor
NEARLY_ALL = 0.9  # of a rotation
NEAR = 8  # sectors left to a linear search


@dataclass(frozen=True)
class Track:
    """A track with `slots` slots in a rotation; `begin` is the angle at which its first sector
    ends.
    """

    first: int
    sectors: int
    slots: int
    begin: float


def measure(protractor: Protractor, first: int, capacity_sectors: int) -> Track:
    """Measure the track that begins at sector `first`."""
    return _Ruler(protractor, first, capacity_sectors).track()


def same(protractor: Protractor, slots: float) -> float:
    """Return by how much the angle between two sectors of one track may differ from the expected
    angle, in rotations.
    """
    return 1.5 / slots + NOISE * protractor.noise


@dataclass
class _Ruler:
    """Measures along a track."""

    protractor: Protractor
    first: int
    capacity_sectors: int
    slots: float = 1.0
    seen: dict[int, float] = field(default_factory=dict)

    def track(self) -> Track:
        last_sure = self._measure_slots()
        end = self._end(last_sure)
        sectors = end - self.first
        if sectors > 1:  # noise may make the angle wrap around
            foreseen = (sectors - 1) / self.slots
            turned = foreseen + centred(self._turned(end - 1) - foreseen)
            self.slots = (sectors - 1) / (turned or 1.0)
        return Track(self.first, sectors, max(sectors, round(self.slots)), self._ends(self.first))

    def _ends(self, sector: int) -> float:
        if sector not in self.seen:
            self.seen[sector] = self.protractor.surely(sector)
        return self.seen[sector]

    def _turned(self, sector: int) -> float:
        """Return the angle from the first sector to this sector, in rotations."""
        return (self._ends(sector) - self._ends(self.first)) % 1

    def _measure_slots(self) -> int:
        """Measure the number of slots as exactly as possible; return the farthest sector that is
        certainly on the track.
        """
        step, farthest = FIRST_STEP, 0
        while self.first + step < self.capacity_sectors:
            turned = self._turned(self.first + step) or 1.0
            if farthest and abs(turned - step / self.slots) > same(self.protractor, self.slots):
                break
            self.slots, farthest = step / turned, step
            step *= FARTHER
            if step > NEARLY_ALL * self.slots:
                break
        return self.first + farthest

    def _end(self, on: int) -> int:
        """Return the first sector after the track; if there is no skew, this is the sector one
        rotation after the first.

        Read the result a second time, since its completion may have been late.
        """
        beyond = min(self.first + round(self.slots) + 2, self.capacity_sectors)
        while self._is_beyond(beyond):
            end = self._halved(on, beyond)
            self.seen.pop(end, None)
            if self._is_beyond(end):
                return end
            on = end
        return self.first + round(self.slots)

    def _halved(self, on: int, beyond: int) -> int:
        """Return the first sector after the track, by bisection between a sector on the track and a
        sector beyond it.
        """
        while beyond - on > NEAR:
            middle = (on + beyond) // 2
            on, beyond = (on, middle) if self._is_beyond(middle) else (middle, beyond)
        while beyond - 1 > on and self._is_beyond(beyond - 1):
            beyond -= 1
        return beyond

    def _is_beyond(self, sector: int) -> bool:
        if sector >= self.capacity_sectors:
            return True
        off = centred(self._turned(sector) - (sector - self.first) / self.slots)
        return abs(off) > same(self.protractor, self.slots)
