# SPDX-License-Identifier: MIT
"""A disk of ours as if somebody had found out where its sectors are."""

import random

from understudy.device.profile import DiskProfile

SPARE = 2  # slots at each track's end
HEADS = 12
BAND = 5  # cylinders


def positioned(disk: DiskProfile, seed: int = 1) -> DiskProfile:
    """The disk with angles and skews that are drawn; no latency is."""
    assert disk.tracks
    assert disk.rotation
    assert disk.facts
    draw = random.Random(seed)
    sectors = disk.tracks.sectors
    zones = range(len(sectors))
    keys = {
        "first": tuple(round(at * disk.facts.capacity_sectors) for at in disk.tracks.at),
        "slots": tuple(length + SPARE for length in sectors),
        "angle": tuple(draw.random() for _ in zones),
        "skew": tuple(draw.uniform(0.12, 0.15) for _ in zones),
        "cylinder": tuple(HEADS for _ in zones),
        "cylinder_skew": tuple(draw.uniform(0.15, 0.2) for _ in zones),
        "band": tuple(HEADS * BAND for _ in zones),
        "band_skew": tuple(draw.uniform(0.2, 0.3) for _ in zones),
    }
    document = disk.model_dump(exclude_none=True)
    document["tracks"] |= keys
    document["rotation"]["phase"] = "known"
    return DiskProfile.model_validate(document)
