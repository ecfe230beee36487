# SPDX-License-Identifier: MIT
"""fio's log of latencies, with offsets: write_lat_log with log_offset=1.

Each line is a request: time of completion (ms), latency (ns), direction (0 read, 1 write, 2
trim), bytes, offset, and fields that are ignored here.  Completion times are rounded to ms.  So
if the computed arrival of a request is at most COARSE_NS before the previous completion, the
arrival is set to that completion.  Each comma is followed by a space, unlike in Tencent's traces.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import BinaryIO

import polars as pl

from understudy_devices.traces.reading import Reading
from understudy_devices.traces.text import LARGEST, first_line, lines, shown_line
from understudy_devices.traces.units import touched

NAME = "fio's log"
LINE = re.compile(rb"^\d+(?:, +(?:0x[0-9a-fA-F]+|\d+)){3,8}$")
OPS = ("read", "write", "other")
COLUMNS = ("arrival_ns", "completion_ns", "sector", "sectors", "op")
MS = 10**6
COARSE_NS = 2 * MS

PIECE_ROWS = 2**17

Sample = tuple[int, int, int, int, int]
Row = tuple[int, int, int, int, str]


def recognises(head: bytes) -> bool:
    """Return whether the first line has only numbers."""
    return bool(LINE.match(first_line(head).strip()))


def read(file: BinaryIO) -> Iterator[Reading]:
    """Read the whole file."""
    breaks: list[str] = []
    all_samples = _samples(file, breaks)
    offsets: set[int] = set()
    count = origin_ns = last_ns = 0
    while samples := list(islice(all_samples, PIECE_ROWS)):
        if len(offsets) < 2:
            offsets |= {offset for *_, offset in samples}
        if not count:
            origin_ns = min(ms * MS - latency_ns for ms, latency_ns, *_ in samples)
        count += len(samples)
        rows = list(_rows(samples, origin_ns, last_ns))
        last_ns = rows[-1][1]
        yield Reading(pl.DataFrame(rows, schema=COLUMNS, orient="row"), relative=True)
    if len(offsets) < 2 < count:
        raise ValueError("has no offsets; run fio with log_offset=1")
    yield Reading(broken=breaks[0] if breaks else None)


def _samples(file: BinaryIO, breaks: list[str]) -> Iterator[Sample]:
    """Yield all samples; if the last line is incomplete, append the reason to `breaks`."""
    some = False
    for number, line in enumerate(lines(file), start=1):
        try:
            if line.strip():
                yield _sample(line)
                some = True
        except ValueError as error:
            if some and not line.endswith(b"\n"):
                breaks.append(f"breaks off in line {number}: {error}")
                return
            raise ValueError(f"line {number}: {error}") from None


def _sample(line: bytes) -> Sample:
    if not LINE.match(line.strip()):
        raise ValueError(f"no line of {NAME}: {shown_line(line)}")
    values = [int(value, 0 if b"x" in value else 10) for value in line.split(b",")]
    if len(values) < 5:
        raise ValueError("no offset; run fio with log_offset=1")
    completed_ms, latency_ns, direction, size, offset = values[:5]
    if max(completed_ms * MS + latency_ns, offset, size) > LARGEST:
        raise ValueError(f"a number is too large: {shown_line(line)}")
    if direction >= len(OPS):
        raise ValueError(f"direction {direction} is none of fio's")
    if direction < 2 and not size:
        raise ValueError("no size; leave log_avg_msec out")
    return completed_ms, latency_ns, direction, size, offset


def _rows(samples: Iterable[Sample], origin_ns: int, last_ns: int) -> Iterator[Row]:
    """Yield rows, with times from `origin_ns`; `last_ns` is the previous sample's completion."""
    for completed_ms, latency_ns, direction, size, offset in samples:
        begin_ns = completed_ms * MS - latency_ns - origin_ns
        if 0 < last_ns - begin_ns <= COARSE_NS:
            begin_ns = last_ns
        last_ns = begin_ns + latency_ns
        yield begin_ns, last_ns, *touched(offset, size), OPS[direction]
