# SPDX-License-Identifier: MIT
"""MSR Cambridge: `Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime`, with or without
that header.

Both times are in ticks of 100 ns (Windows' FILETIME), offset and size in bytes.  A request's
completion time is its timestamp plus its response time.  Each disk of each host is an owner.
Narayanan, Donnelly, Rowstron: Write Off-Loading, FAST 2008.
"""

import re
from collections.abc import Iterator
from typing import BinaryIO

import polars as pl

from understudy_devices.traces import text
from understudy_devices.traces.reading import Reading
from understudy_devices.traces.units import timed

NAME = "MSR Cambridge's"
OWNERS_ARE_VOLUMES = True
COLUMNS = ("Timestamp", "Hostname", "DiskNumber", "Type", "Offset", "Size", "ResponseTime")
HEADER = ",".join(COLUMNS).encode()
LINE = re.compile(rb"^-?\d+,[^,]*,[^,]*,[A-Za-z]{2,},")
TICK_NS = 100
RESPONSE_MAX = 2**53  # ticks: 28 years


def recognises(head: bytes) -> bool:
    """Return whether the first line is the header, or begins with a number and has a word as its
    fourth field."""
    first = text.first_line(head)
    return first == HEADER or bool(LINE.match(first))


def read(file: BinaryIO) -> Iterator[Reading]:
    """Read the whole file."""
    return timed(text.read(file, COLUMNS, _requests, header=HEADER), TICK_NS)


def _requests(fields: text.Fields) -> Reading:
    frame = pl.DataFrame(
        {
            "ticks": fields.numbers("Timestamp"),
            "response_ns": fields.numbers("ResponseTime", RESPONSE_MAX) * TICK_NS,
            **text.places(fields, "Offset", "Size"),
            "op": fields.ops("Type", ("Read", "read"), ("Write", "write")),
            "owner": fields.words("Hostname") + "." + fields.words("DiskNumber"),
        }
    )
    return text.with_length(frame)
