# SPDX-License-Identifier: MIT
"""One track, measured exactly: where it ends, and how many sectors would fit.

Along a track angles go on evenly; the first sector of the next one is off by the skew.  Two
sectors give the slots of a turn, roughly, and those that are farther apart better; then the
track's end is halved.  The last few sectors are read downwards, for a drive may hold what
follows a sector that was read.
"""

from dataclasses import dataclass, field

from understudy.profiler.layout.layout import centred
from understudy.profiler.probes.angles import NOISE, Protractor

FIRST_STEP = 8  # sectors
FARTHER = 3  # times
NEARLY_ALL = 0.9  # of a turn
NEAR = 8  # sectors that are not halved any more


@dataclass(frozen=True)
class Track:
    """`begin` is the angle where its first sector ends; `slots` pass in a turn."""

    first: int
    sectors: int
    slots: int
    begin: float


def measure(protractor: Protractor, first: int, capacity_sectors: int) -> Track:
    """The one that begins there."""
    return _Ruler(protractor, first, capacity_sectors).track()


def same(protractor: Protractor, slots: float) -> float:
    """Two sectors of one track are no farther than that from where they should be, turns."""
    return 1.5 / slots + NOISE * protractor.noise


@dataclass
class _Ruler:
    """Lies along a track."""

    protractor: Protractor
    first: int
    capacity_sectors: int
    slots: float = 1.0
    seen: dict[int, float] = field(default_factory=dict)

    def track(self) -> Track:
        last_sure = self._measure_slots()
        end = self._end(last_sure)
        sectors = end - self.first
        if sectors > 1:  # noise may carry the angle past a turn
            foreseen = (sectors - 1) / self.slots
            turned = foreseen + centred(self._turned(end - 1) - foreseen)
            self.slots = (sectors - 1) / (turned or 1.0)
        return Track(self.first, sectors, max(sectors, round(self.slots)), self._ends(self.first))

    def _ends(self, sector: int) -> float:
        if sector not in self.seen:
            self.seen[sector] = self.protractor.surely(sector)
        return self.seen[sector]

    def _turned(self, sector: int) -> float:
        """Since the first one."""
        return (self._ends(sector) - self._ends(self.first)) % 1

    def _measure_slots(self) -> int:
        """As well as one can within the track; the farthest sector that is on it for sure."""
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
        """The first sector that is not on it; a turn later, if there is no skew to see.

        It is read twice, since a host that is away makes any sector come late.
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
        """Between one that is on it and one that is not."""
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
