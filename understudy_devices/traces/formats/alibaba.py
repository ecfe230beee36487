# SPDX-License-Identifier: MIT
"""Alibaba's block traces: `device_id,opcode,offset,length,timestamp`, with or without that header.

opcode is R or W, offset and length are in bytes, the timestamp in microseconds.  Arrivals only.
Each device is an owner.  Li, Wang, Lee, Shi: An In-Depth Analysis of Cloud Block Storage
Workloads, IISWC 2020.
"""

import re
from collections.abc import Iterator
from typing import BinaryIO

import polars as pl

from understudy_devices.traces import text
from understudy_devices.traces.reading import Reading
from understudy_devices.traces.units import timed

NAME = "Alibaba's"
OWNERS_ARE_VOLUMES = True
COLUMNS = ("device_id", "opcode", "offset", "length", "timestamp")
HEADER = ",".join(COLUMNS).encode()
LINE = re.compile(rb"^[^,\s]+,[A-Za-z],-?\d+,-?\d+,-?\d+$")
TICK_NS = 1000


def recognises(head: bytes) -> bool:
    """Return whether the first line is the header, or has five fields with a letter as the
    second."""
    first = text.first_line(head)
    return first == HEADER or bool(LINE.match(first))


def read(file: BinaryIO) -> Iterator[Reading]:
    """Read the whole file."""
    return timed(text.read(file, COLUMNS, _requests, header=HEADER), TICK_NS)


def _requests(fields: text.Fields) -> Reading:
    frame = pl.DataFrame(
        {
            "ticks": fields.numbers("timestamp"),
            **text.places(fields, "offset", "length"),
            "op": fields.ops("opcode", ("R",), ("W",)),
            "owner": fields.words("device_id"),
        }
    )
    return text.with_length(frame)
