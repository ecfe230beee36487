# SPDX-License-Identifier: MIT
"""blkparse's text of a blktrace: a row for each request that was issued (D) and completed (C).

A request's arrival is the time when its first sector was queued (Q), if the trace has that event.
A back merge (M) drops the queueing time of the merged request, and a front merge (F) that of the
extended request.  So a later request at the same sector does not get this time.

Other lines (plugs, messages, blkparse's summary) are ignored.  Requests with only an issue or
only a completion in the trace are counted, and have no row.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

import polars as pl

from understudy_devices.traces.reading import NO_REQUEST, UNCOMPLETED, UNISSUED, Reading
from understudy_devices.traces.text import LARGEST, lines, shown_line

NAME = "blkparse's text"
EVENT = re.compile(
    rb"^ *(?P<device>\d+,\d+) +\d+ +\d+ +(?P<s>\d+)\.(?P<ns>\d{9}) +(?P<pid>\d+) +(?P<action>\w+)"
    rb" +(?P<kind>\w+)(?: +(?P<sector>\d+) \+ (?P<sectors>\d+)\b)?",
)
INTS = ("arrival_ns", "dispatch_ns", "completion_ns", "sector", "sectors")
COLUMNS = {**dict.fromkeys(INTS, pl.Int64), "op": pl.String, "owner": pl.Int64}
PIECE_ROWS = 2**17
AGAIN = "issued again before it was completed"


@dataclass
class Sent:
    """A request that was issued and is not completed yet."""

    arrival_ns: int
    dispatch_ns: int
    sectors: int
    op: str
    owner: int


class _Reader:
    """Reads events in order of time."""

    def __init__(self) -> None:
        self.rows: list[tuple[int | str, ...]] = []
        self._device = b""
        self._queued: dict[int, tuple[int, int]] = {}  # by first sector: time, owner
        self._sent: dict[int, Sent] = {}
        self._left_out: Counter[str] = Counter()

    @property
    def left_out(self) -> dict[str, int]:
        """Return the number of requests without a row, by reason."""
        return dict(self._left_out + Counter({UNCOMPLETED: len(self._sent)}))

    def given(self) -> pl.DataFrame:
        """Return the rows since the last call, and remove them from the reader."""
        rows, self.rows = self.rows, []
        return pl.DataFrame(rows, schema=COLUMNS, orient="row")

    def take(self, event: "re.Match[bytes]") -> None:
        """Process one event with sectors."""
        self._check_device(event["device"])
        now_ns = int(event["s"]) * 10**9 + int(event["ns"])
        sector, sectors = int(event["sector"]), int(event["sectors"])
        if max(now_ns, sector, sectors, int(event["pid"])) > LARGEST:
            raise ValueError(f"a number in it is too large: {shown_line(event[0])}")
        if event["action"] == b"Q":
            self._queued.setdefault(sector, (now_ns, int(event["pid"])))
        elif event["action"] == b"M":
            self._queued.pop(sector, None)
        elif event["action"] == b"F":
            self._queued.pop(sector + sectors, None)
        elif event["action"] == b"D" and sectors:
            arrival_ns, owner = self._queued.pop(sector, (now_ns, int(event["pid"])))
            op = _op(event["kind"])
            self._left_out[AGAIN] += sector in self._sent
            self._sent[sector] = Sent(arrival_ns, now_ns, sectors, op, owner)
        elif event["action"] == b"C" and sector in self._sent:
            self._complete(self._sent.pop(sector), sector, now_ns, event[0])
        elif event["action"] == b"C" and sectors:
            self._left_out[UNISSUED] += 1

    def _complete(self, sent: Sent, sector: int, now_ns: int, line: bytes) -> None:
        times = (sent.arrival_ns, sent.dispatch_ns, now_ns)
        if not times[0] <= times[1] <= times[2]:
            raise ValueError(f"time goes back at {shown_line(line)}; sort it: blkparse -s")
        self.rows.append((*times, sector, sent.sectors, sent.op, sent.owner))

    def _check_device(self, device: bytes) -> None:
        self._device = self._device or device
        if device != self._device:
            first, other = self._device.decode(), device.decode()
            raise ValueError(f"holds two devices, {first} and {other}; trace one of them")


def recognises(head: bytes) -> bool:
    """Return whether one of the first lines is an event."""
    return any(EVENT.match(line) for line in head.split(b"\n")[:20])


def read(file: BinaryIO) -> Iterator[Reading]:
    """Read the whole file."""
    reader = _Reader()
    some = False
    for line in lines(file):
        event = EVENT.match(line)
        if event and event["sector"]:
            reader.take(event)
        if len(reader.rows) == PIECE_ROWS:
            some = True
            yield Reading(reader.given())
    if not some and not reader.rows:
        raise ValueError(NO_REQUEST)
    yield Reading(reader.given(), reader.left_out)


def _op(kind: bytes) -> str:
    """Return the operation in the RWBS field, whose other letters are flags."""
    if b"D" in kind:
        return "other"  # discards
    return "read" if b"R" in kind else "write" if b"W" in kind else "other"
