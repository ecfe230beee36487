# SPDX-License-Identifier: MIT
"""Tencent's block traces: `Timestamp,Offset,Size,IOType,VolumeID`, usually without that header.

The timestamp is whole seconds, offset and size are sectors of 512 bytes, IOType is 0 for a read
and 1 for a write.  There are arrivals only.  Each volume is an owner. fio's latency logs have
numbers and commas too, but with a space after each comma.

Zhang, Huang, Zhou et al.: OSCA, USENIX ATC 2020.
"""

import re
from collections.abc import Iterator
from typing import BinaryIO

import polars as pl

from understudy_devices.traces import text
from understudy_devices.traces.reading import Reading
from understudy_devices.traces.units import OFFSET_MAX_BYTES, SECTOR_BYTES, SIZE_MAX_BYTES, timed

NAME = "Tencent's"
OWNERS_ARE_VOLUMES = True
COLUMNS = ("Timestamp", "Offset", "Size", "IOType", "VolumeID")
HEADER = ",".join(COLUMNS).encode()
LINE = re.compile(rb"^-?\d+,-?\d+,-?\d+,\d+,\d+$")
TICK_NS = 10**9


def recognises(head: bytes) -> bool:
    """Return whether the first line is the header, or has five numbers without spaces."""
    first = text.first_line(head)
    return first == HEADER or bool(LINE.match(first))


def read(file: BinaryIO) -> Iterator[Reading]:
    """Read the whole file."""
    return timed(text.read(file, COLUMNS, _requests, header=HEADER), TICK_NS)


def _requests(fields: text.Fields) -> Reading:
    frame = pl.DataFrame(
        {
            "ticks": fields.numbers("Timestamp"),
            "sector": fields.numbers("Offset", OFFSET_MAX_BYTES // SECTOR_BYTES),
            "sectors": fields.numbers("Size", SIZE_MAX_BYTES // SECTOR_BYTES),
            "op": fields.ops("IOType", ("0",), ("1",)),
            "owner": fields.words("VolumeID"),
        }
    )
    return text.with_length(frame)
