# SPDX-License-Identifier: MIT
"""The NVMe driver's tracepoints, as ftrace, `trace-cmd report` and `perf script` print them.

nvme_setup_cmd and nvme_complete_rq of one controller, queue and command id make a request.  Logical
blocks are taken as 512 bytes, since the trace does not say their size.  Each disk is a volume; the
owner is the process that sent the command.  Commands that neither read nor write are counted.
A trace that has the block layer's events as well is read by them (ftrace.py).
"""

import re
from collections import Counter
from collections.abc import Iterator
from typing import BinaryIO

import polars as pl

from understudy_devices.traces.ftrace_lines import EVENTS_LOST, LINE, events_in, lost, time_ns
from understudy_devices.traces.reading import (
    NO_REQUEST,
    NO_TRANSFER,
    REISSUED,
    UNCOMPLETED,
    UNISSUED,
    Reading,
)
from understudy_devices.traces.text import lines, shown_line

NAME = "NVMe tracepoints"
SETUP, COMPLETE = b"nvme_setup_cmd", b"nvme_complete_rq"
VALUES = re.compile(
    rb"(?P<controller>nvme\d+): (?:disk=(?P<disk>\w+), )?qid=(?P<queue>\d+), cmdid=(?P<id>\d+)"
)
COMMAND = re.compile(rb"nvme_cmd_(?P<op>read|write) slba=(?P<lba>\d+), len=(?P<blocks>\d+)")
BLOCKS_MAX = 2**16
LBA_MAX = 2**47
INTS = ("arrival_ns", "completion_ns", "sector", "sectors", "owner")
COLUMNS = {**dict.fromkeys(INTS, pl.Int64), "op": pl.String, "volume": pl.String}
PIECE_ROWS = 2**17

Sent = tuple[int, int, int, int, str, str] | None
"""Time, sector, sectors, process, operation and disk; None if the command moves no data."""
Row = tuple[int, int, int, int, int, str, str]


class _Reader:
    def __init__(self) -> None:
        self.rows: list[Row] = []
        self.left_out: Counter[str] = Counter()
        self._sent: dict[tuple[bytes, ...], Sent] = {}

    @property
    def outstanding(self) -> int:
        """Return the number of commands that have not completed."""
        return sum(sent is not None for sent in self._sent.values())

    def put(self, number: int, line: "re.Match[bytes]") -> None:
        values = VALUES.match(line["values"])
        if not values:
            raise ValueError(f"line {number}: no {line['event'].decode()}: {shown_line(line[0])}")
        key = (values["controller"], values["queue"], values["id"])
        if line["event"] == SETUP:
            disk = (values["disk"] or values["controller"]).decode()
            self.left_out[REISSUED] += self._sent.get(key) is not None
            self._sent[key] = self._request(number, line, disk)
        elif key not in self._sent:
            self.left_out[UNISSUED] += 1
        elif sent := self._sent.pop(key):
            begun_ns, sector, sectors, pid, op, disk = sent
            now_ns = time_ns(line)
            if now_ns < begun_ns:
                raise ValueError(f"line {number}: time goes back, to before the command was sent")
            self.rows.append((begun_ns, now_ns, sector, sectors, pid, op, disk))

    def _request(self, number: int, line: "re.Match[bytes]", disk: str) -> Sent:
        command = COMMAND.search(line["values"])
        if not command:
            self.left_out[NO_TRANSFER] += 1
            return None
        sector, sectors = int(command["lba"]), int(command["blocks"]) + 1
        if sector >= LBA_MAX or sectors > BLOCKS_MAX:
            raise ValueError(f"line {number}: a number in it is too large: {shown_line(line[0])}")
        op = command["op"].decode()
        return (time_ns(line), sector, sectors, int(line["pid"]), op, disk)


def recognises(head: bytes) -> bool:
    """Return whether the first lines have the driver's events, and not the block layer's."""
    events = events_in(head)
    return not events.isdisjoint((SETUP, COMPLETE)) and b"block_rq_issue" not in events


def read(file: BinaryIO) -> Iterator[Reading]:
    """Read the whole file."""
    reader, some = _Reader(), False
    for number, line in enumerate(lines(file), start=1):
        match = LINE.match(line)
        if not match or match["event"] not in (SETUP, COMPLETE):
            reader.left_out[EVENTS_LOST] += lost(line)
            continue
        if not line.endswith(b"\n") and not VALUES.match(match["values"]):
            yield Reading(broken=f"breaks off in line {number}: {shown_line(line)}")
            break
        reader.put(number, match)
        if len(reader.rows) == PIECE_ROWS:
            some = True
            yield Reading(pl.DataFrame(reader.rows, schema=COLUMNS, orient="row"))
            reader.rows = []
    reader.left_out[UNCOMPLETED] = reader.outstanding
    left_out = dict(+reader.left_out)
    if not some and not reader.rows:
        counts = [f"{count:,} {why}" for why, count in left_out.items()]
        raise ValueError("; ".join([NO_REQUEST, *counts]))
    yield Reading(pl.DataFrame(reader.rows, schema=COLUMNS, orient="row"), left_out)
