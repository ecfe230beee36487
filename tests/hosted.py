# SPDX-License-Identifier: MIT
"""A drive at a host that takes its time, as every real one does, in virtual time.

Between a completion and the next request pass tens of microseconds, to submit and to be
told takes some, and now and then the host is away for a millisecond.
"""

import random
from dataclasses import dataclass, field

from understudy.device.target import Target


@dataclass
class Hosted:
    """A target that can't send at once."""

    drive: Target
    seed: int = 1
    writable: bool = True
    turn_ns: int = 60_000  # from a completion to the next request
    path_ns: int = 8_000  # to the drive and back
    noise_ns: int = 2_000
    away_ns: int = 1_000_000
    away: float = 0.001  # how often
    sent_ns: int = 0
    completed_ns: int = 0
    draw: random.Random = field(init=False)

    def __post_init__(self) -> None:
        self.draw = random.Random(self.seed)

    @property
    def capacity_sectors(self) -> int:
        return self.drive.capacity_sectors

    def request(self, op: str, sector: int, sectors: int, at_ns: int) -> int:
        """The drive sees it half a path later than the host sends it."""
        ready_ns = self.completed_ns + self.turn_ns + self._late()
        self.sent_ns = max(at_ns + self._late() // 10, ready_ns)
        there_ns = self.drive.request(op, sector, sectors, self.sent_ns + self.path_ns // 2)
        self.completed_ns = there_ns + self.path_ns // 2 + self._late()
        return self.completed_ns

    def _late(self) -> int:
        """Mostly little."""
        away = self.draw.random() < self.away
        return round(self.draw.expovariate(1 / (self.away_ns if away else self.noise_ns)))
