# SPDX-License-Identifier: MIT
"""The layout of the platters: the angle at which each sector passes under the head.

Angles are in turns, up to one offset that all have in common.  In a zone tracks are equally
long and follow each other with one skew, but for those that begin a cylinder (or, where a
drive lays sectors out along surfaces, a surface), which follow with another.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from understudy.profiler.found import Finding, not_seen

DIGITS = 12  # of a skew, which a zone has up to some 10^6 times
NAMES = ("first", "slots", "angle", "skew", "cylinder", "cylinder_skew")
KEYS = {name: f"tracks.{name}" for name in NAMES}


@dataclass(frozen=True)
class Zone:
    """Tracks from sector `first` on.

    `sectors` of a track can be addressed, `slots` pass in a turn.  `skew` is from the end of a
    track's last sector to the next track's first one; after each `cylinder` tracks it is
    `cylinder_skew`.
    """

    first: int
    sectors: int
    slots: int
    angle: float
    skew: float
    cylinder: int
    cylinder_skew: float

    def turn(self, sector: int) -> float:
        """Where it begins."""
        passed = sector - self.first
        tracks = passed // self.sectors
        cylinders = tracks // self.cylinder
        skews = (tracks - cylinders) * self.skew + cylinders * self.cylinder_skew
        return (self.angle + skews + passed % self.slots / self.slots) % 1

    def end(self, sector: int) -> float:
        """Where it has passed."""
        return (self.turn(sector) + 1 / self.slots) % 1


@dataclass(frozen=True)
class Layout:
    """All zones, from the outermost; `share` of so many random sectors were where it says."""

    zones: tuple[Zone, ...]
    share: float
    looked: int

    def zone(self, sector: int) -> Zone:
        """Whose it is."""
        return self.zones[bisect_right(self.zones, sector, key=lambda zone: zone.first) - 1]

    def findings(self) -> list[Finding]:
        """In the profile's words."""
        said = f"{self.share:.1%} of {self.looked} random sectors are at their angle within 1 %"
        return [Finding(KEYS[name], self._column(name), said) for name in NAMES]

    def _column(self, name: str) -> Sequence[float] | Sequence[int]:
        values = [getattr(zone, name) for zone in self.zones]
        return [round(each, DIGITS) if isinstance(each, float) else each for each in values]


@dataclass(frozen=True)
class Unseen:
    """There is no layout, or none that a profile has words for."""

    why: str

    def findings(self) -> list[Finding]:
        """In the profile's words."""
        return [not_seen(key, self.why) for key in KEYS.values()]


def centred(turns: float) -> float:
    """The same angle, from half a turn before to half a turn after."""
    return (turns + 0.5) % 1 - 0.5
