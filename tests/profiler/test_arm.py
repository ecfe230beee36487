# SPDX-License-Identifier: MIT
"""Distances of the arm, counted in tracks, against the detailed drive's cylinders."""

import random
import re
from pathlib import Path

import pytest
from detailed_tracks import document, profiled

from oracle.detailed.drive import SURFACE_SERPENTINE, DetailedDrive, random_parameters
from understudy_devices.base.errors import UserError
from understudy_devices.device import profile as device
from understudy_devices.device.profile import DiskProfile
from understudy_devices.native.drive import Drive
from understudy_devices.profiler.layout.arm import Arm
from understudy_devices.profiler.layout.layout import Layout, Zone

SEEDS = [*range(1, 18), 26, 82, 201]
PAIRS = 1000
OVER = {"ms": [0.0, 9.0], "over": "tracks"}


def counted(seed: int) -> tuple[DetailedDrive, DiskProfile]:
    """Return a drive, and its profile with the arm's distances in tracks."""
    parameters = random_parameters(seed)
    surfaces = parameters.layout == SURFACE_SERPENTINE
    disk = document(parameters, seek=OVER, surfaces=surfaces)
    return DetailedDrive(parameters), DiskProfile.model_validate(disk)


def found(disk: DiskProfile, capacity_sectors: int) -> Layout:
    """Return the layout as the profiler would find it."""
    assert disk.layout
    zones = []
    for zone in disk.layout.zones:
        assert zone.slots
        even = Zone.even(zone.first, zone.sectors, zone.slots, zone.angle or 0.0, zone.skew or 0.0)
        assert zone.cylinder
        own = even.by_cylinders(zone.cylinder.tracks, zone.cylinder.skew)
        zones.append(own.with_bands(zone.band.tracks, zone.band.skew) if zone.band else own)
    surfaces = any(zone.surfaces for zone in disk.layout.zones)
    return Layout(tuple(zones), capacity_sectors, surfaces=surfaces)


@pytest.mark.parametrize("seed", SEEDS)
def test_over_one_distance_the_arm_passes_as_many_cylinders(seed: int) -> None:
    """The distances agree, except for part of a cylinder and for spare tracks, which are not
    counted.
    """
    detailed, disk = counted(seed)
    of = detailed.parameters
    drive = Drive(disk.timing(detailed.capacity_sectors))
    cylinders = sum(zone.cylinders for zone in of.zone)
    draw = random.Random(seed)
    spare = sum(zone.spare_tracks / of.heads + 1 for zone in of.zone)
    for _ in range(PAIRS):
        one, other = (draw.randrange(detailed.capacity_sectors) for _ in range(2))
        there = abs(detailed.locate(one).cylinder - detailed.locate(other).cylinder)
        here = abs(drive.place(one) - drive.place(other)) / detailed.capacity_sectors
        assert here * cylinders == pytest.approx(there, abs=spare + 2)


@pytest.mark.parametrize("seed", [1, 9, 82, 201])
def test_the_profiler_counts_as_the_core_does(seed: int) -> None:
    detailed, disk = counted(seed)
    drive = Drive(disk.timing(detailed.capacity_sectors))
    arm = Arm(found(disk, detailed.capacity_sectors))
    step = detailed.capacity_sectors / arm.tracks
    draw = random.Random(seed)
    for _ in range(PAIRS):
        sector = draw.randrange(detailed.capacity_sectors)
        assert arm.place(sector) * step == pytest.approx(drive.place(sector), abs=step)


@pytest.mark.parametrize("seed", [1, 9, 82, 201])
def test_a_track_is_where_the_arm_was_sent(seed: int) -> None:
    """The error is at most a cylinder and the spare tracks between two zones."""
    detailed, disk = counted(seed)
    drive = Drive(disk.timing(detailed.capacity_sectors))
    assert drive.place(0) == 0
    arm = Arm(found(disk, detailed.capacity_sectors))
    draw = random.Random(seed)
    heads = detailed.parameters.heads
    spare = max(zone.spare_tracks for zone in detailed.parameters.zone)
    for _ in range(PAIRS):
        place = draw.uniform(0, arm.tracks)
        there = arm.place(arm.track(place, draw))
        assert there == pytest.approx(place, abs=(2 + spare) * heads)


def test_without_tracks_distances_are_sectors() -> None:
    parameters = random_parameters(1)
    timing = profiled(parameters).timing(DetailedDrive(parameters).capacity_sectors)
    assert Drive(timing).place(12345) == 12345
    with pytest.raises(ValueError, match="sector -1 of"):
        Drive(timing).place(-1)


@pytest.mark.parametrize("seed", [16, 17, 82])
def test_zones_too_short_on_a_smaller_disk_are_part_of_those_before(seed: int) -> None:
    """A short zone of a few tracks disappears when the disk is scaled down to 1 GiB."""
    detailed, disk = counted(seed)
    real, small = detailed.capacity_sectors, 2**21
    assert disk.layout
    assert len(disk.timing(real).tracks.zones) == len(disk.layout.zones)
    timing = disk.timing(small)
    assert 1 < len(timing.tracks.zones) < len(disk.layout.zones)
    drive = Drive(timing)
    places = [drive.place(sector) for sector in range(0, small, 1000)]
    assert max(places) == pytest.approx(small, rel=0.01)


def test_tracks_are_counted_where_angles_are_known(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('[seek]\nms = [1, 2]\nover = "tracks"\n[rotation]\nperiod_ms = 6\n')
    message = f'{file}: seek.over: "tracks" needs rotation.phase = "known"'
    with pytest.raises(UserError, match=re.escape(message)):
        device.read(file)
