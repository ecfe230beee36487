# SPDX-License-Identifier: MIT
"""A drive with defects. The factory slipped some sectors; clusters that failed later are remapped
to a spare area at the end of the disk (SG99, "defect management").
"""

import random
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field

from oracle.detailed.drive import random_drive
from oracle.firmware import Firmware

MASK = 2**64 - 1


def scattered(number: int) -> int:
    """Return a 64-bit hash of a number (splitmix64)."""
    number = (number + 0x9E3779B97F4A7C15) & MASK
    number = ((number ^ (number >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    number = ((number ^ (number >> 27)) * 0x94D049BB133111EB) & MASK
    return number ^ (number >> 31)


@dataclass(eq=False)
class Remapping(Firmware):
    """A drive with `slips` slipped sectors. The fraction `share` of its clusters is remapped to the
    spare area.
    """

    seed: int = 1
    share: float = 0.02
    cluster_sectors: int = 64
    slips: int = 1000
    spare_sectors: int = 2**16
    slipped: list[int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.capacity_sectors -= self.slips + self.spare_sectors
        draw = random.Random(f"slips {self.seed}")
        self.slipped = sorted(draw.randrange(self.capacity_sectors) for _ in range(self.slips))

    def serve(self, op: str, sector: int, sectors: int, at_ns: int) -> int:
        """Serve a request with one access for each contiguous piece of it."""
        for first, last in self.pieces(sector, sector + sectors):
            at_ns = self.mechanism(op, first, last + 1 - first, at_ns)
        return at_ns

    def pieces(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Yield the first and the last sector of each contiguous piece, as the mechanism numbers
        them.
        """
        size = self.cluster_sectors
        while start < end:
            stop = spare = start // size
            while stop * size < end and not self.is_remapped(stop):
                stop += 1
            if stop > spare:
                stop = min(stop * size, end)
                yield self.in_place(start), self.in_place(stop - 1)
            else:
                stop = min((spare + 1) * size, end)
                slots = self.spare_sectors // size
                first = self.drive.capacity_sectors - self.spare_sectors
                first += scattered(~spare & MASK) % slots * size + start % size
                yield first, first + stop - start - 1
            start = stop

    def is_remapped(self, cluster: int) -> bool:
        """Return whether the cluster is remapped to the spare area."""
        return scattered(scattered(self.seed) ^ cluster) < self.share * MASK

    def in_place(self, sector: int) -> int:
        """Return the mechanism's number of a sector that is not remapped. Every slip before the
        sector adds one.
        """
        return sector + bisect_right(self.slipped, sector)


def random_remapping(seed: int) -> Remapping:
    """Return a random drive, a different one for each seed."""
    draw = random.Random(f"remapping {seed}")
    return Remapping(
        random_drive(seed),
        seed=seed,
        share=draw.choice((0.01, 0.03, 0.1)),
        cluster_sectors=draw.choice((8, 64, 256)),
        slips=draw.choice((0, 100, 2000)),
    )
