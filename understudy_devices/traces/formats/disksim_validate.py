# SPDX-License-Identifier: MIT
"""DiskSim's validation traces: `R Miss 564347 2 14095.370 13876.270`, recorded on real disks.

The fields are R or W, whether the disk's cache had the data, the first sector, sectors, the
response time, and the time from this request's arrival to the next one's, both in us.
Bucy, Schindler, Schlosser, Ganger: The DiskSim Simulation Environment Version 4.0 (CMU-PDL-08-101).
"""

import re
from collections.abc import Iterator
from typing import BinaryIO

import numpy as np
import polars as pl

from understudy_devices.traces import text
from understudy_devices.traces.reading import Reading
from understudy_devices.traces.units import (
    OFFSET_MAX_BYTES,
    SECTOR_BYTES,
    SIZE_MAX_BYTES,
    SPAN_MAX_NS,
    timed,
)

NAME = "DiskSim's validation"
COLUMNS = ("op", "hit", "sector", "sectors", "response time", "gap")
LINE = re.compile(rb"^[RW]\s+(?:Hit|Miss)\s+\d+\s+\d+\s+\d+\.\d+\s+\d+\.\d+$")
GAP_MAX_NS = 10**17  # three years


def recognises(head: bytes) -> bool:
    """Return whether the first line has R or W, Hit or Miss, and four numbers."""
    return bool(LINE.match(text.first_line(head).strip()))


def read(file: BinaryIO) -> Iterator[Reading]:
    """Read the whole file."""
    return timed(text.read(file, COLUMNS, _Convert(), tidy=text.with_commas), 1)


class _Convert:
    """Adds up the gaps."""

    def __init__(self) -> None:
        self._next_ns = 0

    def __call__(self, fields: text.Fields) -> Reading:
        gap_ns = fields.decimals("gap", 3)
        fields.refuse(pl.Series(gap_ns > GAP_MAX_NS), "gap", "is too large; is the unit right?")
        ends_ns = self._next_ns + np.cumsum(gap_ns)
        if len(ends_ns):
            if ends_ns[-1] > SPAN_MAX_NS or ends_ns.min() < 0:
                raise ValueError("its gaps are too large; is the unit right?")
            self._next_ns = int(ends_ns[-1])
        frame = pl.DataFrame(
            {
                "ticks": ends_ns - gap_ns,
                "response_ns": fields.decimals("response time", 3),
                "sector": fields.numbers("sector", OFFSET_MAX_BYTES // SECTOR_BYTES),
                "sectors": fields.numbers("sectors", SIZE_MAX_BYTES // SECTOR_BYTES),
                "op": fields.ops("op", ("R",), ("W",)),
            }
        )
        return text.with_length(frame)
