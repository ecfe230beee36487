# SPDX-License-Identifier: MIT
"""A drive that scans its medium when it is idle (SCSI's background media scan).

A request that arrives during a scan waits until the current chunk has been read.
"""

import random
from dataclasses import dataclass, field

from oracle.firmware import Firmware, random_mechanism


@dataclass(eq=False)
class Scanning(Firmware):
    """A drive whose scan resumes where it last stopped, and restarts from sector 0 at the end of
    the disk.
    """

    idle_ms: float = 500
    chunk_sectors: int = 2048
    scanned: int = field(init=False, repr=False)

    def reset(self) -> None:
        """Reset to the initial state, at time 0."""
        super().reset()
        self.scanned = 0

    def step(self, at_ns: int) -> bool:
        """Read the next chunk of the scan."""
        sectors = min(self.chunk_sectors, self.capacity_sectors - self.scanned)
        self.mechanism("read", self.scanned, sectors, at_ns)
        self.scanned = (self.scanned + sectors) % self.capacity_sectors
        return True


def random_scanning(seed: int) -> Scanning:
    """Return a random drive, a different one for each seed."""
    draw = random.Random(f"scanning {seed}")
    return Scanning(
        random_mechanism(seed),
        idle_ms=draw.choice((5, 20, 100, 500)),
        chunk_sectors=draw.choice((512, 1024, 2048, 4096)),
    )
