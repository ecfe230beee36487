# SPDX-License-Identifier: MIT
"""A magnetic drive with flash. Blocks that are read twice are kept in the flash. Writes go to the
flash first and are destaged when the drive is idle. Long requests bypass the flash.
"""

import random
from bisect import bisect_left, insort
from collections import OrderedDict
from dataclasses import dataclass, field
from enum import Enum, auto

from oracle.detailed.drive import US
from oracle.firmware import Firmware, random_mechanism


class Held(Enum):
    """The state of a block in the flash."""

    CLEAN = auto()
    DIRTY = auto()
    PART = auto()  # dirty, and only the written part is in the flash


@dataclass(eq=False)
class Hybrid(Firmware):
    """A drive whose flash serves requests even while the mechanism is busy. When the flash is full,
    the least recently used clean block is replaced."""

    idle_ms: float = 200
    blocks: int = 16384
    dirty_blocks: int = 1024
    block_sectors: int = 64
    longest_sectors_held: int = 512
    flash_read_us: float = 120
    flash_write_us: float = 250
    held: OrderedDict[int, Held] = field(init=False, repr=False)
    dirty: list[int] = field(init=False, repr=False)  # ascending
    read_once: OrderedDict[int, None] = field(init=False, repr=False)
    destaged: int = field(init=False, repr=False)

    def reset(self) -> None:
        """Reset to the initial state, at time 0."""
        super().reset()
        self.held, self.read_once = OrderedDict(), OrderedDict()
        self.dirty = []
        self.destaged = 0

    def serve(self, op: str, sector: int, sectors: int, at_ns: int) -> int:
        """Serve a request from the flash if the flash holds the whole read or has room for the
        write; otherwise use the mechanism.
        """
        size = self.block_sectors
        blocks = range(sector // size, (sector + sectors - 1) // size + 1)
        if op == "read":
            in_flash = self._read(blocks, sectors)
        else:
            whole = range(-(-sector // size), (sector + sectors) // size)
            in_flash = self._write(blocks, whole, sectors)
        if not in_flash:
            return self.mechanism(op, sector, sectors, at_ns)
        of = self.drive.parameters
        flash_ns = (self.flash_read_us if op == "read" else self.flash_write_us) * US
        return round(at_ns + of.read_hit_overhead_ns + flash_ns + sectors * of.bus_sector_ns)

    def _read(self, blocks: range, sectors: int) -> bool:
        """Return whether the flash holds the whole read; if not, add the blocks that were read once
        before.
        """
        if all(self.held.get(block, Held.PART) is not Held.PART for block in blocks):
            for block in blocks:
                self.held.move_to_end(block)
            return True
        for block in blocks if sectors <= self.longest_sectors_held else ():
            if block in self.read_once:
                del self.read_once[block]
                self._hold(block, Held.CLEAN)
            elif block not in self.held:
                self.read_once[block] = None
                if len(self.read_once) > self.blocks:
                    self.read_once.popitem(last=False)
        return False

    def _write(self, blocks: range, whole: range, sectors: int) -> bool:
        """Return whether the flash accepts the write. If not, drop the flash's copies of the
        written blocks, since these copies become stale.
        """
        new = sum(not self._is_dirty(block) for block in blocks)
        if sectors <= self.longest_sectors_held and len(self.dirty) + new <= self.dirty_blocks:
            for block in blocks:
                all_of_it = block in whole or self.held.get(block, Held.PART) is not Held.PART
                self._hold(block, Held.DIRTY if all_of_it else Held.PART)
            return True
        for block in blocks:
            if self._is_dirty(block):
                self.dirty.remove(block)
                if block not in whole:
                    self._destage(block)
            self.held.pop(block, None)
        return False

    def _is_dirty(self, block: int) -> bool:
        return self.held.get(block, Held.CLEAN) is not Held.CLEAN

    def _hold(self, block: int, how: Held) -> None:
        """Add a block; a full flash drops the least recently used clean block."""
        if how is not Held.CLEAN and not self._is_dirty(block):
            insort(self.dirty, block)
        self.held[block] = how
        self.held.move_to_end(block)
        self.read_once.pop(block, None)
        if len(self.held) > self.blocks:
            del self.held[next(one for one, state in self.held.items() if state is Held.CLEAN)]

    def _destage(self, block: int, at_ns: int = 0) -> None:
        """Destage a block. If the flash holds only part of it, read the block from the disk
        first.
        """
        first = block * self.block_sectors
        sectors = min(self.block_sectors, self.capacity_sectors - first)
        if self.held[block] is Held.PART:
            self.mechanism("read", first, sectors, at_ns)
        self.mechanism("write", first, sectors, at_ns)
        self.held[block] = Held.CLEAN

    def step(self, at_ns: int) -> bool:
        """Destage the next dirty block in ascending order."""
        if not self.dirty:
            return False
        block = self.dirty.pop(bisect_left(self.dirty, self.destaged) % len(self.dirty))
        self._destage(block, at_ns)
        self.destaged = block
        return True


def random_hybrid(seed: int) -> Hybrid:
    """Return a random drive, a different one for each seed."""
    draw = random.Random(f"hybrid {seed}")
    blocks = draw.choice((4096, 16384, 65536))
    return Hybrid(
        random_mechanism(seed),
        idle_ms=draw.choice((20, 200, 1000)),
        blocks=blocks,
        dirty_blocks=blocks // draw.choice((4, 16, 64)),
        flash_read_us=draw.uniform(60, 200),
        flash_write_us=draw.uniform(150, 500),
    )
