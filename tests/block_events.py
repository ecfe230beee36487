# SPDX-License-Identifier: MIT
"""The events that a block layer would record for random requests, and those requests.

Events have the layout of linux/blktrace_api.h, built with `struct` alone.
"""

import random
import struct
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import count

MAGIC = 0x65617400
ACTIONS = {"Q": 1, "M": 2, "F": 3, "G": 4, "R": 6, "D": 7, "C": 8, "P": 9, "X": 13, "A": 15}
CATEGORIES = {"Q": 4, "M": 4, "F": 4, "G": 4, "R": 5, "D": 6, "C": 7, "P": 4}
READ, WRITE, FLUSH, FS, PC, NOTIFY, META, DISCARD = 0, 1, 2, 8, 9, 10, 12, 13
ZONE_RESET, WRITE_ZEROES = 17, 22
SDA = 8 << 20
Row = tuple[int, int, int, int, int, str, int]  # the columns of a trace


@dataclass(frozen=True)
class Event:
    """One record: times in ns, positions in sectors; `also` holds further category flags."""

    time_ns: int
    cpu: int
    action: str
    sector: int = 0
    sectors: int = 0
    pid: int = 100
    also: tuple[int, ...] = (READ,)
    payload: bytes = b""
    cgroup: bool = False
    device: int = SDA
    length: int | None = None  # in bytes, if not 512 * sectors

    @property
    def code(self) -> int:
        """Return the action with its categories."""
        own = CATEGORIES.get(self.action)
        bits = self.also if own is None else (*self.also, own)
        return ACTIONS[self.action] | self.cgroup << 8 | sum(1 << 16 + bit for bit in bits)


def record(event: Event, sequence: int, version: int = 7, order: str = "<") -> bytes:
    """Return the bytes of one record; `order` is struct's byte-order character."""
    length = 512 * event.sectors if event.length is None else event.length
    payload = bytes(8) * event.cgroup + event.payload
    begin = (MAGIC + version, sequence, event.time_ns, event.sector, length)
    end = (event.device, event.cpu, 0, len(payload))
    if version == 8:
        return struct.pack(f"{order}2I2Q2IQ2I2H12x", *begin, event.pid, event.code, *end) + payload
    return struct.pack(f"{order}2I2Q5I2H", *begin, event.code, event.pid, *end) + payload


def note(time_ns: int, cpu: int, name: bytes, order: str = "<") -> bytes:
    """Return the record with a process' name; such records have no sequence number."""
    begin = (MAGIC + 7, 0, time_ns, 0, 0, 1 << 16 + NOTIFY, 100, SDA, cpu, 0, len(name))
    return struct.pack(f"{order}2I2Q5I2H", *begin) + name


def files(events: Iterable[Event], version: int = 7, order: str = "<") -> dict[int, bytes]:
    """Return each CPU's records as bytes, in order of time."""
    written: dict[int, bytes] = defaultdict(bytes)
    numbers: dict[int, count[int]] = defaultdict(lambda: count(1))
    for event in sorted(events, key=lambda event: event.time_ns):
        cpu = event.cpu
        written[cpu] += record(event, next(numbers[cpu]), version, order)
    return dict(written)


def one_file(events: Iterable[Event], version: int = 7, order: str = "<") -> bytes:
    """Return the files of all CPUs concatenated, as blktrace sends them through a pipe."""
    return b"".join(files(events, version, order).values())


class Requests:
    """Random requests at a few places; at each place one request follows another.

    Plain requests are queued, merged, issued and completed.  The others are also split, requeued,
    and completed in parts.
    """

    def __init__(self, seed: int, *, plain: bool = False) -> None:
        self._draw = random.Random(seed)
        self._plain = plain
        self._instants: set[int] = set()
        self.events: list[Event] = []
        self.rows: list[Row] = []
        for place in range(self._draw.randrange(1, 12)):
            self._now_ns = self._draw.randrange(10**6)
            for _ in range(self._draw.randrange(1, 4)):
                self._live(1000 * (place + 1))

    def _live(self, place: int) -> None:
        op = self._draw.choice(["read", "write"])
        event = Event(
            0, 0, "Q", also=(WRITE if op == "write" else READ, FS), pid=self._draw.randrange(1, 9)
        )
        first = place + 8 * self._draw.randrange(-2, 3)
        arrival_ns = self._happens(event, first, 8) if self._chance(0.9) else 0
        sectors = 8
        issuer = 9
        if arrival_ns and self._chance(0.4):
            self._happens(event, first + sectors, 8)
            self._happens(replace(event, action="M"), first + sectors, 8)
            sectors += 8
        if arrival_ns and self._chance(0.4):
            first -= 8
            sectors += 8
            other = replace(event, pid=event.pid + 20)
            arrival_ns = self._happens(other, first, 8)
            self._happens(replace(other, action="F"), first, 8)
            event = other
        if arrival_ns and not self._plain and self._chance(0.3):
            self._split(event, first, sectors)
            rest = sectors // 2
            self._serve(event, issuer, arrival_ns, op, first + rest, sectors - rest)
            sectors = rest
        self._serve(event, issuer, arrival_ns, op, first, sectors)

    def _split(self, event: Event, first: int, sectors: int) -> None:
        rest = first + sectors // 2
        cgroup = self._chance(0.5)
        split = replace(event, action="X", payload=struct.pack(">Q", rest), cgroup=cgroup)
        self._happens(split, first, sectors // 2)

    def _serve(
        self, event: Event, issuer: int, arrival_ns: int, op: str, first: int, sectors: int
    ) -> None:
        issue = replace(event, action="D", pid=issuer)
        dispatch_ns = self._happens(issue, first, sectors)
        begin, left = first, sectors
        while not self._plain and self._chance(0.3):
            if left > 1 and self._chance(0.5):
                part = self._draw.randrange(1, left)
                self._happens(replace(event, action="C"), begin, part)
                begin, left = begin + part, left - part
            if self._chance(0.5):
                self._happens(replace(event, action="R"), begin, left)
                self._happens(issue, begin, left)
        completion_ns = self._happens(replace(event, action="C", pid=0), begin, left)
        owner = event.pid if arrival_ns else issuer
        times = (arrival_ns or dispatch_ns, dispatch_ns, completion_ns)
        self.rows.append((*times, first, sectors, op, owner))

    def _happens(self, event: Event, sector: int, sectors: int) -> int:
        """Append an event at an instant that no other event has; return the instant."""
        self._now_ns += self._draw.randrange(1, 10**6)
        while self._now_ns in self._instants:
            self._now_ns += 1
        self._instants.add(self._now_ns)
        cpu = self._draw.randrange(4)
        self.events.append(
            replace(event, time_ns=self._now_ns, cpu=cpu, sector=sector, sectors=sectors)
        )
        return self._now_ns

    def _chance(self, probability: float) -> bool:
        return self._draw.random() < probability
