# SPDX-License-Identifier: MIT
"""Decides whether a target is a magnetic disk: does it have an arm, or a rotating platter?

If there is an arm, a read far from the previous read takes longer than a near read.  If there is a
platter, reads of one track wait for parts of a rotation (rotation.py).  Flash has neither: its
times do not depend on the location of the previous read, so a disk's profile would be wrong for it.
"""

import random
from dataclasses import dataclass

import numpy as np

from understudy_devices.base.errors import RunFailed
from understudy_devices.profiler.probes import rotation
from understudy_devices.profiler.targets.bench import Bench

PAGE = 8  # sectors
PAIRS = 200
NEAR = (2_048, 16_384)  # sectors: farther than the prefetch of one read
SURE = 5.0  # standard deviations of the rank sum
NO_DISK = (
    "target: no arm and no rotation: a read takes as long wherever the last one was, so it is no "
    "magnetic disk, and no profile of one is written; --as disk writes one all the same"
)


@dataclass(frozen=True)
class Kind:
    """Whether the target is a magnetic disk, and the mean time of a random read."""

    is_disk: bool
    read_ns: float

    def refuse_others(self) -> None:
        """Raise RunFailed if the target is not a disk."""
        if not self.is_disk:
            raise RunFailed(NO_DISK)


def measure(bench: Bench) -> Kind:
    """Decide, with random numbers of its own: so the sectors of later probes do not depend on
    whether this probe runs.
    """
    draw = random.Random("kind")
    far, near = [], []
    for _ in range(PAIRS):
        place = draw.randrange(bench.capacity_sectors - PAGE - NEAR[1])
        far.append(bench.read(place, PAGE))
        near.append(bench.read(place + draw.randint(*NEAR), PAGE))
    is_disk = _are_longer(far, near) or rotation.measure(bench) is not None
    return Kind(is_disk, float(np.mean(far)))


def _are_longer(some: list[int], others: list[int]) -> bool:
    """Return whether the times `some` are significantly longer than `others`, by the rank sum test
    (Mann and Whitney 1947).
    """
    times = np.sort([*some, *others])
    ranks = (np.searchsorted(times, some) + np.searchsorted(times, some, "right") + 1) / 2
    expected = PAIRS * (2 * PAIRS + 1) / 2
    deviation = (PAIRS**2 * (2 * PAIRS + 1) / 12) ** 0.5
    return bool(ranks.sum() - expected > SURE * deviation)
