# SPDX-License-Identifier: MIT
"""The base class of a profile's sections: checked keys with units in their names, and a source."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from pydantic_core import PydanticCustomError

from understudy_devices.base.plain import plain

MINUTE_MS = 60_000  # DISK_NS_MAX in core/drive/disk.h
SAMPLES_MAX = 1024  # CURVE_POINTS_MAX in core/drive/curve.h
CACHE_SPAN_MAX = 2**32  # sectors of a segment or a prefetch that CATS can model
SECTORS_MAX = 2**40
SECTOR_BYTES = 512

Ms = Annotated[float, Field(ge=0, le=MINUTE_MS)]
PositiveMs = Annotated[float, Field(ge=1e-6, le=MINUTE_MS)]  # at least 1 ns
MegabytesPerSecond = Annotated[float, Field(gt=0, le=10**6)]
DiskFraction = Annotated[float, Field(ge=0, le=1)]
Sectors = Annotated[int, Field(ge=1, le=SECTORS_MAX)]
Text = Annotated[str, AfterValidator(plain)]
ARRAY = Field(strict=False, max_length=SAMPLES_MAX)  # a list in TOML, a tuple here


class Section(BaseModel):
    """One table of the TOML file."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, allow_inf_nan=False)

    source: Text | None = None
    """Where the section's figures come from."""


def wrong(key: str, reason: str) -> PydanticCustomError:
    """Return the error for one key of the section that is being checked."""
    return PydanticCustomError("wrong", "{reason}", {"key": key, "reason": reason})


def check_places(at: Sequence[float], values: int) -> None:
    """Check locations: one for each value, in ascending order from 0, as fractions of the disk."""
    if len(at) != values:
        raise wrong("at", f"has {len(at)} places for {values} values")
    if at[0] != 0:
        raise wrong("at", f"begins at {at[0]}, not at 0")
    for before, after in pairwise(at):
        if after <= before:
            raise wrong("at", f"does not ascend: {after} after {before}")


def sector_ps(mb_per_s: float) -> Fraction:
    """Return the time per sector at this throughput, in picoseconds."""
    return SECTOR_BYTES * 10**6 / exact(mb_per_s)


def exact(value: float) -> Fraction:
    """Return a float as the exact decimal number that was typed."""
    return Fraction(repr(value))


def to_ns(value: float, ns_per_unit: int) -> int:
    """Return a time in whole ns."""
    return round(exact(value) * ns_per_unit)
