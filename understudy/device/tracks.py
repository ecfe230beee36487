# SPDX-License-Identifier: MIT
"""[tracks] of a profile: where tracks end and, if it says that too, on which angle each of
their sectors lies (core/drive/tracks.h, core/drive/platter.h).

With k sectors before it in its zone, t = k // sectors, b = t // band (0 without bands) and
c = t // cylinder - b, a sector begins to pass under the head, in turns, at

    angle + k / slots + (t - c - b) * skew + c * cylinder_skew + b * band_skew

Where the last track of a cylinder is shorter, by cylinder_spare sectors, those of all cylinders
before the sector are counted in t as well.
"""

from fractions import Fraction
from itertools import pairwise
from typing import Annotated, Self

from pydantic import Field, model_validator

from understudy.base.errors import UserError
from understudy.device.section import (
    ARRAY,
    SECTORS_MAX,
    DiskFraction,
    Ms,
    Section,
    check_places,
    exact,
    wrong,
)
from understudy.device.timing import TURN, Curve, Platter, PlatterZone, steps

TRACK_SECTORS_MAX = 2**20  # TRACKS_SECTORS_MAX in core/drive/tracks.h
ZONES_MAX = 1024  # PLATTER_ZONES_MAX in core/drive/platter.h
ANGLES = ("first", "slots", "angle", "skew", "cylinder", "cylinder_skew")
BANDS = ("band", "band_skew")
SPARE = ("cylinder_spare",)
APART_MAX = 1e-3  # of the disk: places that are rounded
SIZE_STEP = 2**11  # sectors: sizes are whole MiB, so the real disk's is less by so much

ZONES = Field(strict=False, max_length=ZONES_MAX)
TrackSectors = Annotated[int, Field(ge=1, le=TRACK_SECTORS_MAX)]
Slots = Annotated[int, Field(ge=2, le=TRACK_SECTORS_MAX)]
Sector = Annotated[int, Field(ge=0, lt=SECTORS_MAX)]
Count = Annotated[int, Field(ge=1, le=SECTORS_MAX)]
Spare = Annotated[int, Field(ge=0, lt=TRACK_SECTORS_MAX)]
Turns = Annotated[float, Field(ge=0, lt=1)]


