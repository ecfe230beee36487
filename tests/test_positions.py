# SPDX-License-Identifier: MIT
"""Rotational positions (core/platter.h) against the detailed drive, which shares no code with
them and knows where each sector is."""

import random

import pytest
from detailed_tracks import profiled

from bench.detailed.drive import (
    CYLINDER_SERPENTINE,
    CYLINDERS,
    SURFACE_SERPENTINE,
    DetailedDrive,
    random_parameters,
)
from understudy.device.timing import TURN
from understudy.native.drive import Drive

SEEDS = range(1, 25)
SECTORS = 2000


def apart(a: float, b: float) -> float:
    """Two angles, in turns."""
    return abs((a - b + 0.5) % 1 - 0.5)


def test_the_seeds_have_all_layouts() -> None:
    """And so the tests below."""
    layouts = {random_parameters(seed).layout for seed in SEEDS}
    assert layouts == {CYLINDERS, CYLINDER_SERPENTINE, SURFACE_SERPENTINE}
    found = [random_parameters(seed) for seed in SEEDS]
    assert {bool(one.band_cylinders) for one in found} == {False, True}
    assert any(zone.spare_sectors for one in found for zone in one.zone)
    assert all(len(one.zone) > 1 for one in found)


@pytest.mark.parametrize("seed", SEEDS)
def test_each_sector_is_where_it_is(seed: int) -> None:
    """Thousands of random sectors, to a thousand millionth of a turn."""
    parameters = random_parameters(seed)
    detailed = DetailedDrive(parameters)
    drive = Drive.from_timing(profiled(parameters).timing(detailed.capacity_sectors))
    draw = random.Random(seed)
    worst = max(
        apart(drive.angle(sector) / TURN, detailed.locate(sector).angle)
        for sector in (draw.randrange(detailed.capacity_sectors) for _ in range(SECTORS))
    )
    assert worst < 1e-9
