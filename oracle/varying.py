# SPDX-License-Identifier: MIT
"""A drive with housekeeping: every few seconds the mechanism pauses (RW94: thermal recalibration),
even if requests are pending."""

import random
from dataclasses import dataclass

from oracle.detailed.drive import MS, random_drive
from oracle.firmware import Firmware


@dataclass(eq=False)
class Varying(Firmware):
    """A drive that pauses for `pause_ms` once every `every_ms`; its first pause begins at
    `every_ms`.
    """

    every_ms: float = 5000
    pause_ms: float = 40

    def serve(self, op: str, sector: int, sectors: int, at_ns: int) -> int:
        """Serve a request. A pause delays a request that arrives during the pause or that is being
        served when the pause begins.
        """
        every_ns, pause_ns = round(self.every_ms * MS), round(self.pause_ms * MS)
        begun, since_ns = divmod(at_ns, every_ns)
        if begun and since_ns < pause_ns:
            at_ns += pause_ns - since_ns
        done_ns = self.mechanism(op, sector, sectors, at_ns)
        self.free_ns = done_ns + (done_ns // every_ns - at_ns // every_ns) * pause_ns
        return self.free_ns


def random_varying(seed: int) -> Varying:
    """Return a random drive, a different one for each seed."""
    draw = random.Random(f"varying {seed}")
    return Varying(
        random_drive(seed), every_ms=draw.uniform(500, 5000), pause_ms=draw.uniform(20, 90)
    )
