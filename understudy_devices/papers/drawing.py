# SPDX-License-Identifier: MIT
"""The dissertation's measurements of its virtual graphics card (Jones 2010, Table 3.1): seconds
for a million smooth-shaded triangles by DMA, on a real Permedia 2v and on the virtual one."""

from dataclasses import dataclass

TRIANGLES = 1_000_000


@dataclass(frozen=True)
class PaperTimes:
    """Seconds for a million triangles of one size."""

    real: float
    virtual: float

    @property
    def slowdown(self) -> float:
        """Return the slowdown of the virtual card: its time divided by the real card's time."""
        return self.virtual / self.real


TABLE_3_1 = {
    20: PaperTimes(3.876, 136.0),
    40: PaperTimes(10.71, 227.7),
    60: PaperTimes(20.76, 340.4),
    80: PaperTimes(24.23, 476.7),
    100: PaperTimes(51.03, 632.5),
}
"""The times by the triangles' size: the pixels from the dominant edge to the opposite corner."""
