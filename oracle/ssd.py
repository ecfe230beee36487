# SPDX-License-Identifier: MIT
"""A solid-state drive: flash dies on channels, a page-mapped translation layer and greedy garbage
collection (Agrawal and others, "Design tradeoffs for SSD performance", USENIX 2008).

The flash's times are taken from FEMU's source code (Li and others, FAST 2018). A new drive is in
the steady state: all its pages were written once in order, and then as many pages were written at
random. The drive accepts a request while earlier requests are still in service. Requests must be
sent in order of time.
"""

import heapq
import random
from array import array
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cache

from oracle.detailed.drive import US
from oracle.firmware import check, check_time

INVALID = -1


@dataclass
class Flash:
    """The mapping of logical pages to physical pages on the dies; timing is not part of it."""

    dies: int
    blocks: int  # on each die
    block_pages: int
    logical_pages: int
    page: "array[int]" = field(init=False)  # the physical page of each logical page
    logical: "array[int]" = field(init=False)  # the logical page of each physical page
    valid: "array[int]" = field(init=False)  # number of valid pages of each block
    free: list[list[int]] = field(init=False)  # free blocks of each die
    active: list[int] = field(init=False)  # the page of each die that is written next
    turn: int = field(init=False)  # the die to which the next page is written

    def __post_init__(self) -> None:
        blocks = self.dies * self.blocks
        self.page = array("q", [INVALID]) * self.logical_pages
        self.logical = array("q", [INVALID]) * (blocks * self.block_pages)
        self.valid = array("q", [0]) * blocks
        self.free = [
            list(range(die * self.blocks + 1, (die + 1) * self.blocks)) for die in range(self.dies)
        ]
        self.active = [die * self.blocks * self.block_pages for die in range(self.dies)]
        self.turn = 0

    def die(self, page: int) -> int:
        """Return the die that contains a page."""
        return page // (self.blocks * self.block_pages)

    def write(self, logical_page: int) -> tuple[int, int, int]:
        """Write a logical page to the next die. Return the die, the number of pages that garbage
        collection moved, and the number of blocks that it erased.
        """
        die = self.turn
        self.turn = (die + 1) % self.dies
        self._invalidate(logical_page)
        self._append(die, logical_page)
        moved = erased = 0
        while len(self.free[die]) < 2:
            moved += self._collect(die)
            erased += 1
        return die, moved, erased

    def _invalidate(self, logical_page: int) -> None:
        page = self.page[logical_page]
        if page != INVALID:
            self.logical[page] = INVALID
            self.valid[page // self.block_pages] -= 1

    def _append(self, die: int, logical_page: int) -> None:
        page = self.active[die]
        self.page[logical_page] = page
        self.logical[page] = logical_page
        self.valid[page // self.block_pages] += 1
        page += 1
        if page % self.block_pages == 0:
            page = self.free[die].pop() * self.block_pages
        self.active[die] = page

    def _collect(self, die: int) -> int:
        """Erase the full block with the fewest valid pages; return the number of pages moved."""
        unused = {self.active[die] // self.block_pages, *self.free[die]}
        blocks = range(die * self.blocks, (die + 1) * self.blocks)
        victim = min((b for b in blocks if b not in unused), key=self.valid.__getitem__)
        first = victim * self.block_pages
        moved = self.valid[victim]
        for page in range(first, first + self.block_pages):
            if self.logical[page] != INVALID:
                self._append(die, self.logical[page])
                self.logical[page] = INVALID
        self.valid[victim] = 0
        self.free[die].append(victim)
        return moved


@cache
def _steady(dies: int, blocks: int, block_pages: int, logical_pages: int) -> Flash:
    flash = Flash(dies, blocks, block_pages, logical_pages)
    draw = random.Random("steady")
    for page in range(logical_pages):
        flash.write(page)
    for _ in range(logical_pages):
        flash.write(draw.randrange(logical_pages))
    return flash


@dataclass(eq=False)
class Ssd:
    """A solid-state drive. Times are in us; `spare` is the share of the flash beyond the logical
    capacity.
    """

    channels: int = 8
    dies: int = 4  # on each channel
    blocks: int = 64  # on each die
    block_pages: int = 128
    page_sectors: int = 16
    spare: float = 0.125
    read_us: float = 40
    program_us: float = 200
    erase_us: float = 2000
    channel_us: float = 20  # for each page
    overhead_us: float = 20
    bus_sector_us: float = 0.85
    buffer_pages: int = 0  # most written pages that the buffer holds; 0: no buffer
    writable: bool = field(default=True, init=False)
    capacity_sectors: int = field(init=False)

    def __post_init__(self) -> None:
        if not 0 < self.spare < 1 or self.blocks * self.spare < 3:
            raise ValueError(f"spare {self.spare} of {self.blocks} blocks: no room to collect")
        pages = self.channels * self.dies * self.blocks * self.block_pages
        self._pages = int(pages * (1 - self.spare))
        self.capacity_sectors = self._pages * self.page_sectors
        self.reset()

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle only the parameters: unpickling yields a drive in its initial state."""
        init = (each.name for each in self.__dataclass_fields__.values() if each.init)
        return type(self), tuple(getattr(self, name) for name in init)

    def reset(self) -> None:
        """Reset to the initial state, at time 0."""
        dies = self.channels * self.dies
        self.flash = deepcopy(_steady(dies, self.blocks, self.block_pages, self._pages))
        self._die_ns = [0.0] * dies
        self._channel_ns = [0.0] * self.channels
        self._buffered: list[float] = []  # when each page will have been programmed
        self._sent_ns = 0

    def request(self, op: str, sector: int, sectors: int, at_ns: int) -> int:
        """Serve a request; return its completion time."""
        check(op, sector, sectors, self.capacity_sectors)
        check_time(op, at_ns, self._sent_ns)
        self._sent_ns = at_ns
        ready_ns = at_ns + self.overhead_us * US
        bus_ns = sectors * self.bus_sector_us * US
        size = self.page_sectors
        pages = range(sector // size, (sector + sectors - 1) // size + 1)
        if op == "read":
            return round(max(self._read(page, ready_ns) for page in pages) + bus_ns)
        ready_ns += bus_ns
        whole = range(-(-sector // size), (sector + sectors) // size)
        return round(max(self._write(page, page in whole, ready_ns) for page in pages))

    def _read(self, page: int, at_ns: float) -> float:
        """Read a page from its die and send it over the channel; return the time at which the page
        has been sent.
        """
        die = self.flash.die(self.flash.page[page])
        self._die_ns[die] = max(self._die_ns[die], at_ns) + self.read_us * US
        return self._carry(die, self._die_ns[die])

    def _carry(self, die: int, at_ns: float) -> float:
        channel = die % self.channels
        self._channel_ns[channel] = max(self._channel_ns[channel], at_ns) + self.channel_us * US
        return self._channel_ns[channel]

    def _write(self, page: int, whole: bool, at_ns: float) -> float:
        """Write a page; return the time at which it is buffered or programmed. If only part of the
        page is written, the page is read first.
        """
        buffered = self._buffered
        while buffered and (buffered[0] <= at_ns or len(buffered) >= self.buffer_pages):
            at_ns = max(at_ns, heapq.heappop(buffered))
        there_ns = at_ns if whole else self._read(page, at_ns)
        die, moved, erased = self.flash.write(page)
        begin_ns = max(self._carry(die, there_ns), self._die_ns[die])
        move_us = moved * (self.read_us + self.program_us) + erased * self.erase_us
        done_ns = begin_ns + self.program_us * US
        self._die_ns[die] = done_ns + move_us * US
        if not self.buffer_pages:
            return done_ns
        heapq.heappush(buffered, done_ns)
        return at_ns


KINDS = ((40, 200, 2000), (90, 700, 5000))  # read, program, erase, us: FEMU's default, TLC


def random_ssd(seed: int) -> Ssd:
    """Return a random drive, a different one for each seed."""
    draw = random.Random(f"ssd {seed}")
    read_us, program_us, erase_us = draw.choice(KINDS)
    channels, dies = draw.choice((2, 4, 8)), draw.choice((2, 4))
    return Ssd(
        channels=channels,
        dies=dies,
        blocks=2048 // (channels * dies),  # 2 GB altogether
        spare=draw.choice((0.07, 0.125, 0.25)),
        read_us=read_us,
        program_us=program_us,
        erase_us=erase_us,
        channel_us=draw.uniform(10, 40),
        overhead_us=draw.uniform(5, 50),
        bus_sector_us=draw.choice((0.15, 0.85, 1.7)),
        buffer_pages=draw.choice((0, 64, 1024)),
    )
