# SPDX-License-Identifier: MIT
"""The layout of the platters: the angle at which each sector passes under the head.

Angles are in rotations; angle 0 passes at time 0 of the target's clock.  In a recording zone all
tracks are equally long, and each track has the same skew against the previous track.  Tracks that
begin a cylinder (or, on drives that lay sectors out along surfaces, a surface) have another skew.
Tracks that begin a band of cylinders may have a third skew (understudy_devices/device/layout.py).
"""

from bisect import bisect_right
from dataclasses import dataclass, replace
from functools import cached_property

from pydantic import ValidationError

from understudy_devices.device import layout as device
from understudy_devices.device.layout import Level
from understudy_devices.profiler.findings.finding import Finding, not_seen

DIGITS = 12  # digits of a skew: its error is multiplied by a zone's number of tracks, up to 10^6
ZONES, SLIPS = "layout.zones", "layout.slips"
UNKNOWN = "unknown"
NEVER = 2**20  # cylinders of a band in a zone without bands: more than any zone has


@dataclass(frozen=True)
class Zone:
    """Tracks from sector `first` on.

    A track has `sectors` addressable sectors and `slots` slots.  `skew` is the angle from the end
    of a track's last sector to the next track's first sector; it includes spare slots.  After each
    `cylinder` tracks the angle is `cylinder_skew` instead, and after each `band` tracks
    `band_skew`.  If one of the skews does not occur, it equals another skew.  The last track of a
    cylinder has `cylinder_spare` sectors fewer, and that of a band `band_spare`; the slots of these
    sectors still pass.
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
    band_spare: int = 0

    @classmethod
    def even(cls, first: int, sectors: int, slots: int, angle: float, skew: float) -> "Zone":
        """Return a zone in which all skews are equal."""
        return cls(first, sectors, slots, angle, skew, 1, skew, NEVER, skew)

    def alone(self) -> "Zone":
        """Return a zone with tracks like the first track, whose skew is only the spare slots."""
        skew = (self.slots - self.sectors) / self.slots
        return self.even(self.first, self.sectors, self.slots, self.angle, skew)

    @property
    def has_bands(self) -> bool:
        """Return whether the zone has more than one band."""
        return self.band < NEVER * self.cylinder

    @property
    def cylinder_sectors(self) -> int:
        """Return the number of addressable sectors of a cylinder."""
        return self.cylinder * self.sectors - self.cylinder_spare

    @property
    def _within(self) -> int:
        """Return the number of cylinders that end within a band."""
        return (self.band - 1) // self.cylinder

    @property
    def _band_sectors(self) -> int:
        spare = self._within * self.cylinder_spare + self.band_spare
        return self.band * self.sectors - spare

    def track(self, number: int) -> int:
        """Return the first sector of a track."""
        bands, rest = divmod(number, self.band)
        cylinders, tracks = divmod(rest, self.cylinder)
        sectors = cylinders * self.cylinder_sectors + tracks * self.sectors
        return self.first + bands * self._band_sectors + sectors

    def _counts(self, sectors: int) -> tuple[int, int, int]:
        """Return how many whole bands `sectors` sectors fill, how many whole cylinders after these
        bands, and how many whole tracks after these cylinders.
        """
        bands, rest, cylinders = 0, sectors, sectors // self.cylinder_sectors
        if self.has_bands:
            bands, rest = divmod(sectors, self._band_sectors)
            cylinders = min(rest // self.cylinder_sectors, self._within)
        return bands, cylinders, (rest - cylinders * self.cylinder_sectors) // self.sectors

    def tracks(self, sectors: int) -> int:
        """Return the number of whole tracks in the zone's first `sectors` sectors."""
        bands, cylinders, tracks = self._counts(sectors)
        return bands * self.band + cylinders * self.cylinder + tracks

    def slipped(self, slots: int) -> "Zone":
        """Return the zone after `slots` slipped sectors: later sectors are that many slots farther
        on.
        """
        return replace(self, first=self.first - slots)

    def begun_by(self, sector: int) -> "Zone":
        """Return the same rule, counted from a boundary of a band or cylinder at or before
        `sector`.
        """
        unit = self.band if self.has_bands else self.cylinder
        sectors = self.track(unit) - self.first
        units = -((sector - self.first) // sectors)
        ahead = (self.turn(self.first + sectors) - self.angle) * units
        return replace(self, first=self.first - units * sectors, angle=(self.angle - ahead) % 1)

    def turn(self, sector: int) -> float:
        """Return the angle at which the sector begins."""
        passed = sector - self.first
        bands, cylinders, tracks = self._counts(passed)
        spares = (cylinders + bands * self._within) * self.cylinder_spare + bands * self.band_spare
        tracks += bands * self.band + cylinders * self.cylinder
        cylinders += bands * self._within
        skews = (tracks - cylinders - bands) * self.skew
        skews += cylinders * self.cylinder_skew + bands * self.band_skew
        return (self.angle + skews + (passed + spares) % self.slots / self.slots) % 1

    def lead(self, bus_turns: float = 0.0) -> float:
        """Return the time in rotations from a sector's beginning until the sector has passed and
        the bus, which needs `bus_turns` rotations, has transferred the sector.
        """
        return max(1 / self.slots, bus_turns)

    def end(self, sector: int, bus_turns: float = 0.0) -> float:
        """Return the angle at which a read of the sector completes."""
        return (self.turn(sector) + self.lead(bus_turns)) % 1

    def refined(self, track: int, off: float) -> "Zone":
        """Return the same zone with that track `off` rotations later: distribute `off` evenly over
        the skews before the track.
        """
        if track >= self.band:
            return replace(self, band_skew=(self.band_skew + off / (track // self.band)) % 1)
        if track < self.cylinder:
            return self
        skew = (self.cylinder_skew + off / (track // self.cylinder)) % 1
        if self.cylinder > 1:
            return replace(self, cylinder_skew=skew)
        return replace(self, skew=skew, cylinder_skew=skew)

    def with_cylinders(self, tracks: int, off: float) -> "Zone":
        """Return the zone with cylinders of `tracks` tracks; the second cylinder begins `off`
        rotations later than without cylinders.
        """
        return self.by_cylinders(tracks, (self.skew + off) % 1)

    def by_cylinders(self, tracks: int, skew: float, spare: int = 0) -> "Zone":
        """Return the zone with cylinders of `tracks` tracks and that skew between cylinders; each
        cylinder's last track has `spare` sectors fewer.
        """
        even = self.even(self.first, self.sectors, self.slots, self.angle, self.skew)
        band = NEVER * tracks
        return replace(even, cylinder=tracks, cylinder_skew=skew, band=band, cylinder_spare=spare)

    def with_one_band(self, tracks: int) -> "Zone":
        """Return the zone as a single band of all `tracks` tracks; if the zone has no cylinders,
        and thus no known end of a surface, return bands of one track.
        """
        surfaces = -(-tracks // self.cylinder) if self.cylinder > 1 else 1
        return self.with_bands(surfaces * self.cylinder, self.cylinder_skew)

    def with_bands(self, tracks: int, skew: float, spare: int = 0) -> "Zone":
        """Return the zone with bands of `tracks` tracks and that skew between bands; each band's
        last track has `spare` sectors fewer.
        """
        return replace(self, band=tracks, band_skew=skew % 1, band_spare=spare)

    def profiled(self, *, along_surfaces: bool) -> device.Zone:
        """Convert to a profile's zone."""
        cylinder = Level(self.cylinder, _turns(self.cylinder_skew), self.cylinder_spare)
        band = Level(self.band, _turns(self.band_skew), self.band_spare)
        return device.Zone(
            self.first,
            self.sectors,
            self.slots,
            _turns(self.angle),
            _turns(self.skew),
            cylinder if self.cylinder > 1 or self.has_bands or self.cylinder_spare else None,
            band if self.has_bands else None,
            along_surfaces,
        )


@dataclass(frozen=True)
class Layout:
    """All recording zones, from the outermost, and all slips; a slip is a sector and the number of
    slots that the drive skips there.

    Of `looked` random sectors, the share `share` was at the expected angle.
    """

    zones: tuple[Zone, ...]
    capacity_sectors: int
    share: float = 0.0
    looked: int = 0
    surfaces: bool = False
    slips: tuple[tuple[int, int], ...] = ()

    @cached_property
    def parts(self) -> list[tuple[int, Zone]]:
        """Return the parts of the disk between slips and ends of zones, each as its first sector
        and its rule.
        """
        slips = dict(self.slips)
        zones = {zone.first: zone for zone in self.zones}
        parts: list[tuple[int, Zone]] = []
        for first in sorted({*slips, *zones}):
            zone = zones[first] if first in zones else parts[-1][1]
            parts.append((first, zone.slipped(slips.get(first, 0))))
        return parts

    def index(self, sector: int) -> int:
        """Return the index of the zone that contains the sector."""
        return bisect_right(self.zones, sector, key=lambda zone: zone.first) - 1

    def zone(self, sector: int) -> Zone:
        """Return the zone that contains the sector, shifted by the slips before the sector."""
        return self.parts[bisect_right(self.parts, sector, key=lambda part: part[0]) - 1][1]

    def end(self, index: int) -> int:
        """Return the end of the zone with that index."""
        zones = self.zones
        return zones[index + 1].first if index + 1 < len(zones) else self.capacity_sectors

    def tracks(self, index: int) -> int:
        """Return the number of tracks of the zone with that index, including a partial track at its
        end.
        """
        last = self.end(index) - 1
        zone = self.zone(last)
        return zone.tracks(last - zone.first) + 1

    def track(self, index: int, number: int) -> int:
        """Return the first sector of a track of that zone; if sectors were slipped, a sector near
        it.
        """
        first, last = self.zones[index].first, self.end(index) - 1
        sector = self.zones[index].track(number)
        for _ in range(2):
            sector = self.zone(min(max(sector, first), last)).track(number)
        return min(max(sector, first), last)

    def over_bus(self, bus_turns: float) -> "Layout":
        """Return the same layout, corrected for a bus that needs `bus_turns` rotations for a
        sector: the angles were computed for a bus faster than the medium.
        """
        zones = [
            replace(zone, angle=(zone.angle + zone.lead() - zone.lead(bus_turns)) % 1)
            for zone in self.zones
        ]
        return replace(self, zones=tuple(zones))

    def along_surfaces(self) -> "Layout":
        """Return the same layout with bands in each zone, in which each former cylinder is the
        tracks of a band on one surface.
        """
        zones = [
            zone if zone.has_bands else zone.with_one_band(self.tracks(index))
            for index, zone in enumerate(self.zones)
        ]
        return replace(self, zones=tuple(zones), surfaces=True)

    def findings(self) -> list[Finding]:
        """Convert to findings."""
        confidence = f"{self.share:.1%} of {self.looked} random sectors are within 1 % of a turn"
        zones = [zone.profiled(along_surfaces=self.surfaces) for zone in self.zones]
        findings = [Finding(ZONES, device.zones_text(zones), confidence)]
        if self.slips:
            text = device.slips_text(self.slips)
            findings.append(Finding(SLIPS, text, f"{len(self.slips)} places"))
        return [*findings, *size(self.capacity_sectors)]


def size(capacity_sectors: int) -> list[Finding]:
    """Return the findings for the disk's size, without which a profile's layout is invalid."""
    names = [Finding(f"facts.{name}", UNKNOWN) for name in ("vendor", "model")]
    return [*names, Finding("facts.capacity_sectors", capacity_sectors)]


@dataclass(frozen=True)
class Unseen:
    """The reason why there is no layout, or no layout that a profile can describe."""

    why: str

    def findings(self) -> list[Finding]:
        """Convert to findings."""
        return [not_seen("layout.angles", self.why)]


def worded(layout: Layout) -> Layout | Unseen:
    """Return the layout if a profile can describe it, otherwise the reason why not."""
    tables = {each.name: each.value for each in layout.findings() if each.section == "layout"}
    try:
        device.Layout.model_validate(tables)
    except ValidationError as error:
        return Unseen(f"what was found contradicts itself: {error.errors()[0]['msg']}")
    return layout


def _turns(turns: float) -> float:
    """Return the angle in rotations, rounded to DIGITS and less than 1."""
    return round(turns, DIGITS) % 1


def centred(turns: float) -> float:
    """Return the same angle between -1/2 and 1/2 rotation."""
    return (turns + 0.5) % 1 - 0.5
