# SPDX-License-Identifier: MIT
"""Requests from the events of a block layer, which a text lists: queued, issued, completed.

A format's reader calls `put` for each event, in the order of the file, and yields what `pieces`
returns.  Events of different devices belong to different volumes, and losses are counted for each.
host/traces/match.h says which events belong together, and what is counted as lost.  If another
device issued requests, a device that issued none passed its requests on (device mapper), and lost
none.  A file without any completion has arrivals
only: those of all requests that were issued.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import polars as pl

from understudy_devices.base import file_arrays
from understudy_devices.native.arrays import Columns
from understudy_devices.native.matching import EVENT, Event, Kind, Matcher
from understudy_devices.traces.reading import (
    DISCARDS,
    FLUSHES,
    NO_LENGTH,
    NO_REQUEST,
    NO_TRANSFER,
    REISSUED,
    REMAPPED,
    UNCOMPLETED,
    UNISSUED,
    UNISSUED_QUEUES,
    Reading,
)

TWICE = "events that are there twice in a row"
ISSUE, COMPLETE, SPLIT = int(Kind.ISSUE), int(Kind.COMPLETE), int(Kind.SPLIT)
PIECE_EVENTS = 2**17
TIME_MAX_NS = 2**62
LARGEST = {"time": TIME_MAX_NS, "sector": 2**47, "sectors": 2**31, "process": 2**32 - 1}
LEAST_MAX = min(LARGEST.values())
OP = pl.when(pl.col("op") == 0).then(pl.lit("read")).otherwise(pl.lit("write"))
Records = npt.NDArray[np.void]
TIMES = ("arrival_ns", "dispatch_ns", "completion_ns")


@dataclass
class _Device:
    matcher: Matcher = field(default_factory=Matcher)
    events: list[Event] = field(default_factory=list)
    last: Event | None = None
    lines: list[int] = field(default_factory=list)
    issued: bool = False  # some request
    left_out: Counter[str] = field(default_factory=Counter)


@lru_cache(256)
def direction(rwbs: str) -> int | str:
    """Return 0 for a read and 1 for a write by the kernel's letters for a request; for any other
    request, the reason to leave it out.
    """
    if rwbs.startswith("Z"):
        return NO_TRANSFER
    if "D" in rwbs:
        return DISCARDS
    if "R" in rwbs:
        return 0
    if "W" in rwbs:
        return 1
    return FLUSHES if "F" in rwbs else NO_TRANSFER


def sectors_of(kind: int, sector: int, mark: bytes, number: int) -> int:
    """Return the sectors of an event that a text shows as `sector + number` or `sector / number`.

    A split (/) has the sector at which the second part begins; then the result is the first part's.
    """
    if kind != SPLIT:
        return number
    return max(number - sector, 0) if mark == b"/" else 0


class Events:
    """The events of all devices of a file."""

    def __init__(self, mend: str) -> None:
        """Begin without events; `mend` tells how a user sorts the lines by time."""
        self._mend = mend
        self._devices: dict[str, _Device] = {}
        self._waiting = 0
        self._some = False
        self._uncompleted: dict[str, file_arrays.Column] | None = {}  # until a request completes

    def leave_out(self, device: str, why: str) -> None:
        """Count a request that has no row."""
        self._device(device).left_out[why] += 1

    def put(
        self, line: int, device: str, kind: int, rwbs: str, place: tuple[int, int, int, int]
    ) -> None:
        """Add an event; `place` is its time in ns, first sector, number of sectors and process."""
        op = direction(rwbs)
        if kind == COMPLETE:
            self._uncompleted = None
        if isinstance(op, str) or not place[2]:
            if kind == ISSUE:
                self.leave_out(device, op if isinstance(op, str) else NO_LENGTH)
            return
        if place[0] > TIME_MAX_NS or max(place[1:]) > LEAST_MAX:
            _check(line, place)
        one = self._device(device)
        event = (*place, kind, op)
        if event == one.last:
            one.left_out[TWICE] += 1
            return
        one.last = event
        one.issued |= kind == ISSUE
        one.events.append(event)
        one.lines.append(line)
        self._waiting += 1

    def pieces(self) -> Iterator[Reading]:
        """Yield the requests that have completed, once there are enough events for a block."""
        if self._waiting >= PIECE_EVENTS:
            yield from self._requests()

    def end(self) -> Iterator[Reading]:
        """Yield what remains; ValueError if the file has no request."""
        yield from self._requests()
        if self._uncompleted:
            yield from self._arrivals(self._uncompleted)
        else:
            for one in self._devices.values():
                self._count_losses(one)
        counts = {name: dict(+one.left_out) for name, one in self._devices.items()}
        if not self._some:
            every = sum((Counter(one) for one in counts.values()), Counter[str]())
            reasons = [f"{count:,} {why}" for why, count in every.items()]
            raise ValueError("; ".join([NO_REQUEST, *reasons]))
        for name, left_out in counts.items():
            yield Reading(left_out=left_out, volume=name)

    def _count_losses(self, one: _Device) -> None:
        matcher, left_out = one.matcher, one.left_out
        if not one.issued and any(other.issued for other in self._devices.values()):
            left_out[REMAPPED] += max(matcher.unissued_queues, matcher.unissued)
            return
        left_out[UNISSUED] += matcher.unissued
        left_out[UNCOMPLETED] += matcher.uncompleted
        left_out[REISSUED] += matcher.reissued
        left_out[UNISSUED_QUEUES] += matcher.unissued_queues

    def _device(self, name: str) -> _Device:
        return self._devices.get(name) or self._devices.setdefault(name, _Device())

    def _requests(self) -> Iterator[Reading]:
        for name, one in self._devices.items():
            if not one.events:
                continue
            self._remember(name, one.events)
            rows = one.matcher.rows(one.events)
            self._check_order(rows, one.lines)
            one.events, one.lines = [], []
            if len(rows["op"]):
                self._some = True
                yield Reading(_frame(rows, name, TIMES))
        self._waiting = 0

    def _remember(self, name: str, events: Iterable[Event]) -> None:
        """Keep all events while none is a completion."""
        if self._uncompleted is None:
            return
        column = self._uncompleted.setdefault(name, file_arrays.Column(EVENT))
        column.put(np.array(events, EVENT))

    def _arrivals(self, columns: dict[str, file_arrays.Column]) -> Iterator[Reading]:
        """Yield the arrivals of requests of which only the issue is known, as if each completed
        at once.
        """
        for name, column in columns.items():
            events, matcher = column.array(), Matcher()
            for part in file_arrays.blocks(len(events)):
                rows = matcher.rows(_completed_at_once(events[part]))
                if len(rows["op"]):
                    self._some = True
                    yield Reading(_frame(rows, name, TIMES[:1]))
            one = self._devices[name]
            why = UNISSUED_QUEUES if one.issued else REMAPPED
            one.left_out[why] += matcher.unissued_queues

    def _check_order(self, rows: Columns, lines: list[int]) -> None:
        arrival_ns, dispatch_ns, completion_ns = (rows[name] for name in TIMES)
        wrong = (arrival_ns > dispatch_ns) | (dispatch_ns > completion_ns)
        if wrong.any():
            line = lines[int(rows["event"][wrong.argmax()])]
            raise ValueError(
                f"line {line}: time goes back, to before the request began; sort the lines by "
                f"time{self._mend}"
            )


def _check(line: int, place: tuple[int, int, int, int]) -> None:
    """Raise ValueError if a number is larger than any trace's."""
    for (name, most), value in zip(LARGEST.items(), place, strict=True):
        if value > most:
            raise ValueError(f"line {line}: its {name}, {value}, is too large")


def _completed_at_once(events: Records) -> Records:
    """Add a completion behind each issue."""
    issues = events["kind"] == Kind.ISSUE
    times = 1 + issues.astype(np.int64)
    result = np.repeat(events, times)
    result["kind"][np.cumsum(times)[issues] - 1] = Kind.COMPLETE
    return result


def _frame(rows: Columns, volume: str, times: Sequence[str]) -> pl.DataFrame:
    columns = {name: rows[name] for name in (*times, "sector", "sectors", "op", "owner")}
    return pl.DataFrame(columns).with_columns(op=OP, volume=pl.lit(volume))
