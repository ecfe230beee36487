# SPDX-License-Identifier: MIT
"""MQSim's and SSDsim's ASCII traces: `48513000 0 1274296 8 1`, separated by spaces.

The fields are arrival (ns), device, first sector of 512 bytes, number of sectors, and 1 for a read
and 0 for a write.  Each device is a volume.  There are arrivals only.
"""

import re
from collections.abc import Iterator
from typing import BinaryIO

import polars as pl

from understudy_devices.traces import text
from understudy_devices.traces.reading import Reading
from understudy_devices.traces.units import (
    OFFSET_MAX_BYTES,
    SECTOR_BYTES,
    SIZE_MAX_BYTES,
    bytes_doubt,
    timed,
)

NAME = "MQSim's or SSDsim's"
OWNERS_ARE_VOLUMES = True
ASSUMES = (
    "times are ns, places and sizes sectors, and 1 is a read, as in MQSim's traces; if not, "
    "describe the columns (--columns)"
)
COLUMNS = ("time", "device", "lba", "size", "type")
LINE = re.compile(rb"^\s*\d+[ \t]+\d+[ \t]+\d+[ \t]+\d+[ \t]+[01]\s*$")


def recognises(head: bytes) -> bool:
    """Return whether the first line has five whole numbers, the last of them 0 or 1."""
    return bool(LINE.match(text.first_line(head)))


def doubt(frame: pl.DataFrame) -> str | None:
    """Return why the file is probably of another kind, or None."""
    return bytes_doubt(frame, "time_ns")


def read(file: BinaryIO) -> Iterator[Reading]:
    """Read the whole file."""
    return timed(text.read(file, COLUMNS, _requests, tidy=text.with_commas), 1)


def _requests(fields: text.Fields) -> Reading:
    frame = pl.DataFrame(
        {
            "ticks": fields.numbers("time"),
            "sector": fields.numbers("lba", OFFSET_MAX_BYTES // SECTOR_BYTES),
            "sectors": fields.numbers("size", SIZE_MAX_BYTES // SECTOR_BYTES),
            "op": fields.ops("type", ("1",), ("0",)),
            "owner": fields.words("device"),
        }
    )
    return text.with_length(frame)
