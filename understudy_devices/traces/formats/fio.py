# SPDX-License-Identifier: MIT
"""fio's logs of latencies (write_lat_log): time of completion (ms), latency (ns), direction (0
read, 1 write, 2 trim), bytes, with log_offset=1 the offset, and a priority that is ignored.

Each line is a request.  Without offsets, the trace does not say where requests were.  Five decimal
numbers are those of an old fio with offsets, unless the fifth is never more than 1: then it is a
priority.  Completion times are rounded to ms.  So if the computed arrival of a request is at most
COARSE_NS before the previous completion, the arrival is set to that completion.  Each comma is
followed by a space, unlike in Tencent's traces.

fio's other logs look alike.  Samples at the ends of equal intervals are averages (bandwidth, IOPS,
log_avg_msec), and a latency longer than the run is none: both are refused.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import BinaryIO

import polars as pl

from understudy_devices.traces.reading import Reading
from understudy_devices.traces.text import LARGEST, first_line, lines, shown_line
from understudy_devices.traces.units import SECTOR_BYTES, touched

NAME = "fio's log"
LINE = re.compile(rb"^\d+(?:, +(?:0x[0-9a-fA-F]+|\d+)){3,8}$")
OTHER_LOG = re.compile(r"(?:^|_)(?:bw|iops)(?:\.\d+)?\.log\b")
OPS = ("read", "write", "other")
COLUMNS = ("arrival_ns", "completion_ns", "sector", "sectors", "op")
MS = 10**6
COARSE_NS = 2 * MS
INTERVAL_LEAST_MS = 100  # of averages; fio's default is 500
WANTED = "give the log of latencies, as NAME_lat.1.log (write_lat_log=NAME, without log_avg_msec)"

PIECE_ROWS = 2**17

Sample = tuple[int, int, int, int, int | None]
Row = tuple[int | str | None, ...]


def recognises(head: bytes) -> bool:
    """Return whether the first line has only numbers."""
    return bool(LINE.match(first_line(head).strip()))


class _Run:
    """What shows that a log is not one of latencies."""

    def __init__(self) -> None:
        self._longest = (0, 0)  # latency in ns, and the line, negated: the first of equal ones
        self._last_ms = 0
        self._interval_ms = 0
        self._times = 0
        self._regular = True

    def put(self, number: int, sample: Sample) -> None:
        self._longest = max(self._longest, (sample[1], -number))
        if sample[0] != self._last_ms or not self._times:
            gap_ms = sample[0] - self._last_ms
            interval_ms = self._interval_ms = self._interval_ms or gap_ms
            self._regular &= gap_ms == interval_ms >= INTERVAL_LEAST_MS
            self._times += 1
        self._last_ms = max(self._last_ms, sample[0])

    def check(self) -> None:
        """Raise ValueError if the lines so far are not those of latencies."""
        if self._regular and self._times > 2:
            raise ValueError(f"has a sample every {self._interval_ms:,} ms: averages; {WANTED}")
        latency_ns, number = self._longest
        if latency_ns > self._last_ms * MS + COARSE_NS:
            raise ValueError(
                f"line {-number}: a latency of {latency_ns:,} ns, and the whole run took "
                f"{self._last_ms:,} ms; {WANTED}"
            )


def read(file: BinaryIO) -> Iterator[Reading]:
    """Read the whole file."""
    if OTHER_LOG.search(Path(str(getattr(file, "name", ""))).name):
        raise ValueError(f"is by its name fio's log of bandwidth or IOPS; {WANTED}")
    breaks: list[str] = []
    run = _Run()
    all_samples = _samples(file, breaks, run)
    count = origin_ns = last_ns = 0
    placed = True
    while samples := list(islice(all_samples, PIECE_ROWS)):
        if not count:
            origin_ns = min(ms * MS - latency_ns for ms, latency_ns, *_ in samples)
            placed = any(offset is not None and offset > 1 for *_, offset in samples)
        count += len(samples)
        rows = list(_rows(samples, origin_ns, last_ns))
        last_ns = int(rows[-1][1] or 0)
        frame = pl.DataFrame(rows, schema=COLUMNS, orient="row")
        frame = frame if placed else frame.drop("sector")
        yield Reading(frame, relative=True, origin_ns=origin_ns)
    run.check()
    yield Reading(broken=breaks[0] if breaks else None)


def _samples(file: BinaryIO, breaks: list[str], run: _Run) -> Iterator[Sample]:
    """Yield all samples; if the last line is incomplete, append the reason to `breaks`."""
    some = False
    for number, line in enumerate(lines(file), start=1):
        try:
            if line.strip():
                sample = _sample(line)
                run.put(number, sample)
                yield sample
                some = True
        except ValueError as error:
            if some and not line.endswith(b"\n"):
                breaks.append(f"breaks off in line {number}: {error}")
                return
            raise ValueError(f"line {number}: {error}") from None


def _sample(line: bytes) -> Sample:
    if not LINE.match(line.strip()):
        raise ValueError(f"no line of {NAME}: {shown_line(line)}")
    fields = line.split(b",")
    values = [int(value, 0 if b"x" in value else 10) for value in fields]
    completed_ms, latency_ns, direction, size = values[:4]
    offset = values[4] if len(values) > 4 and b"x" not in fields[4] else None
    if max(completed_ms * MS + latency_ns, offset or 0, size) > LARGEST:
        raise ValueError(f"a number is too large: {shown_line(line)}")
    if direction >= len(OPS):
        raise ValueError(f"direction {direction} is none of fio's")
    if direction < 2 and not size:
        raise ValueError(f"no size, so this is an average; {WANTED}")
    return completed_ms, latency_ns, direction, size, offset


def _rows(samples: Iterable[Sample], origin_ns: int, last_ns: int) -> Iterator[Row]:
    """Yield rows, with times from `origin_ns`; `last_ns` is the previous sample's completion."""
    for completed_ms, latency_ns, direction, size, offset in samples:
        begin_ns = completed_ms * MS - latency_ns - origin_ns
        if 0 < last_ns - begin_ns <= COARSE_NS:
            begin_ns = last_ns
        last_ns = begin_ns + latency_ns
        place = (None, -(-size // SECTOR_BYTES)) if offset is None else touched(offset, size)
        yield begin_ns, last_ns, *place, OPS[direction]
