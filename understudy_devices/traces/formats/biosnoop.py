# SPDX-License-Identifier: MIT
"""biosnoop of bcc and libbpf-tools: `TIME(s) COMM PID DISK T SECTOR BYTES [P] [QUE(ms)] LAT(ms)`.

A line is a request that has completed at TIME.  LAT is the time since it was issued, QUE (option
-Q) the time in the queue before that.  Times have whole us.  COMM may contain spaces, so columns
are counted from the end of the line; T is R or W, or the kernel's letters (WS); P (option -P), R
or S, is ignored.  With -t of libbpf-tools the first column is TIMESTAMP, a time of day in ms: a
time more than 12 hours before the previous one is on the next day.  Each disk is a volume, each
process an owner.  Requests whose disk or sector biosnoop did not know are left out and counted.

The header may be absent, as behind grep; then a line with two times has QUE.
"""

import re
from collections.abc import Iterator
from typing import BinaryIO

import polars as pl

from understudy_devices.traces.events import direction
from understudy_devices.traces.ftrace_lines import EVENTS_LOST
from understudy_devices.traces.reading import NO_LENGTH, Reading
from understudy_devices.traces.text import first_line, lines, shown_line
from understudy_devices.traces.units import OFFSET_MAX_BYTES, SECTOR_BYTES, SIZE_MAX_BYTES

NAME = "biosnoop's"
HEADER = re.compile(
    rb"^(?:TIME\(s\)|TIMESTAMP) +COMM +PID +DISK +T +SECTOR +BYTES +"
    rb"(?:P +)?(?P<queue>QUE\(ms\) +)?LAT"
)
LINE = re.compile(
    r"^(?:(?P<h>\d\d):(?P<m>\d\d):)?(?P<s>\d+)\.(?P<fraction>\d+) +(?P<comm>.*?) +(?P<pid>\d+)"
    r" +(?:(?P<disk>\S+) +)?(?P<rwbs>[A-Z]+) +(?P<sector>-?\d+) +(?P<bytes>\d+)"
    r"(?: +[A-Z])? +(?P<times>\d+\.\d+(?: +\d+\.\d+)?)$"
)
LOST = re.compile(rb"^Possibly lost (?P<events>\d+) samples")
HEAD_LINES = 20
INTS = ("arrival_ns", "dispatch_ns", "completion_ns", "sector", "sectors", "owner")
COLUMNS = {**dict.fromkeys(INTS, pl.Int64), "op": pl.String, "volume": pl.String}
PIECE_ROWS = 2**17
NO_SECTOR = "without a sector"
NO_DISK = "without a disk"
S = 10**9
DAY_NS = 24 * 3600 * S

Row = tuple[int, int, int, int, int, int, str, str]


def recognises(head: bytes) -> bool:
    """Return whether one of the first lines is the header, or the first line a request."""
    first = LINE.match(first_line(head).decode(errors="replace").strip())
    return bool(first and first["disk"]) or any(map(HEADER.match, head.split(b"\n")[:HEAD_LINES]))


class _Clock:
    """The times of lines, in ns; a time of day never goes back by half a day."""

    def __init__(self) -> None:
        self._last_ns = 0
        self._days_ns = 0

    def ns(self, line: "re.Match[str]") -> int:
        at_ns = int(line["s"]) * S + int(line["fraction"][:9].ljust(9, "0"))
        if line["h"] is None:
            return at_ns
        at_ns += (int(line["h"]) * 60 + int(line["m"])) * 60 * S + self._days_ns
        if at_ns < self._last_ns - DAY_NS // 2:
            self._days_ns += DAY_NS
            at_ns += DAY_NS
        self._last_ns = at_ns
        return at_ns


def read(file: BinaryIO) -> Iterator[Reading]:
    """Read the whole file; what precedes the header, or the first request, is ignored."""
    rows: list[Row] = []
    left_out: dict[str, int] = {}
    queues, begun, clock = False, False, _Clock()
    for number, raw in enumerate(lines(file), start=1):
        header = HEADER.match(raw)
        if header:
            queues, begun = bool(header["queue"]), True
        if gap := LOST.match(raw):
            left_out[EVENTS_LOST] = left_out.get(EVENTS_LOST, 0) + int(gap["events"])
        if header or gap or not raw.strip() or raw.startswith(b"^C"):
            continue
        line = LINE.match(raw.decode(errors="replace").strip())
        if not begun:
            if not line:
                continue
            queues, begun = " " in line["times"], True
        if not line or queues != (" " in line["times"]):
            if not raw.endswith(b"\n"):
                yield Reading(broken=f"breaks off in line {number}: {shown_line(raw)}")
                break
            raise ValueError(f"line {number}: no line of {NAME}: {shown_line(raw)}")
        row = _row(number, line, clock.ns(line))
        if isinstance(row, str):
            left_out[row] = left_out.get(row, 0) + 1
            continue
        rows.append(row)
        if len(rows) == PIECE_ROWS:
            yield Reading(pl.DataFrame(rows, schema=COLUMNS, orient="row"), relative=True)
            rows = []
    if not begun:
        raise ValueError(
            f"has neither the header of {NAME} output nor a request like "
            "1.000004 dd 1950 sda R 13092560 4096 0.74; describe its columns (--columns)"
        )
    yield Reading(pl.DataFrame(rows, schema=COLUMNS, orient="row"), left_out, relative=True)


def _row(number: int, line: "re.Match[str]", end_ns: int) -> Row | str:
    """Return the request, or the reason to leave it out."""
    op = direction(line["rwbs"])
    size, sector = int(line["bytes"]), int(line["sector"])
    if isinstance(op, str):
        return op
    if sector < 0 or not size:
        return NO_LENGTH if sector >= 0 else NO_SECTOR
    if line["disk"] is None:
        return NO_DISK
    *queued_ns, lasted_ns = (_ms_ns(time) for time in line["times"].split())
    waited_ns = sum(queued_ns)
    largest = (2**62, 2**61, OFFSET_MAX_BYTES // SECTOR_BYTES, SIZE_MAX_BYTES)
    values = (end_ns, lasted_ns + waited_ns, sector, size)
    if any(value > most for value, most in zip(values, largest, strict=True)):
        raise ValueError(
            f"line {number}: a number in it is too large: {shown_line(line[0].encode())}"
        )
    begun_ns = end_ns - lasted_ns
    times = (begun_ns - waited_ns, begun_ns, end_ns)
    sectors = -(-size // SECTOR_BYTES)
    return (*times, sector, sectors, int(line["pid"]), ("read", "write")[op], line["disk"])


def _ms_ns(text: str) -> int:
    whole, _, fraction = text.partition(".")
    return int(whole) * 10**6 + int(fraction[:6].ljust(6, "0"))
