# SPDX-License-Identifier: MIT
"""UMass' SPC traces: `0,303567,3584,w,0.026214`, without a header.

The fields are the application's storage unit (ASU, a volume), the first block of 512 bytes, the
size in bytes, r or w, and seconds since the beginning.  There are arrivals only.
SPC Trace File Format Specification, revision 1.0.1; http://traces.cs.umass.edu.
"""

import re
from collections.abc import Iterator
from typing import BinaryIO

import numpy as np
import polars as pl

from understudy_devices.traces import text
from understudy_devices.traces.reading import Reading
from understudy_devices.traces.units import OFFSET_MAX_BYTES, SECTOR_BYTES, SIZE_MAX_BYTES, timed

NAME = "UMass' SPC"
OWNERS_ARE_VOLUMES = True
COLUMNS = ("ASU", "LBA", "Size", "Opcode", "Timestamp")
LINE = re.compile(rb"^\d+,\d+,\d+,[rRwW],\d+(\.\d*)?$")


def recognises(head: bytes) -> bool:
    """Return whether the first line has three numbers, r or w, and a time."""
    return bool(LINE.match(text.first_line(head).strip()))


def read(file: BinaryIO) -> Iterator[Reading]:
    """Read the whole file."""
    return timed(text.read(file, COLUMNS, _requests), 1)


def _requests(fields: text.Fields) -> Reading:
    sizes = fields.numbers("Size", SIZE_MAX_BYTES)
    frame = pl.DataFrame(
        {
            "ticks": fields.seconds_ns("Timestamp"),
            "sector": fields.numbers("LBA", OFFSET_MAX_BYTES // SECTOR_BYTES),
            "sectors": np.asarray(-(-sizes // SECTOR_BYTES)),
            "op": fields.ops("Opcode", ("r", "R"), ("w", "W")),
            "owner": fields.words("ASU"),
        }
    )
    return text.with_length(frame)
