# SPDX-License-Identifier: MIT
"""What every section of a profile is: checked keys with units in their names, and a source."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field
from pydantic_core import PydanticCustomError

MINUTE_MS = 60_000  # DISK_NS_MAX in core/disk.h

Ms = Annotated[float, Field(ge=0, le=MINUTE_MS)]
PositiveMs = Annotated[float, Field(ge=1e-6, le=MINUTE_MS)]  # 1 ns at least
MegabytesPerSecond = Annotated[float, Field(gt=0, le=10**6)]


class Section(BaseModel):
    """One table of the file."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, allow_inf_nan=False)

    source: str | None = None


def wrong(key: str, reason: str) -> PydanticCustomError:
    """An error of one key below the section that is being checked."""
    return PydanticCustomError("wrong", "{reason}", {"key": key, "reason": reason})
