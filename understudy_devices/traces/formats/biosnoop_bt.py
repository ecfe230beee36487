# SPDX-License-Identifier: MIT
"""biosnoop.bt of bpftrace: `TIME(ms) DISK COMM PID LAT(ms)`, or with `DISK ID` as two numbers.

A line is a request that has completed at TIME.  Both times are whole ms.  There is neither a place
nor a size nor a direction: each request counts as a read of SIZE_BYTES, which `ASSUMES` says.  So
the trace is enough for consolidate, and not for a replay.
"""

import re
from collections.abc import Iterator
from typing import BinaryIO

import polars as pl

from understudy_devices.traces.reading import Reading
from understudy_devices.traces.text import lines, shown_line
from understudy_devices.traces.units import SECTOR_BYTES

NAME = "biosnoop.bt's"
HEADER = re.compile(rb"^TIME\(ms\) +DISK( ID)? +COMM +PID +LAT\(ms\)")
UNDER_HEADER = re.compile(rb"^ +MAJOR MINOR\s*$")
LINE = re.compile(
    r"^(?P<ms>\d{1,12}) +(?P<disk>\d+ +\d+(?= +\D)|\S+) +(?P<comm>.*?) +(?P<pid>\d{1,9}) +"
    r"(?P<lat>\d{1,12})$"
)
HEAD_LINES = 20
MS = 10**6
SIZE_BYTES = 4096
ASSUMES = (
    f"each request is a read of {SIZE_BYTES:,} bytes: biosnoop.bt prints neither size nor kind"
)
INTS = ("arrival_ns", "completion_ns", "sectors", "owner")
COLUMNS = {**dict.fromkeys(INTS, pl.Int64), "volume": pl.String}
PIECE_ROWS = 2**17

Row = tuple[int, int, int, int, str]


def recognises(head: bytes) -> bool:
    """Return whether one of the first lines is the header."""
    return any(map(HEADER.match, head.split(b"\n")[:HEAD_LINES]))


def read(file: BinaryIO) -> Iterator[Reading]:
    """Read the whole file; what precedes the header is ignored."""
    rows: list[Row] = []
    begun = False
    for number, raw in enumerate(lines(file), start=1):
        if HEADER.match(raw):
            begun = True
            continue
        if not begun or not raw.strip() or UNDER_HEADER.match(raw) or raw.startswith(b"^C"):
            continue
        line = LINE.match(raw.decode(errors="replace").strip())
        if not line or not raw.endswith(b"\n"):  # a cut number may still be a number
            if not raw.endswith(b"\n"):
                yield Reading(broken=f"breaks off in line {number}: {shown_line(raw)}")
                break
            raise ValueError(f"line {number}: no line of {NAME}: {shown_line(raw)}")
        end_ns = int(line["ms"]) * MS
        begun_ns = end_ns - int(line["lat"]) * MS
        disk = ",".join(line["disk"].split())
        rows.append((begun_ns, end_ns, SIZE_BYTES // SECTOR_BYTES, int(line["pid"]), disk))
        if len(rows) == PIECE_ROWS:
            yield Reading(pl.DataFrame(rows, schema=COLUMNS, orient="row"), relative=True)
            rows = []
    yield Reading(pl.DataFrame(rows, schema=COLUMNS, orient="row"), relative=True)
