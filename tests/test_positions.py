# SPDX-License-Identifier: MIT
"""Rotational positions (core/platter.h) against the detailed drive, which shares no code with
them and knows where each sector is."""

import random
from collections import Counter
from dataclasses import replace

import pytest
from detailed_seeks import seek
from detailed_tracks import profiled

from bench.detailed.drive import (
    CYLINDER_SERPENTINE,
    CYLINDERS,
    SURFACE_SERPENTINE,
    DetailedDrive,
    Parameters,
    random_parameters,
)
from understudy.device.timing import TURN
from understudy.native.drive import Drive
from understudy.native.request import READ

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


READS = 1000
NEAR_NS = 20


def bare(parameters: Parameters) -> Parameters:
    """Without any cache, and with a bus on which sectors take no time."""
    return replace(parameters, segments=0, write_sectors=0, bus_sector_ns=1e-3)


def read_both(parameters: Parameters, sectors: int, seed: int) -> Counter[str]:
    """Random reads by both drives, each after a pause: how far are they apart?"""
    detailed = DetailedDrive(bare(parameters))
    disk = profiled(parameters, seek=seek(detailed))
    drive = Drive.from_timing(disk.timing(detailed.capacity_sectors))
    draw = random.Random(seed)
    found: Counter[str] = Counter()
    now_ns = ours_ns = 0
    for _ in range(READS):
        sector = draw.randrange(detailed.capacity_sectors - sectors)
        at_ns = max(now_ns, ours_ns) + draw.randrange(20_000_000)
        now_ns = detailed.request("read", sector, sectors, at_ns)
        ours_ns = at_ns + drive.serve_one(READ, sector, sectors, at_ns - ours_ns)
        apart_ns = abs(now_ns - ours_ns)
        turns = round(apart_ns / parameters.period_ns)
        near = abs(apart_ns - turns * parameters.period_ns) < NEAR_NS
        found[f"{turns} turns" if near else "else"] += 1
    return found


@pytest.mark.parametrize("sectors", [1, 500, 5000])
@pytest.mark.parametrize("seed", SEEDS)
def test_reads_take_as_long(seed: int, sectors: int) -> None:
    found = read_both(random_parameters(seed), sectors, seed)
    print(seed, sectors, found)
    assert found["else"] == 0
