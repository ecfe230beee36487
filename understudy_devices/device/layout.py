# SPDX-License-Identifier: MIT
"""The section [layout] of a profile: the track of each sector and, if known, the sector's angle
(core/drive/tracks.h, core/drive/platter.h)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import Annotated, Any

from pydantic import BeforeValidator, ValidationInfo, model_validator

from understudy_devices.base.errors import UserError
from understudy_devices.device import table
from understudy_devices.device.section import Ms, Section, exact, wrong
from understudy_devices.device.table import Column
from understudy_devices.device.timing import (
    NO_LEVEL,
    TURN,
    Curve,
    TrackLevel,
    Tracks,
    TrackZone,
    steps,
)

TRACK_SECTORS_MAX = 2**20  # TRACKS_SECTORS_MAX in core/drive/tracks.h
ZONES_MAX = 1024  # TRACKS_ZONES_MAX
SLIPS_MAX = 16384  # TRACKS_SLIPS_MAX
STEP = 2**16  # one sector in the units of struct tracks
SIZE_STEP = 2**11  # sectors; sizes are whole MiB, so a disk of the real size may lack this many

SECTORS = Column(1, TRACK_SECTORS_MAX)
SPARE = Column(0, TRACK_SECTORS_MAX - 1)
TURNS = Column(share=True)
TRACKS = Column(1, 2**31)
NAMES = ("first_sector", "track_sectors", "slots", "angle_turns", "skew_turns")
CYLINDER, SURFACE, BAND = "cylinder", "surface", "band"
LEVEL = {"tracks": TRACKS, "skew_turns": TURNS, "spare_sectors": SPARE}
ZONE = {
    "first_sector": Column(),
    "track_sectors": SECTORS,
    "slots": Column(2, TRACK_SECTORS_MAX),
    "angle_turns": TURNS,
    "skew_turns": TURNS,
} | {f"{name}_{key}": column for name in (CYLINDER, SURFACE, BAND) for key, column in LEVEL.items()}
SLIP = {"sector": Column(), "slots": Column(-1, 2**31)}


@dataclass(frozen=True)
class Level:
    """A group of tracks.

    The last track has `spare` sectors that hold no data but pass under the head like others.
    `skew` is the angle, in rotations, from the end of the last track to the beginning of the next
    group.
    """

    tracks: int
    skew: float
    spare: int = 0


@dataclass(frozen=True)
class Zone:
    """A recording zone: its first sector on the real disk, and the number of sectors in a track.

    The other fields describe the angles of sectors, or are None.  `slots` is the number of sectors
    that pass under the head in a rotation, including spare sectors; `angle` is the angle of the
    zone's first sector.  `skew` is the angle from a track's end to the next track's beginning.  The
    last track of a `cylinder`, or of a `band` of cylinders, has the skew of that level instead.
    If `surfaces` is true, the tracks of the inner level are adjacent tracks on one surface, and the
    band continues on the next surface in the opposite direction.
    """

    first: int
    sectors: int
    slots: int | None = None
    angle: float | None = None
    skew: float | None = None
    cylinder: Level | None = None
    band: Level | None = None
    surfaces: bool = False

    @property
    def cells(self) -> tuple[object, ...]:
        """Return the zone's values in the order of the columns of ZONE."""
        cylinder, surface = (None, self.cylinder) if self.surfaces else (self.cylinder, None)
        levels = (_cells(level) for level in (cylinder, surface, self.band))
        plain = (self.first, self.sectors, self.slots, self.angle, self.skew)
        return (*plain, *(cell for level in levels for cell in level))

    def levels(self) -> list[Level]:
        """Return the levels, innermost first."""
        return [level for level in (self.cylinder, self.band) if level]

    def core(self, first: int, before: int) -> TrackZone:
        """Return the zone in the units of core/.

        `first` is its first sector; `before` is the number of tracks before the zone.
        """
        slots, cylinder = self.slots, _core(self.cylinder, NO_LEVEL, 0, self.sectors)
        spare = self.cylinder.spare if self.cylinder else 0
        band = _core(self.band, cylinder, spare, self.sectors)
        return TrackZone(
            first=first,
            sectors=self.sectors,
            slot=round(Fraction(TURN, slots)) if slots else 0,
            angle=angle(self.angle or 0.0),
            skew=angle(self.skew or 0.0),
            cylinder=cylinder,
            band=band,
            before=before,
        )


