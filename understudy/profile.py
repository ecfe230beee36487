# SPDX-License-Identifier: MIT
"""A disk as people describe it: profiles/NAME.toml, checked.

The model is the papers' line, intercept + full_seek * d/D (PERFORM 2010 section 4, with
the Cheetah's figures in section 5), and an on-board cache of segments (PERFORM 2010
section 3).  Facts from the manual stand beside the model and never enter it:
the fitted intercept already contains the rotation.

Files speak ms and us; whoever drives core/ asks `linear` for whole ns.
"""

import tomllib
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from understudy.catalog import pick
from understudy.core import Drive
from understudy.errors import UserError
from understudy.paths import profiles_dir

MINUTE_MS = 60_000
CACHE_SEGMENTS_MAX = 1024  # DISK_CACHE_SEGMENTS_MAX in core/disk_cache.h
SECTORS_MAX = 2**40

PositiveMs = Annotated[float, Field(gt=0, le=MINUTE_MS)]


class _Section(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, allow_inf_nan=False)

    source: str | None = None


class SeekLine(_Section):
    """Service time from the medium: intercept + full seek * d/D."""

    intercept_ms: PositiveMs
    full_seek_ms: Annotated[float, Field(ge=0, le=MINUTE_MS)]


class DiskCache(_Section):
    """The on-board cache; no segments means no cache."""

    segments: Annotated[int, Field(ge=0, le=CACHE_SEGMENTS_MAX)]
    segment_sectors: Annotated[int, Field(ge=1, le=SECTORS_MAX)]
    prefetch_sectors: Annotated[int, Field(ge=0, le=SECTORS_MAX)]
    hit_us: Annotated[float, Field(gt=0, le=MINUTE_MS * 1000)]


class DiskFacts(_Section):
    """What the manual says; the timing model uses none of it."""

    vendor: str
    model: str
    capacity_sectors: Annotated[int, Field(ge=1, le=SECTORS_MAX)]
    sector_bytes: Annotated[int, Field(ge=512, le=512)] = 512
    rpm: Annotated[int, Field(ge=1)] | None = None
    rotation_ms: PositiveMs | None = None
    surfaces: Annotated[int, Field(ge=1)] | None = None
    tracks_per_surface: Annotated[int, Field(ge=1)] | None = None
    manual: str | None = None


@dataclass(frozen=True)
class LinearDisk:
    """The profile in the units of core/: whole ns and sectors."""

    capacity_sectors: int
    intercept_ns: int
    full_seek_ns: int
    hit_ns: int
    segments: int
    segment_sectors: int
    prefetch_sectors: int

    def service_ns(self, distance_sectors: int) -> int:
        """Time from the medium, rounded down as in core/disk."""
        return self.intercept_ns + self.full_seek_ns * distance_sectors // self.capacity_sectors

    def drive(self) -> Drive:
        """The drive, at rest."""
        return Drive.linear(
            self.capacity_sectors,
            self.intercept_ns,
            self.full_seek_ns,
            cache=(self.segments, self.segment_sectors, self.prefetch_sectors),
            hit_ns=self.hit_ns,
        )


class DiskProfile(BaseModel):
    """One disk."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    name: str
    summary: str = ""
    model: SeekLine
    cache: DiskCache
    facts: DiskFacts

    def linear(self, capacity_sectors: int) -> LinearDisk:
        """This disk's timing on a virtual disk of any size."""
        return LinearDisk(
            capacity_sectors=capacity_sectors,
            intercept_ns=_to_ns(self.model.intercept_ms, 10**6),
            full_seek_ns=_to_ns(self.model.full_seek_ms, 10**6),
            hit_ns=_to_ns(self.cache.hit_us, 10**3),
            segments=self.cache.segments,
            segment_sectors=self.cache.segment_sectors,
            prefetch_sectors=self.cache.prefetch_sectors,
        )


def load(name_or_file: str) -> DiskProfile:
    """The disk called NAME in profiles/, or the one in FILE.toml."""
    if name_or_file.endswith(".toml"):
        return read(Path(name_or_file))
    return read(pick("disk", name_or_file, catalogue()))


def catalogue() -> dict[str, Path]:
    """The disks that come with the project, by name."""
    return {file.stem: file for file in sorted(profiles_dir().glob("*.toml"))}


def read(file: Path) -> DiskProfile:
    """Parse and check one profile; any trouble is one line with file and key."""
    document = _parse(file)
    if "name" in document:
        raise UserError(f"{file}: name: not a key of a profile, the file's name is the disk's")
    try:
        return DiskProfile.model_validate({**document, "name": file.stem})
    except ValidationError as error:
        raise UserError(f"{file}: {_first_reason(error)}") from None


def _parse(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(
            f"{file}: {error.strerror or error}; --disk takes a name or a file"
        ) from None
    except ValueError as error:
        raise UserError(f"{file}: not TOML: {' '.join(str(error).split())}") from None


def _first_reason(error: ValidationError) -> str:
    first = error.errors()[0]
    key = ".".join(str(part) for part in first["loc"])
    reasons = {"missing": "is missing", "extra_forbidden": "is not a key of a profile"}
    reason = reasons.get(first["type"]) or f"{first['msg']}, not {first['input']!r}"
    return f"{key}: {reason[0].lower()}{reason[1:]}"


def _to_ns(value: float, ns_per_unit: int) -> int:
    """Round the decimal number that was written, not its binary neighbour."""
    return round(Fraction(repr(value)) * ns_per_unit)
