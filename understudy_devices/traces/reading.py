# SPDX-License-Identifier: MIT
"""The result of reading part of a trace file."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import polars as pl

NO_TRANSFER = "neither read nor write"
NO_LENGTH = "of no length"
UNISSUED = "completed, but not seen to be issued"
UNCOMPLETED = "issued, but not seen to complete"
FLUSHES = "flushes without data"
DISCARDS = "discards"
PASSTHROUGH = "passthrough commands"
REISSUED = "issued again before it was completed"
UNISSUED_QUEUES = "queued, but not seen to be issued or merged"
REMAPPED = "passed on by a device that issued nothing (LVM, RAID, encryption)"
LOST = (UNISSUED, UNCOMPLETED, REISSUED, UNISSUED_QUEUES)  # for lack of an event of the request
NO_REQUEST = "no request in it was both issued (D) and completed (C)"


@dataclass(frozen=True)
class Reading:
    """A block of a file's rows: one row per request, in any order.

    `left_out` counts the records that are not in the table, by reason ("of no length").  `broken`
    says in one line where the file breaks off; None if this block is complete.  If `relative` is
    true, times count from the arrival of some request, so the times of earlier requests are
    negative.  `origin_ns` is the time, on the file's clock, from which times count.  `assumed` says
    in one line what the file does not say, and the reader assumes.  `volume` is the volume that
    `left_out` counts; None if it counts the whole file.
    """

    frame: pl.DataFrame = field(default_factory=pl.DataFrame)
    left_out: Mapping[str, int] = field(default_factory=dict)
    broken: str | None = None
    relative: bool = False
    origin_ns: int = 0
    assumed: str | None = None
    volume: str | None = None