class Tracks(Section):
    """How many sectors the tracks of each zone have; where a zone begins is a fraction of
    the disk.  A transfer that goes over a track's end takes a switch.

    The keys from `first` on, all of them or none, say on which angle a sector lies: `first` is
    a zone's first sector on the real disk, `slots` counts a track's spare sectors as well,
    `angle` and the skews are turns.  From the end of a track's last sector to the beginning
    of the next track's first one it is `skew`, after each `cylinder` of tracks
    `cylinder_skew`, and after each `band` of those, if there are bands, `band_skew`; a cylinder's
    last track is `cylinder_spare` sectors shorter, if that is given.  From a
    zone to the next one it is `switch_ms` at least.  With `surfaces` a cylinder's tracks lie
    beside each other on one surface, and those of the band's next one on the next, backwards.
    """

    sectors: Annotated[tuple[TrackSectors, ...], ARRAY]
    at: Annotated[tuple[DiskFraction, ...], ARRAY]
    switch_ms: Ms = 0.0
    first: Annotated[tuple[Sector, ...], ZONES] | None = None
    slots: Annotated[tuple[Slots, ...], ZONES] | None = None
    angle: Annotated[tuple[Turns, ...], ZONES] | None = None
    skew: Annotated[tuple[Turns, ...], ZONES] | None = None
    cylinder: Annotated[tuple[Count, ...], ZONES] | None = None
    cylinder_skew: Annotated[tuple[Turns, ...], ZONES] | None = None
    band: Annotated[tuple[Count, ...], ZONES] | None = None
    band_skew: Annotated[tuple[Turns, ...], ZONES] | None = None
    cylinder_spare: Annotated[tuple[Spare, ...], ZONES] | None = None
    surfaces: bool = False

    @model_validator(mode="after")
    def _check(self) -> Self:
        check_places(self.at, len(self.sectors))
        if self.at[-1] == 1:
            raise wrong("at", "a zone begins at 1, where the disk ends")
        self._check_together(ANGLES)
        self._check_together(BANDS)
        self._check_together(SPARE)
        self._check_spare()
        if self.first and self.slots:
            self._check_first(self.first)
            self._check_slots(self.slots)
            none = (0,) * len(self.slots)
            spare = self.cylinder_spare or none
            for key, spares in (("skew", none), ("cylinder_skew", spare), ("band_skew", spare)):
                if getattr(self, key):
                    self._check_skew(key, getattr(self, key), self.slots, spares)
        self._check_bands()
        return self

    @property
    def knows_angles(self) -> bool:
        """Whether each sector has one."""
        return self.angle is not None

    def _check_together(self, keys: tuple[str, ...]) -> None:
        """All of the keys, each with a value for each zone, or none."""
        given = [key for key in keys if getattr(self, key) is not None]
        missing = [key for key in keys if key not in given]
        if given and missing:
            raise wrong(missing[0], f"is missing, and {given[0]} is there: they go together")
        for key in given:
            if len(getattr(self, key)) != len(self.sectors):
                raise wrong(
                    key, f"has {len(getattr(self, key))} values for {len(self.sectors)} zones"
                )

    def _check_first(self, first: tuple[int, ...]) -> None:
        if first[0] != 0:
            raise wrong("first", f"begins at {first[0]}, not at 0")
        for (before, after), sectors in zip(pairwise(first), self.sectors[:-1], strict=True):
            if after - before < sectors:
                raise wrong("first", f"{after} is less than a track of {sectors} after {before}")

    def _check_slots(self, slots: tuple[int, ...]) -> None:
        for room, sectors in zip(slots, self.sectors, strict=True):
            if room < sectors:
                raise wrong("slots", f"{room} slots are too few for a track of {sectors}")

    def _check_skew(
        self, key: str, skews: tuple[float, ...], slots: tuple[int, ...], spares: tuple[int, ...]
    ) -> None:
        """Spare slots pass before the next track begins; one of them may be rounding."""
        for turns, room, sectors, more in zip(skews, slots, self.sectors, spares, strict=True):
            left = room - sectors + more
            if turns * room < left - 1:
                raise wrong(
                    key,
                    f"{turns} of a turn is less than the {left} spare slots of {room}, which count",
                )

    def _check_spare(self) -> None:
        if not self.cylinder_spare:
            return
        if not self.cylinder:
            raise wrong("cylinder_spare", "no angles are known; add " + ", ".join(ANGLES))
        for spare, sectors in zip(self.cylinder_spare, self.sectors, strict=True):
            if spare >= sectors:
                raise wrong("cylinder_spare", f"{spare} leave nothing of a track of {sectors}")

    def _check_bands(self) -> None:
        if self.surfaces and not self.band:
            raise wrong("surfaces", "along which bands? add " + ", ".join(BANDS))
        if not self.band:
            return
        if not self.cylinder:
            raise wrong("band", "no angles are known; add " + ", ".join(ANGLES))
        for band, cylinder in zip(self.band, self.cylinder, strict=True):
            if band % cylinder:
                raise wrong("band", f"{band} tracks are no multiple of a cylinder's {cylinder}")

    def check_against(self, capacity_sectors: int) -> None:
        """Do `first` and `at` say the same of a disk of that size?"""
        assert self.first
        if capacity_sectors - self.first[-1] < self.sectors[-1]:
            raise wrong(
                "tracks.first",
                f"{self.first[-1]} is less than a track before the end, {capacity_sectors}",
            )
        for first, at in zip(self.first, self.at, strict=True):
            if abs(first / capacity_sectors - at) > APART_MAX:
                raise wrong(
                    "tracks.first",
                    f"{first} of {capacity_sectors} sectors is not at {at}, as tracks.at says",
                )

    def _firsts(self, capacity_sectors: int, real_sectors: int | None) -> list[int]:
        """Each zone's first sector on a disk of that size; the real one's as a whole number of
        MiB is the real one."""
        if not self.first or not real_sectors:
            return [round(exact(at) * capacity_sectors) for at in self.at]
        if 0 <= real_sectors - capacity_sectors < SIZE_STEP:
            return list(self.first)
        half = real_sectors // 2
        return [(first * capacity_sectors + half) // real_sectors for first in self.first]

    def at_size(self, capacity_sectors: int, real_sectors: int | None) -> Self:
        """Where each sector is known, without zones that would be shorter than a track there:
        those before them go on."""
        if not self.knows_angles:
            return self
        firsts = [*self._firsts(capacity_sectors, real_sectors), capacity_sectors]
        kept = [
            zone
            for zone, sectors in enumerate(self.sectors)
            if zone == 0 or firsts[zone + 1] - firsts[zone] >= sectors
        ]
        keys = ("sectors", "at", *ANGLES, *BANDS, *SPARE)
        columns = {key: getattr(self, key) for key in keys}
        short = {
            key: tuple(values[zone] for zone in kept)
            for key, values in columns.items()
            if values is not None
        }
        return self.model_copy(update=short)

    def zones(self, capacity_sectors: int, real_sectors: int | None = None) -> Curve:
        """Sectors in a track, by each zone's first sector, on a disk of that size; the real
        disk's size is needed where zones are known to the sector."""
        firsts = self._firsts(capacity_sectors, real_sectors)
        found = dict(zip(firsts, self.sectors, strict=True))
        if self.knows_angles and len(found) < len(firsts):
            raise UserError(
                f"tracks.first: two zones begin at one sector on a disk of {capacity_sectors}; "
                "take a larger --virtual-size"
            )
        ends = [*list(found)[1:], capacity_sectors]
        for (first, sectors), end in zip(found.items(), ends, strict=True):
            if end - first < sectors:
                raise UserError(
                    f"tracks.sectors: a track of {sectors} is longer than its zone of "
                    f"{end - first} sectors on a disk of {capacity_sectors}"
                )
        return tuple(found.items())

    def transfer(self, period_ms: float, zones: Curve, capacity_sectors: int) -> Curve:
        """ps for each sector by place, as its slot passes; angles have to be known."""
        assert self.slots
        period_ps = exact(period_ms) * 10**9
        rates = [
            (first, round(period_ps / slots))
            for (first, _), slots in zip(zones, self.slots, strict=True)
        ]
        return steps(rates, capacity_sectors)

    def platter(self, period_ms: float) -> Platter:
        """The angles in the units of core/; they have to be known."""
        keys = ("slots", "angle", "skew", "cylinder", "cylinder_skew", *BANDS, *SPARE)
        none = (0,) * len(self.sectors)
        rows = zip(*(getattr(self, key) or none for key in keys), strict=True)
        return Platter(
            velocity=round(TURN / (exact(period_ms) * 10**6)),
            zones=tuple(
                PlatterZone(
                    slot=round(Fraction(TURN, slots)),
                    angle=_angle(angle),
                    skew=_angle(skew),
                    cylinder=cylinder,
                    cylinder_skew=_angle(cylinder_skew),
                    band=band,
                    band_skew=_angle(band_skew),
                    spare=spare,
                )
                for slots, angle, skew, cylinder, cylinder_skew, band, band_skew, spare in rows
            ),
        )


def _angle(turns: float) -> int:
    return round(exact(turns) * TURN) % TURN
