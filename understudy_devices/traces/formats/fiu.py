# SPDX-License-Identifier: MIT
"""FIU's traces (IODedup): `89966104381 4892 syslogd 904265560 8 W 6 0 531e779...`.

The fields are arrival (ns), process number, process, first sector of 512 bytes, number of sectors,
R or W, major and minor number of the device, and the hash of the content, separated by spaces.
Each device is a volume.  There are arrivals only.
Koller, Rangaswami: I/O Deduplication, FAST 2010; SNIA's repository, trace set 390.
"""

import re
from collections.abc import Iterator
from typing import BinaryIO

import polars as pl

from understudy_devices.traces import text
from understudy_devices.traces.reading import Reading
from understudy_devices.traces.units import OFFSET_MAX_BYTES, SECTOR_BYTES, SIZE_MAX_BYTES, timed

NAME = "FIU's"
COLUMNS = ("time", "pid", "process", "lba", "size", "type", "major", "minor", "hash")
LINE = re.compile(rb"^\d+ \d+ \S+ \d+ \d+ [RW] \d+ \d+ [0-9a-fA-F]+\s*$")


def recognises(head: bytes) -> bool:
    """Return whether the first line has these nine fields."""
    return bool(LINE.match(text.first_line(head)))


def read(file: BinaryIO) -> Iterator[Reading]:
    """Read the whole file."""
    return timed(text.read(file, COLUMNS, _requests, separator=" "), 1)


def _requests(fields: text.Fields) -> Reading:
    frame = pl.DataFrame(
        {
            "ticks": fields.numbers("time"),
            "sector": fields.numbers("lba", OFFSET_MAX_BYTES // SECTOR_BYTES),
            "sectors": fields.numbers("size", SIZE_MAX_BYTES // SECTOR_BYTES),
            "op": fields.ops("type", ("R",), ("W",)),
            "owner": fields.words("process"),
            "volume": fields.words("major") + "," + fields.words("minor"),
        }
    )
    return text.with_length(frame)
