# SPDX-License-Identifier: MIT
"""iosnoop of perf-tools: `[STARTs] [ENDs] COMM PID TYPE DEV BLOCK BYTES LATms`.

STARTs (option -s) and ENDs (-t) are seconds on the kernel's clock; without both the output has no
times, and is refused.  If only one is there, LATms says the other, to 10 us.  COMM may contain
spaces, so columns are counted from both ends of the line.  TYPE has the kernel's letters (WS).
Each device is a volume, each process an owner.  Flushes and discards are left out and counted.
"""

import re
from collections import Counter
from collections.abc import Iterator
from typing import BinaryIO

import polars as pl

from understudy_devices.traces.events import direction
from understudy_devices.traces.reading import NO_LENGTH, Reading
from understudy_devices.traces.text import lines, shown_line
from understudy_devices.traces.units import OFFSET_MAX_BYTES, SECTOR_BYTES, SIZE_MAX_BYTES

NAME = "iosnoop's"
HEADER = re.compile(
    rb"^(?P<start>STARTs +)?(?P<end>ENDs +)?COMM +PID +TYPE +DEV +BLOCK +BYTES +LATms\s*$"
)
LINE = re.compile(
    r"^(?P<times>(?:\d+\.\d+ +){1,2})(?P<comm>\S.*?) +(?P<pid>\d{1,9}) +(?P<rwbs>[A-Z]+) +"
    r"(?P<disk>\d+,\d+) +(?P<sector>\d+) +(?P<bytes>\d+) +(?P<latency>\d+\.\d+)$"
)
IGNORED = (b"Tracing ", b"^C", b"Ending tracing")
HEAD_LINES = 20
INTS = ("arrival_ns", "completion_ns", "sector", "sectors", "owner")
COLUMNS = {**dict.fromkeys(INTS, pl.Int64), "op": pl.String, "volume": pl.String}
PIECE_ROWS = 2**17
LARGEST_NS = 2**61

Row = tuple[int, int, int, int, int, str, str]


def recognises(head: bytes) -> bool:
    """Return whether one of the first lines is the header."""
    return any(map(HEADER.match, head.split(b"\n")[:HEAD_LINES]))


def read(file: BinaryIO) -> Iterator[Reading]:
    """Read the whole file; what precedes the header is ignored."""
    rows: list[Row] = []
    left_out: Counter[str] = Counter()
    columns: tuple[bool, bool] | None = None
    for number, raw in enumerate(lines(file), start=1):
        if header := HEADER.match(raw):
            columns = (bool(header["start"]), bool(header["end"]))
            if not any(columns):
                raise ValueError("has no times, only latencies; trace with iosnoop -ts")
            continue
        if columns is None or not raw.strip() or raw.startswith(IGNORED):
            continue
        line = LINE.match(raw.decode(errors="replace").strip())
        if not line or not raw.endswith(b"\n") or len(line["times"].split()) != sum(columns):
            if not raw.endswith(b"\n"):  # a cut number may still be a number
                yield Reading(broken=f"breaks off in line {number}: {shown_line(raw)}")
                break
            raise ValueError(f"line {number}: no line of {NAME}: {shown_line(raw)}")
        row = _row(number, line, *columns)
        if isinstance(row, str):
            left_out[row] += 1
            continue
        rows.append(row)
        if len(rows) == PIECE_ROWS:
            yield Reading(pl.DataFrame(rows, schema=COLUMNS, orient="row"), relative=True)
            rows = []
    if columns is None:
        raise ValueError(f"has no header of {NAME} output, STARTs ENDs COMM ...")
    yield Reading(pl.DataFrame(rows, schema=COLUMNS, orient="row"), left_out, relative=True)


def _row(number: int, line: "re.Match[str]", start: bool, end: bool) -> Row | str:
    """Return the request, or the reason to leave it out."""
    op = direction(line["rwbs"])
    if isinstance(op, str):
        return op
    size, sector = int(line["bytes"]), int(line["sector"])
    if not size:
        return NO_LENGTH
    times_ns = [_ns(time, 9) for time in line["times"].split()]
    latency_ns = _ns(line["latency"], 6)
    begun_ns = times_ns[0] if start else times_ns[0] - latency_ns
    end_ns = times_ns[-1] if end else begun_ns + latency_ns
    largest = ((end_ns, LARGEST_NS), (sector, OFFSET_MAX_BYTES // SECTOR_BYTES))
    if any(value > most for value, most in (*largest, (size, SIZE_MAX_BYTES), (latency_ns, 2**61))):
        raise ValueError(f"line {number}: a number is too large: {shown_line(line[0].encode())}")
    if end_ns < begun_ns:
        raise ValueError(f"line {number}: it ends before it starts")
    sectors = -(-size // SECTOR_BYTES)
    owner = int(line["pid"])
    return begun_ns, end_ns, sector, sectors, owner, ("read", "write")[op], line["disk"]


def _ns(text: str, digits: int) -> int:
    """Return decimal seconds (9 digits) or ms (6) in ns."""
    whole, _, fraction = text.partition(".")
    return int(whole + fraction[:digits].ljust(digits, "0"))
