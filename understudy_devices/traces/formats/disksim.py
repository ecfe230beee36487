# SPDX-License-Identifier: MIT
"""DiskSim's ASCII traces: `0.047912 0 1274296 8 1`, separated by spaces.

The fields are arrival (ms, with decimals), device, first sector of 512 bytes, number of sectors,
and flags in hexadecimal, whose lowest bit is 1 for a read.  Each device is a volume.  There are
arrivals only.  DiskSim 4.0 reference manual, section "Input traces".
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

NAME = "DiskSim's"
OWNERS_ARE_VOLUMES = True
ASSUMES = (
    "times are ms, places and sizes sectors, and 1 is a read, as in DiskSim's traces; if not, "
    "describe the columns (--columns)"
)
COLUMNS = ("time", "device", "lba", "size", "flags")
LINE = re.compile(rb"^\s*\d+\.\d+[ \t]+\d+[ \t]+\d+[ \t]+\d+[ \t]+[0-9a-fA-F]+\s*$")
MS_DIGITS = 6


def recognises(head: bytes) -> bool:
    """Return whether the first line has a time with decimals, three whole numbers and flags."""
    return bool(LINE.match(text.first_line(head)))


def doubt(frame: pl.DataFrame) -> str | None:
    """Return why the file is probably of another kind, or None."""
    return bytes_doubt(frame, "time_ms")


def read(file: BinaryIO) -> Iterator[Reading]:
    """Read the whole file."""
    return timed(text.read(file, COLUMNS, _requests, tidy=text.with_commas), 1)


def _requests(fields: text.Fields) -> Reading:
    flags = fields.words("flags").str.to_integer(base=16, strict=False)
    fields.refuse(flags.is_null(), "flags", "is no hexadecimal number")
    frame = pl.DataFrame(
        {
            "ticks": fields.decimals("time", MS_DIGITS),
            "sector": fields.numbers("lba", OFFSET_MAX_BYTES // SECTOR_BYTES),
            "sectors": fields.numbers("size", SIZE_MAX_BYTES // SECTOR_BYTES),
            "op": flags,
            "owner": fields.words("device"),
        }
    )
    op = pl.when(pl.col("op") % 2 == 1).then(pl.lit("read")).otherwise(pl.lit("write"))
    return text.with_length(frame.with_columns(op=op))