def _cells(level: Level | None) -> tuple[object, ...]:
    return (level.tracks, level.skew, level.spare or None) if level else (None, None, None)


def _core(level: Level | None, below: TrackLevel, spare: int, sectors: int) -> TrackLevel:
    """Return a level in the units of core/."""
    if not level:
        return NO_LEVEL
    within = (level.tracks - 1) // below.tracks if below.tracks else 0
    held = level.tracks * sectors - within * spare - level.spare
    return TrackLevel(level.tracks, held, angle(level.skew))


def tracks_of(zone: TrackZone, places: int) -> int:
    """Return how many tracks the first `places` sectors of a zone occupy, wholly or partly."""
    last, tracks, band, cylinder = places - 1, 0, zone.band, zone.cylinder
    if band.tracks:
        tracks += last // band.sectors * band.tracks
        last %= band.sectors
    if cylinder.tracks:
        cylinders = last // cylinder.sectors
        if band.tracks:
            cylinders = min(cylinders, (band.tracks - 1) // cylinder.tracks)
        tracks += cylinders * cylinder.tracks
        last -= cylinders * cylinder.sectors
    return tracks + last // zone.sectors + 1


def angle(turns: float) -> int:
    """Return an angle, given in rotations, in the units of core/."""
    return round(exact(turns) * TURN) % TURN


# ---- tables ---------------------------------------------------------------------------------


def zones_text(zones: Sequence[Zone]) -> str:
    """Return the table of zones, as in a profile."""
    return table.text(list(ZONE), [zone.cells for zone in zones])


def slips_text(slips: Sequence[tuple[int, int]]) -> str:
    """Return the table of slips, as in a profile."""
    return table.text(list(SLIP), slips)


def _zones(value: object, info: ValidationInfo) -> tuple[Zone, ...]:
    if isinstance(value, tuple):  # from a model that was already checked
        return value
    rows = table.rows(value, info, ZONE)
    if len(rows) > ZONES_MAX:
        raise wrong("", f"has {len(rows)} rows, more than {ZONES_MAX}")
    return tuple(_zone(row, number) for number, row in enumerate(rows, 2))


def _zone(row: table.Row, number: int) -> Zone:
    has = {name for name, value in row.items() if value is not None}
    needed = set(NAMES if has - set(NAMES[:2]) else NAMES[:2])
    if has & {f"{SURFACE}_tracks"}:
        needed |= {f"{BAND}_tracks"}
    if has & {f"{BAND}_tracks"} and f"{SURFACE}_tracks" not in has:
        needed |= {f"{CYLINDER}_tracks"}
    for level in (CYLINDER, SURFACE, BAND):
        if any(name.startswith(level) for name in has):
            needed |= {f"{level}_tracks", f"{level}_skew_turns"}
    for name in [*ZONE, *NAMES]:
        if name in needed - has:
            raise wrong("", f"line {number}: {name} is missing")
    if {f"{CYLINDER}_tracks", f"{SURFACE}_tracks"} <= has:
        raise wrong("", f"line {number}: tracks lie along cylinders or along surfaces, not both")
    along = SURFACE if f"{SURFACE}_tracks" in has else CYLINDER
    first, sectors = row[NAMES[0]], row[NAMES[1]]
    slots, start, skew = (row.get(name) for name in NAMES[2:])
    levels = _level(row, along), _level(row, BAND)
    zone = Zone(first, sectors, slots, start, skew, *levels, along == SURFACE)
    if why := _fault(zone):
        raise wrong("", f"line {number}: {why}")
    return zone


def _level(row: table.Row, name: str) -> Level | None:
    if row.get(f"{name}_tracks") is None:
        return None
    spare = row.get(f"{name}_spare_sectors") or 0
    return Level(row[f"{name}_tracks"], row[f"{name}_skew_turns"], spare)


def _fault(zone: Zone) -> str:
    """Return why the zone's values contradict each other; an empty string if they do not.

    A skew must be at least as long as the spare slots, which pass under the head before the next
    track begins.  The comparison tolerates a rounding error of one slot.
    """
    if zone.slots is None:
        return ""
    if zone.slots < zone.sectors:
        return f"{zone.slots} slots are too few for a track of {zone.sectors}"
    left = zone.slots - zone.sectors
    for skew in (zone.skew or 0.0, *(level.skew for level in zone.levels())):
        if skew * zone.slots < left - 1:
            return f"a skew of {skew} is less than the {left} spare slots of {zone.slots}"
    for level in zone.levels():
        if level.spare >= zone.sectors:
            return f"{level.spare} spare sectors leave nothing of a track of {zone.sectors}"
    if zone.cylinder and zone.band and zone.band.tracks % zone.cylinder.tracks and zone.surfaces:
        return f"a band of {zone.band.tracks} tracks is not a multiple of {zone.cylinder.tracks}"
    return ""


def _slips(value: object, info: ValidationInfo) -> tuple[tuple[int, int], ...]:
    if isinstance(value, tuple):
        return value
    rows = [(row.get("sector"), row.get("slots")) for row in table.rows(value, info, SLIP)]
    if len(rows) > SLIPS_MAX:
        raise wrong("", f"has {len(rows)} rows, more than {SLIPS_MAX}")
    for number, row in enumerate(rows, 2):
        if None in row:
            raise wrong("", f"line {number}: a slip needs a sector and slots")
    slips: Any = rows
    for number, ((before, _), (after, _)) in enumerate(pairwise(slips), 3):
        if after <= before:
            raise wrong("", f"line {number}: sector {after} is not behind {before}")
    return tuple(slips)


# ---- the section ----------------------------------------------------------------------------


class Layout(Section):
    """The recording zones of the disk, as a table (ZONE).

    A transfer across a track's end takes `switch_ms` longer.  If angles are known, the skews
    determine this additional time instead; between two zones it is at least `switch_ms`.

    `slips` is another table.  An entry shifts all sectors, from the entry's sector to the end of
    the zone, by a number of slots.  An entry of -1 undoes one slot of the earlier shifts, at a
    spare sector.
    """

    zones: Annotated[tuple[Zone, ...], BeforeValidator(_zones)]
    """The recording zones, as a table with a line for each."""
    slips: Annotated[tuple[tuple[int, int], ...], BeforeValidator(_slips)] = ()
    """Sectors that the drive leaves out, as a table."""
    switch_ms: Ms = 0.0
    """Time of a transfer from one track to the next."""

    @model_validator(mode="after")
    def _check(self) -> "Layout":
        if self.zones[0].first:
            raise wrong("zones", f"begins at {self.zones[0].first}, not at 0")
        for number, (zone, after) in enumerate(pairwise(self.zones), 3):
            if after.first - zone.first < zone.sectors:
                raise wrong(
                    "zones",
                    f"line {number}: {after.first} is less than a track of {zone.sectors} after "
                    f"{zone.first}",
                )
            if (after.slots is None) != (zone.slots is None):
                raise wrong("zones", f"line {number}: give angles for all zones or for none")
        if self.slips and min(self.slipped(), key=lambda slip: slip[1])[1] < 0:
            raise wrong("slips", "absorbs more slots than were slipped in its zone")
        return self

    def keys(self) -> dict[str, str | float]:
        """Return the section's keys, as in a profile."""
        section: dict[str, str | float] = {"zones": zones_text(self.zones)}
        if self.slips:
            section["slips"] = slips_text(self.slips)
        return section | {"switch_ms": self.switch_ms}

    @property
    def knows_angles(self) -> bool:
        """Return whether the layout contains each sector's angle."""
        return self.zones[0].slots is not None

    def slipped(self) -> tuple[tuple[int, int], ...]:
        """Return the slips, each with the total shift from that sector on: the sum over the slips
        of its zone until then, in slots."""
        firsts = iter([*(zone.first for zone in self.zones[1:]), 2**64])
        end, total, shifts = next(firsts), 0, []
        for sector, slots in self.slips:
            while sector >= end:
                end, total = next(firsts), 0
            total += slots
            shifts.append((sector, total))
        return tuple(shifts)

    def check_against(self, capacity_sectors: int) -> None:
        """Check that the layout fits a disk of that size."""
        last = self.zones[-1]
        if capacity_sectors - last.first < last.sectors:
            raise wrong(
                "layout.zones",
                f"{last.first} is less than a track before the end, {capacity_sectors}",
            )
        if self.slips and self.slips[-1][0] >= capacity_sectors:
            raise wrong("layout.slips", f"{self.slips[-1][0]} is behind the end")

    def tracks(
        self, capacity_sectors: int, real_sectors: int, period_ms: float | None, *, counts: bool
    ) -> Tracks:
        """Return the tracks of a disk of that size, without angles if no period is given.

        If `counts` is true, seek distances are counted in tracks.  Only a disk of the real size,
        or of the real size rounded down to a MiB, has slips.  On a smaller disk, a zone that
        would be shorter than a track is joined to the zone before it.
        """
        if capacity_sectors < self.zones[0].sectors:
            raise UserError(
                f"layout.zones: a track of {self.zones[0].sectors} is longer than a disk of "
                f"{capacity_sectors} sectors; take a larger --virtual-size"
            )
        is_real = 0 <= real_sectors - capacity_sectors < SIZE_STEP
        parts = self._at_size(capacity_sectors, capacity_sectors if is_real else real_sectors)
        slips = [slip for slip in self.slipped() if slip[0] < capacity_sectors] if is_real else []
        zones: list[TrackZone] = []
        before = 0
        ends = [*(at for _, at in parts[1:]), capacity_sectors]
        for (zone, first), end in zip(parts, ends, strict=True):
            slipped = [more for sector, more in slips if first <= sector < end]
            core = zone.core(first, before)
            number = tracks_of(core, end - first + (slipped[-1] if slipped else 0))
            if zone.surfaces and number > core.band.tracks - core.cylinder.tracks:
                core = replace(core, surfaces=core.band.tracks // core.cylinder.tracks)
            zones.append(core)
            before += number
        return Tracks(
            zones=tuple(zones),
            slips=tuple(slips),
            velocity=round(TURN / (exact(period_ms) * 10**6)) if period_ms else 0,
            step=round(Fraction(capacity_sectors * STEP, before)) if counts else 0,
        )

    def _at_size(self, capacity_sectors: int, real_sectors: int) -> list[tuple[Zone, int]]:
        """Return the zones on a disk of that size, each with its first sector."""
        half = real_sectors // 2
        firsts = [(zone.first * capacity_sectors + half) // real_sectors for zone in self.zones]
        ends = [*firsts[1:], capacity_sectors]
        return [
            (zone, first)
            for zone, first, end in zip(self.zones, firsts, ends, strict=True)
            if end - first >= zone.sectors or zone is self.zones[0]
        ]

    @staticmethod
    def transfer(period_ms: float, tracks: Tracks, capacity_sectors: int) -> Curve:
        """Return the time in ps that a sector needs to pass under the head, as a curve over the
        sectors; the angles must be known."""
        period_ps = exact(period_ms) * 10**9
        rates = [
            (zone.first, round(period_ps / round(TURN / Fraction(zone.slot))))
            for zone in tracks.zones
        ]
        return steps(rates, capacity_sectors)
