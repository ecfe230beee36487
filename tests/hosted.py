# SPDX-License-Identifier: MIT
"""A drive on a host with the delays of a real host, in virtual time.

Between a completion and the next request, tens of microseconds pass.  Submission and completion
take some too, and now and then the host is delayed by a millisecond.
"""

import random
from dataclasses import dataclass, field

from understudy_devices.device.target import Target


@dataclass
class Hosted:
    """A target that sends requests with a host's delays."""

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
        """Send a request, which reaches the drive half of path_ns later; return when the host
        sees the completion."""
        ready_ns = self.completed_ns + self.turn_ns + self._late()
        self.sent_ns = max(at_ns + self._late() // 10, ready_ns)
        there_ns = self.drive.request(op, sector, sectors, self.sent_ns + self.path_ns // 2)
        self.completed_ns = there_ns + self.path_ns // 2 + self._late()
        return self.completed_ns

    def _late(self) -> int:
        """Return a random delay in ns, mostly short."""
        away = self.draw.random() < self.away
        return round(self.draw.expovariate(1 / (self.away_ns if away else self.noise_ns)))
