# SPDX-License-Identifier: MIT
"""Rotational positions (core/drive/platter.h) compared with the detailed drive, which shares no
code with them and knows each sector's position.  First angles are compared, then service times."""

import random
from collections import Counter
from dataclasses import replace

import pytest
from detailed_seeks import seek
from detailed_tracks import profiled, zones
from positioned import positioned

from oracle.detailed.drive import (
    CYLINDER_SERPENTINE,
    CYLINDERS,
    SURFACE_SERPENTINE,
    DetailedDrive,
    Parameters,
    random_parameters,
)
from understudy_devices.device import layout, profile
from understudy_devices.device.timing import TURN
from understudy_devices.native import drive as native
from understudy_devices.native.drive import PLATTER_TURN_NS_MAX, Drive
from understudy_devices.native.request import READ, WRITE

SEEDS = range(1, 25)
SECTORS = 2000
READS = 400
NEAR_NS = 5
MS = 1_000_000


def apart(a: float, b: float) -> float:
    """Two angles, in turns."""
    return abs((a - b + 0.5) % 1 - 0.5)


def test_the_seeds_have_everything() -> None:
    """The seeds cover all layouts, bands, spare sectors, spare tracks and zones for the tests
    below."""
    parameters = [random_parameters(seed) for seed in SEEDS]
    layouts = {one.layout for one in parameters}
    assert layouts == {CYLINDERS, CYLINDER_SERPENTINE, SURFACE_SERPENTINE}
    assert {bool(one.band_cylinders) for one in parameters} == {False, True}
    assert any(zone.spare_sectors for one in parameters for zone in one.zone)
    assert any(zone.spare_tracks for one in parameters for zone in one.zone)
    assert any(len(zones(one)) > len(one.zone) for one in parameters), "no band is cut short"
    assert all(len(one.zone) > 1 for one in parameters)


@pytest.mark.parametrize("seed", SEEDS)
def test_each_sector_is_where_it_is(seed: int) -> None:
    """Compare thousands of random sectors, and the sectors around the starts of zones."""
    parameters = random_parameters(seed)
    detailed = DetailedDrive(parameters)
    drive = Drive(profiled(parameters).timing(detailed.capacity_sectors))
    draw = random.Random(seed)
    last = detailed.capacity_sectors - 1
    sectors = [draw.randrange(detailed.capacity_sectors) for _ in range(SECTORS)]
    for first in (zone.first for zone in zones(parameters)):
        sectors += [max(0, first - 1), first, first + 1]
    worst = max(
        apart(drive.angle(sector) / TURN, detailed.locate(sector).angle)
        for sector in (*sectors, last)
    )
    assert worst < 1e-9


def bare(parameters: Parameters) -> Parameters:
    """Return the parameters without a cache, and with a bus that takes no time."""
    return replace(parameters, segments=0, write_sectors=0, bus_sector_ns=1e-3)


def apart_in_turns(parameters: Parameters, seed: int) -> Counter[int]:
    """Count by how many rotations the two drives differ, over random reads with pauses."""
    detailed = DetailedDrive(bare(parameters))
    disk = profiled(parameters, seek=seek(detailed))
    drive = Drive(disk.timing(detailed.capacity_sectors))
    draw = random.Random(seed)
    counts: Counter[int] = Counter()
    theirs_ns = ours_ns = 0
    for _ in range(READS):
        sectors = draw.choice((1, 8, 500, 5000))
        sector = draw.randrange(detailed.capacity_sectors - sectors)
        at_ns = max(theirs_ns, ours_ns) + draw.randrange(20 * MS)
        theirs_ns = detailed.request("read", sector, sectors, at_ns)
        ours_ns = at_ns + drive.serve_one(READ, sector, sectors, at_ns - ours_ns)
        turns = round((ours_ns - theirs_ns) / parameters.period_ns)
        assert abs(ours_ns - theirs_ns - turns * parameters.period_ns) < NEAR_NS
        counts[turns] += 1
    return counts


@pytest.mark.parametrize("seed", SEEDS)
def test_reads_take_as_long(seed: int) -> None:
    """Times agree within some ns, or differ by a rotation, since seeks over one distance in
    sectors vary.  Seed 9 varies most, because it fills a whole surface before the next."""
    counts = apart_in_turns(random_parameters(seed), seed)
    assert set(counts) <= {-1, 0, 1}
    assert counts[0] > (0.7 if seed == 9 else 0.9) * READS


@pytest.mark.parametrize("seed", range(1, 9))
def test_reads_take_as_long_after_equal_seeks(seed: int) -> None:
    """If all seeks take equally long, no read differs by a rotation."""
    parameters = random_parameters(seed)
    equal = replace(
        parameters,
        seek_a_ns=parameters.head_switch_ns,
        seek_b_ns=0.0,
        seek_slope_ns=0.0,
        read_settle_ns=0.0,
    )
    counts = apart_in_turns(equal, seed)
    assert counts[0] == READS


