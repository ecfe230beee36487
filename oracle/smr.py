# SPDX-License-Identifier: MIT
"""A drive-managed shingled disk (Aghayev and Desnoyers, "Skylight", FAST 2015).

A band of overlapping tracks can only be written as a whole. Writes of less than a band are appended
to a media cache at the outer edge. When the drive is idle or the cache is full, the drive cleans a
band: it reads the band and the band's blocks in the cache, and rewrites the band.
"""

import random
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field

from oracle.firmware import Firmware, random_mechanism

BLOCK = 8  # in sectors; a partly written block is completed in the drive's memory


@dataclass(eq=False)
class Smr(Firmware):
    """A shingled disk whose cache is a circular log of `cache_blocks` blocks."""

    idle_ms: float = 1000
    band_sectors: int = 2**16
    cache_blocks: int = 2**15
    slot: dict[int, dict[int, int]] = field(init=False, repr=False)  # by band and block
    log: OrderedDict[int, int] = field(init=False, repr=False)  # slot to block, by age
    head: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if self.band_sectors % BLOCK or self.cache_blocks * BLOCK < 2 * self.band_sectors:
            raise ValueError(f"a band of {self.band_sectors} sectors, {self.cache_blocks} blocks")
        super().__post_init__()
        self.capacity_sectors -= self.cache_blocks * BLOCK

    def reset(self) -> None:
        """Reset to the initial state, at time 0."""
        super().reset()
        self.slot, self.log = {}, OrderedDict()
        self.head = 0

    def serve(self, op: str, sector: int, sectors: int, at_ns: int) -> int:
        """Serve a request, band by band."""
        end = sector + sectors
        while sector < end:
            stop = min((sector // self.band_sectors + 1) * self.band_sectors, end)
            at_ns = (self._read if op == "read" else self._write)(sector, stop, at_ns)
            sector = stop
        return at_ns

    def step(self, at_ns: int) -> bool:
        """Clean the band that contains the oldest write in the cache."""
        if not self.log:
            return False
        band = next(iter(self.log.values())) * BLOCK // self.band_sectors
        first = band * self.band_sectors
        end = min(first + self.band_sectors, self.capacity_sectors)
        at_ns = self._read(first, end, at_ns)
        self._forget(band, list(self.slot[band]))
        self.mechanism("write", self._in_place(first), end - first, at_ns)
        return True

    def _read(self, start: int, end: int, at_ns: int) -> int:
        """Read the sectors in order, each from the cache if it is there, else from the band."""
        slots = self.slot.get(start // self.band_sectors)
        if not slots:
            return self.mechanism("read", self._in_place(start), end - start, at_ns)
        for first, sectors in self._runs(slots, start, end):
            at_ns = self.mechanism("read", first, sectors, at_ns)
        return at_ns

    def _runs(self, slots: dict[int, int], start: int, end: int) -> Iterator[tuple[int, int]]:
        """Yield first sector and length of each physically contiguous run that holds part of
        [start, end).
        """
        first = last = -1
        while start < end:
            block = start // BLOCK
            stop = min((block + 1) * BLOCK, end)
            place = self._in_place(start)
            if block in slots:
                place = slots[block] * BLOCK + start % BLOCK
            if place != last:
                if last >= 0:
                    yield first, last - first
                first = place
            last = place + stop - start
            start = stop
        yield first, last - first

    def _write(self, start: int, end: int, at_ns: int) -> int:
        band = start // self.band_sectors
        if end - start == self.band_sectors:
            self._forget(band, list(self.slot.get(band, ())))
            return self.mechanism("write", self._in_place(start), end - start, at_ns)
        blocks = range(start // BLOCK, (end - 1) // BLOCK + 1)
        if self.head + len(blocks) > self.cache_blocks:
            self.head = 0
        slots = range(self.head, self.head + len(blocks))
        while any(slot in self.log for slot in slots):
            self.step(at_ns)
        self._forget(band, [block for block in blocks if block in self.slot.get(band, ())])
        self.log.update(zip(slots, blocks, strict=True))
        self.slot.setdefault(band, {}).update(zip(blocks, slots, strict=True))
        self.head = slots.stop
        return self.mechanism("write", slots.start * BLOCK, len(blocks) * BLOCK, at_ns)

    def _forget(self, band: int, blocks: list[int]) -> None:
        """Drop these blocks from the cache; the copies there are stale."""
        for block in blocks:
            del self.log[self.slot[band].pop(block)]

    def _in_place(self, sector: int) -> int:
        return self.cache_blocks * BLOCK + sector


def random_smr(seed: int) -> Smr:
    """Return a random drive, a different one for each seed."""
    draw = random.Random(f"smr {seed}")
    return Smr(
        random_mechanism(seed),
        idle_ms=draw.choice((50, 250, 1000)),
        band_sectors=draw.choice((2**14, 2**15, 2**16)),
        cache_blocks=draw.choice((2**14, 2**16)),
    )
