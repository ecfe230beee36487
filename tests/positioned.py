# SPDX-License-Identifier: MIT
"""A disk profile with the positions of sectors, as if the profiler had found them."""

import random
from dataclasses import replace

from understudy_devices.device.layout import Level
from understudy_devices.device.profile import DiskProfile

SPARE = 2  # slots at each track's end
HEADS = 12
BAND = 5  # cylinders


def positioned(disk: DiskProfile, seed: int = 1) -> DiskProfile:
    """Return the disk with random angles and skews, and without latency."""
    assert disk.layout
    assert disk.rotation
    draw = random.Random(seed)
    zones = tuple(
        replace(
            zone,
            slots=zone.sectors + SPARE,
            angle=draw.random(),
            skew=draw.uniform(0.12, 0.15),
            cylinder=Level(HEADS, draw.uniform(0.15, 0.2)),
            band=Level(HEADS * BAND, draw.uniform(0.2, 0.3)),
        )
        for zone in disk.layout.zones
    )
    changed = {
        "layout": disk.layout.model_copy(update={"zones": zones}),
        "rotation": disk.rotation.model_copy(update={"phase": "known"}),
    }
    return disk.model_copy(update=changed)