def atlas() -> profile.DiskProfile:
    """Return a drive of the library with a buffer and positions."""
    return positioned(profile.load("atlas-10k"))


def answers(seed: int, first_pause_ns: int = 0) -> list[int]:
    """Return service times of random reads and writes with pauses."""
    disk = atlas()
    assert disk.facts
    capacity = disk.facts.capacity_sectors
    drive = Drive(disk.timing(capacity), seed)
    draw = random.Random(3)
    pauses = [first_pause_ns, *(draw.randrange(30 * MS) for _ in range(499))]
    return [
        drive.serve_one(
            draw.choice((READ, WRITE)), draw.randrange(capacity - 64), draw.randint(1, 64), pause
        )
        for pause in pauses
    ]


def test_nothing_is_drawn() -> None:
    """The seed of random latencies makes no difference."""
    assert answers(1) == answers(2)


def test_the_clock_counts() -> None:
    """Half a rotation later, the same requests have other latencies; 1,000 rotations later, the
    same latencies."""
    rotation = atlas().rotation
    assert rotation
    period_ms = rotation.period_ms
    whole = answers(1, round(1000 * period_ms * MS))
    assert max(abs(a - b) for a, b in zip(answers(1), whole, strict=True)) <= 2
    half = answers(1, round(0.5 * period_ms * MS))
    assert sum(abs(a - b) > MS / 10 for a, b in zip(answers(1), half, strict=True)) > 0


def test_a_disk_that_stands_in_keeps_its_zones() -> None:
    """A zone begins at its share of the disk, at its angle, and keeps its track length."""
    disk = atlas()
    assert disk.facts
    assert disk.layout
    real, small = (disk.timing(sectors).tracks for sectors in (disk.facts.capacity_sectors, 2**20))
    assert [zone.first for zone in real.zones] == [zone.first for zone in disk.layout.zones]
    assert [zone.sectors for zone in small.zones] == [zone.sectors for zone in real.zones]
    drive = Drive(disk.timing(2**20))
    for there, here in zip(disk.layout.zones, small.zones, strict=True):
        assert abs(here.first - there.first / disk.facts.capacity_sectors * 2**20) < 1
        assert there.angle is not None
        assert apart(drive.angle(here.first) / TURN, there.angle) < 1e-12


def test_what_is_slipped_lies_farther_on() -> None:
    """A slip moves all sectors from there to the zone's end by that many slots; -1 reverses one
    slot.  Tracks end that many sectors earlier.  A disk of another size has no slips."""
    plain = atlas()
    assert plain.facts
    assert plain.layout
    zone, after = plain.layout.zones[:2]
    capacity = plain.facts.capacity_sectors
    slips = ((1000, 1), (50_000, 3), (90_000, -1))
    disk = plain.model_copy(update={"layout": plain.layout.model_copy(update={"slips": slips})})
    one, other = (Drive(each.timing(capacity)) for each in (plain, disk))
    for sector, more in ((999, 0), (1000, 1), (49_999, 1), (50_000, 4), (90_000, 3), (90_001, 3)):
        assert other.angle(sector) == one.angle(sector + more)
    assert other.angle(after.first) == one.angle(after.first)
    assert other.track_end(999) == zone.sectors * 3 - 1
    for sector, more in ((1000, 1), (60_000, 4), (99_000, 3)):
        assert other.track_end(sector) == one.track_end(sector + more) - more
    assert disk.timing(2**20).tracks == plain.timing(2**20).tracks


@pytest.mark.parametrize(("short", "stays"), [(0, True), (2047, True), (2048, False), (-1, False)])
def test_a_size_in_whole_mib_is_the_real_one(short: int, stays: bool) -> None:
    """The size in whole MiB is up to a MiB below the disk's, and each sector keeps its position."""
    disk = atlas()
    assert disk.facts
    real, whole = (disk.timing(disk.facts.capacity_sectors - less) for less in (0, short))
    assert (whole.tracks == real.tracks) == stays


def test_limits_are_those_of_the_core() -> None:
    """profile.py imports nothing from the core, so it repeats the core's limits."""
    assert layout.ZONES_MAX == native.TRACKS_ZONES_MAX
    assert layout.SLIPS_MAX == native.TRACKS_SLIPS_MAX
    assert profile.TURN_MS_MAX * MS == PLATTER_TURN_NS_MAX


def test_angles_are_asked_of_who_knows() -> None:
    """Angles are refused for a disk without positions, and for sectors outside the disk."""
    plain = profile.load("atlas-10k")
    for disk, sector, why in (
        (plain, 0, "nobody knows"),
        (atlas(), 2**20, "sector 1048576 of"),
        (atlas(), -1, "sector -1 of"),
    ):
        with pytest.raises(ValueError, match=why):
            Drive(disk.timing(2**20)).angle(sector)
