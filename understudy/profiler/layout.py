# SPDX-License-Identifier: MIT
"""The layout of the platters: the angle at which each sector passes under the head.

Angles are in turns; 0 passes at time 0 of the target's clock.  In a zone tracks are equally
long and follow each other with one skew, but for those that begin a cylinder (or, where a
drive lays sectors out along surfaces, a surface), which follow with another, and those that
begin a band of cylinders, which may follow with a third (understudy/device/tracks.py).
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pydantic import ValidationError

from understudy.device.tracks import Tracks
from understudy.profiler.found import Finding, not_seen

DIGITS = 12  # of a skew, which a zone has up to some 10^6 times
ANGLES = ("first", "slots", "angle", "skew", "cylinder", "cylinder_skew")
NAMES = ("at", "sectors", *ANGLES)
BANDS = ("band", "band_skew")
SPARE = ("cylinder_spare",)
KEYS = {name: f"tracks.{name}" for name in (*NAMES, *BANDS, *SPARE)}
UNKNOWN = "unknown"
NEVER = 2**20  # cylinders: as many are in no zone


@dataclass(frozen=True)
class Zone:
    """Tracks from sector `first` on.

    `sectors` of a track can be addressed, `slots` pass in a turn.  `skew` is from the end of a
    track's last sector to the next track's first one; after each `cylinder` tracks it is
    `cylinder_skew`, and after each `band`, a multiple of them, `band_skew`.  One that never
    comes is another's, which a track's spare slots fit into.  A cylinder's last track has
    `cylinder_spare` sectors less.
    """

    first: int
    sectors: int
    slots: int
    angle: float
    skew: float
    cylinder: int
    cylinder_skew: float
    band: int
    band_skew: float
    cylinder_spare: int = 0

    @classmethod
    def even(cls, first: int, sectors: int, slots: int, angle: float, skew: float) -> "Zone":
        """All tracks follow each other alike."""
        return cls(first, sectors, slots, angle, skew, 1, skew, NEVER, skew)

    def alone(self) -> "Zone":
        """Of one track: what follows is not of this zone, and the skew is its spare slots."""
        skew = (self.slots - self.sectors) / self.slots
        return self.even(self.first, self.sectors, self.slots, self.angle, skew)

    @property
    def has_bands(self) -> bool:
        """More than one."""
        return self.band < NEVER * self.cylinder

    @property
    def cylinder_sectors(self) -> int:
        """That can be addressed."""
        return self.cylinder * self.sectors - self.cylinder_spare

    def track(self, number: int) -> int:
        """First sector of it."""
        spare = number // self.cylinder * self.cylinder_spare
        return self.first + number * self.sectors - spare

    def with_spares(self, sectors: int) -> int:
        """So many from the first on, counted as if no track were shorter."""
        return sectors + sectors // self.cylinder_sectors * self.cylinder_spare

    def tracks(self, sectors: int) -> int:
        """Whole ones in as many."""
        return self.with_spares(sectors) // self.sectors

    def from_track(self, number: int, left_out: int) -> "Zone":
        """As it goes on from that track, a cylinder's first, if so many sectors were left out
        before it."""
        begin = self.track(number)
        return replace(self, first=begin - left_out, angle=self.turn(begin))

    def turn(self, sector: int) -> float:
        """Where it begins."""
        passed = sector - self.first
        tracks = self.tracks(passed)
        bands = tracks // self.band
        cylinders = tracks // self.cylinder - bands
        skews = (tracks - cylinders - bands) * self.skew
        skews += cylinders * self.cylinder_skew + bands * self.band_skew
        return (self.angle + skews + passed % self.slots / self.slots) % 1

    def lead(self, bus_turns: float = 0.0) -> float:
        """From a sector's begin to where it has passed and is over a bus that takes so long."""
        return max(1 / self.slots, bus_turns)

    def end(self, sector: int, bus_turns: float = 0.0) -> float:
        """Where it is complete."""
        return (self.turn(sector) + self.lead(bus_turns)) % 1

    def refined(self, track: int, off: float) -> "Zone":
        """The same, with that track so far on: what is off has come together on the way."""
        if track >= self.band:
            return replace(self, band_skew=(self.band_skew + off / (track // self.band)) % 1)
        if track < self.cylinder:
            return self
        skew = (self.cylinder_skew + off / (track // self.cylinder)) % 1
        if self.cylinder > 1:
            return replace(self, cylinder_skew=skew)
        return replace(self, skew=skew, cylinder_skew=skew)

    def with_cylinders(self, tracks: int, off: float) -> "Zone":
        """Of so many, the second one of which begins so much farther on than was foreseen."""
        return self.by_cylinders(tracks, (self.skew + off) % 1)

    def by_cylinders(self, tracks: int, skew: float) -> "Zone":
        """Of so many, that begin with that skew."""
        band = NEVER * tracks
        return replace(self, cylinder=tracks, cylinder_skew=skew, band=band, band_skew=skew)

    def with_spare(self, tracks: int, sectors: int) -> "Zone":
        """By cylinders of so many tracks, the last of which has so many sectors less."""
        return replace(self.by_cylinders(tracks, self.skew), cylinder_spare=sectors)

    def with_one_band(self, tracks: int) -> "Zone":
        """Of all its tracks, or, if nothing tells a surface's end, of one each."""
        surfaces = -(-tracks // self.cylinder) if self.cylinder > 1 else 1
        return replace(self, band=surfaces * self.cylinder, band_skew=self.cylinder_skew)

    def with_bands(self, tracks: int, off: float) -> "Zone":
        """Of so many, the second one of which begins so much farther on than was foreseen."""
        return replace(self, band=tracks, band_skew=(self.cylinder_skew + off) % 1)


@dataclass(frozen=True)
class Layout:
    """All zones, from the outermost; `share` of so many random sectors were where it says."""

    zones: tuple[Zone, ...]
    capacity_sectors: int
    share: float = 0.0
    looked: int = 0
    surfaces: bool = False

    def index(self, sector: int) -> int:
        """Of the zone that holds it."""
        return bisect_right(self.zones, sector, key=lambda zone: zone.first) - 1

    def zone(self, sector: int) -> Zone:
        """That holds it."""
        return self.zones[self.index(sector)]

    def over_bus(self, bus_turns: float) -> "Layout":
        """The same, if what was taken for where sectors have passed is where they were over a bus
        that takes so long for one."""
        zones = [
            replace(zone, angle=(zone.angle + zone.lead() - zone.lead(bus_turns)) % 1)
            for zone in self.zones
        ]
        return replace(self, zones=tuple(zones))

    def along_surfaces(self) -> "Layout":
        """The same, if the tracks of a cylinder are those along one surface, and so each zone
        has bands."""
        ends = [*(zone.first for zone in self.zones[1:]), self.capacity_sectors]
        zones = [
            zone if zone.has_bands else zone.with_one_band(zone.tracks(end - zone.first))
            for zone, end in zip(self.zones, ends, strict=True)
        ]
        return replace(self, zones=tuple(zones), surfaces=True)

    def findings(self) -> list[Finding]:
        """In the profile's words."""
        names: tuple[str, ...] = NAMES
        if any(zone.has_bands for zone in self.zones):
            names += BANDS
        if any(zone.cylinder_spare for zone in self.zones):
            names += SPARE
        said = f"{self.share:.1%} of {self.looked} random sectors are within 1 % of a turn"
        columns = [Finding(KEYS[name], self._column(name), said) for name in names]
        if self.surfaces:
            columns.append(Finding("tracks.surfaces", True, "the arm has less far to go so"))
        return (
            columns
            + [Finding(f"facts.{name}", UNKNOWN) for name in ("vendor", "model")]
            + [Finding("facts.capacity_sectors", self.capacity_sectors)]
        )

    def _column(self, name: str) -> Sequence[float] | Sequence[int]:
        if name == "at":
            return [round(zone.first / self.capacity_sectors, DIGITS) for zone in self.zones]
        values = [getattr(zone, name) for zone in self.zones]
        return [_turns(each) if isinstance(each, float) else each for each in values]


@dataclass(frozen=True)
class Unseen:
    """There is no layout, or none that a profile has words for."""

    why: str

    def findings(self) -> list[Finding]:
        """In the profile's words."""
        return [not_seen(KEYS[name], self.why) for name in ANGLES]


def worded(found: Layout) -> Layout | Unseen:
    """The same, if a profile has words for it."""
    tracks = {each.name: each.value for each in found.findings() if each.section == "tracks"}
    try:
        Tracks.model_validate(tracks)
    except ValidationError as error:
        return Unseen(f"what was found contradicts itself: {error.errors()[0]['msg']}")
    return found


def _turns(turns: float) -> float:
    """Less than one, in the file as well."""
    return round(turns, DIGITS) % 1


def centred(turns: float) -> float:
    """The same angle, from half a turn before to half a turn after."""
    return (turns + 0.5) % 1 - 0.5
