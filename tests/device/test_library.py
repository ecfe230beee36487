# SPDX-License-Identifier: MIT
"""The real drives in profiles/: their figures and sources, and a prediction with each."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from oracle.detailed.drive import random_drive
from understudy_devices.cli.main import main
from understudy_devices.device import averages, profile
from understudy_devices.native.drive import Drive
from understudy_devices.native.request import READ
from understudy_devices.profiler.targets.model import ModelTarget

SECTOR_BYTES = 512
GB = 10**9
PAGE = 8
QUIET = ("$ ", "wrote ")  # and the count of runs

# Figures as printed in the data sheets: GB, rpm, ms from track to track, average and full-stroke
# seek in ms (reads, without overhead), MB/s at the outer and inner edge.
SHEETS: dict[str, tuple[float, float, float, float, float | None, float | None, float | None]] = {
    "deskstar-75gxp": (76.9, 7200, 1.2, 8.5, 14.7, None, None),
    "deskstar-7k500": (500, 7200, 1.5, 8.5, None, 64.8, 31.0),
    "savvio-10k1": (73.4, 10_000, 0.20, 4.0, 8.1, None, None),
    "travelstar-5k320": (320, 5400, 1.0, 12, 20, None, None),
    "cheetah-15k7": (600, 15_000, 0.2, 3.4, None, 204, 122),
    "constellation-2": (1000, 7200, 0.23, 7.5, 17.06, None, None),
    "archive-8tb": (8000, 5980, 0.23, 7.4, None, 190, None),
}
SYNTHETIC = ("vesper", "array", "detailed", "nachos")
DRIVES = [name for name in profile.catalogue() if not name.startswith(SYNTHETIC)]
TIMED = ["hp-c3323a", "ultrastar-18es", "atlas-10k"]
SSDS = {"ssd-s4600": (0.110, 72_000), "ssd-p4500": (0.085, 490_000)}


def load(name: str) -> Any:
    """Load a profile; typed Any, so that a missing section fails the test."""
    return profile.load(name)


def test_every_sheet_of_the_library_is_held_here() -> None:
    assert set(SHEETS) == {name for name in DRIVES if profile.load(name).sheet}
    assert set(SSDS) == {name for name in DRIVES if profile.load(name).array}


@pytest.mark.parametrize("name", DRIVES)
def test_a_real_drive_says_what_it_is_and_where_from(name: str) -> None:
    disk = load(name)
    assert disk.summary.startswith(disk.facts.vendor)
    assert disk.limits
    assert any(getattr(section, "source", None) for _, section in disk)


@pytest.mark.parametrize("name", SHEETS)
def test_the_curves_meet_the_sheet_within_rounding(name: str) -> None:
    disk = load(name)
    size, rpm, first_ms, average_ms, full_ms, outer, inner = SHEETS[name]
    timing = disk.timing(disk.facts.capacity_sectors)
    overhead_ms = disk.sheet.overhead_ms
    assert disk.facts.capacity_sectors * SECTOR_BYTES / GB == pytest.approx(size, rel=1e-3)
    assert timing.rotation_ns == pytest.approx(60e9 / rpm, abs=1)
    at, ms = map(np.array, zip(*timing.seek, strict=True))
    cylinder = disk.facts.capacity_sectors / disk.sheet.cylinders
    assert np.interp(cylinder, at, ms) / 1e6 - overhead_ms == pytest.approx(first_ms, abs=0.005)
    assert averages.seek_ms(timing) - overhead_ms == pytest.approx(average_ms, abs=0.005)
    if full_ms:
        assert timing.seek[-1][1] / 1e6 - overhead_ms == pytest.approx(full_ms, abs=0.005)
    for rate, sample in ((outer, 0), (inner, -1)):
        if rate:
            assert SECTOR_BYTES * 1e6 / timing.transfer[sample][1] == pytest.approx(rate, rel=1e-3)


@pytest.mark.parametrize(
    ("name", "coded", "track_bytes"),
    [("savvio-10k1", (506, 753), 360_000), ("constellation-2", (84, 163), 754_000)],
)
def test_rates_of_coded_bits_are_shared_out_over_the_tracks(
    name: str, coded: tuple[float, float], track_bytes: int
) -> None:
    """The comments in these two profiles state this rule."""
    sheet = load(name).sheet
    mean = track_bytes * sheet.rpm / 60 / 1e6
    for rate, of_bits in ((sheet.inner_mb_per_s, coded[0]), (sheet.outer_mb_per_s, coded[1])):
        assert rate == pytest.approx(mean * 2 * of_bits / sum(coded), abs=0.06)


def test_rates_from_the_time_of_long_reads() -> None:
    """The Deskstar's comment states this rule: 105 % of 12.8 ms and 16 MiB."""
    sheet = load("deskstar-75gxp").sheet
    for rate, seconds in ((sheet.outer_mb_per_s, 0.48), (sheet.inner_mb_per_s, 0.95)):
        assert rate == pytest.approx(16.777216 / (seconds / 1.05 - 0.0128), abs=0.06)


def test_a_switch_of_tracks_from_two_rates() -> None:
    """The newer Deskstar's comment derives it from the manual's formula for the sustained rate."""
    heads, rotation_ms, on_track, sustained = 10, 60_000 / 7200, 76.3, 64.8
    cylinder_ms = heads * rotation_ms * on_track / sustained
    switch_ms = (cylinder_ms - heads * rotation_ms) / heads
    assert load("deskstar-7k500").sheet.track_to_track_ms == pytest.approx(switch_ms, abs=0.05)


@pytest.mark.parametrize(("name", "seconds"), [("deskstar-75gxp", 55), ("deskstar-7k500", 55.5)])
def test_random_reads_take_as_long_as_the_manual_says(name: str, seconds: float) -> None:
    """Compare with the typical time of 4,096 random sectors, without the manual's allowance of 5
    %."""
    disk = load(name)
    one_ms = averages.random_read_ms(disk.timing(disk.facts.capacity_sectors), 1)
    assert one_ms == pytest.approx(seconds / 1.05 / 4096 * 1000, rel=0.01)


@pytest.mark.parametrize("name", TIMED)
def test_a_track_passes_in_a_rotation(name: str) -> None:
    disk = load(name)
    capacity = disk.facts.capacity_sectors
    for mb_per_s, at, zone in zip(
        disk.throughput.mb_per_s, disk.throughput.at, disk.layout.zones, strict=True
    ):
        assert zone.first == round(at * capacity)
        rate = zone.sectors * SECTOR_BYTES / disk.rotation.period_ms / 1000
        assert mb_per_s == pytest.approx(rate, rel=1e-3)
    assert disk.rotation.period_ms == pytest.approx(60_000 / disk.facts.rpm, rel=1e-3)


@pytest.mark.parametrize("name", [name for name in SHEETS if name != "travelstar-5k320"])
def test_random_sectors_are_a_little_nearer_than_random_tracks(name: str) -> None:
    """docs/disks.md says that sheets neglect this difference, 0.5 to 1.5 % of the average seek."""
    sheet = load(name).sheet
    outer, inner = sheet.outer_mb_per_s, sheet.inner_mb_per_s
    places = np.random.default_rng(1).random((2, 200_000))
    cylinders = (outer - np.sqrt(outer**2 - (outer**2 - inner**2) * places)) / (outer - inner)
    at, ms = sheet.seeks()
    seek_ms = np.interp(abs(cylinders[0] - cylinders[1]), at, ms) - sheet.overhead_ms
    assert -0.016 < seek_ms.mean() / sheet.average_seek_ms - 1 < -0.003


@pytest.mark.parametrize("name", [name for name in DRIVES if name not in SSDS])
def test_random_pages_take_what_is_expected(name: str) -> None:
    """In the drive's model, too, the time is seek, half a rotation and transfer."""
    disk = load(name)
    capacity = disk.facts.capacity_sectors
    timing = disk.timing(capacity)
    random = np.random.default_rng(1)
    sector = random.integers(0, capacity - PAGE, 20_000)
    drive = Drive(timing, seed=1)
    service_ns, _ = drive.serve(np.full(20_000, READ), sector, np.full(20_000, PAGE))
    assert service_ns.mean() / 1e6 == pytest.approx(averages.random_read_ms(timing, PAGE), rel=0.01)


@pytest.mark.parametrize("name", SSDS)
def test_as_many_channels_as_reads_are_under_way(name: str) -> None:
    """By Little's law, the number of channels is reads a second times their latency."""
    array = load(name).array
    latency_ms, per_s = SSDS[name]
    assert array.service_ms == latency_ms
    assert array.servers / latency_ms * 1000 == pytest.approx(per_s, rel=0.02)


@pytest.mark.parametrize("name", profile.catalogue())
def test_each_predicts_without_a_warning(name: str, tmp_path: Path) -> None:
    words = ["predict", "--disk", name, "--workload", "random", "--on", "sim", "--requests", "50"]
    more = ["--schedulers", "fcfs", "--out", str(tmp_path / "run")]
    done = CliRunner().invoke(main, [*words, *more], catch_exceptions=False)
    assert done.exit_code == 0
    assert "mean service (ms)" in done.stdout
    lines = [line for line in done.stderr.splitlines() if "runs done" not in line]
    assert all(line.startswith(QUIET) for line in lines), lines


def test_the_profile_of_a_detailed_drive_foresees_that_drive() -> None:
    """Of 500 random reads, one at a time, nearly all agree within 1 % of a rotation."""
    drive, disk = random_drive(104), profile.load("detailed-10k")
    model = ModelTarget.of(disk, drive.capacity_sectors)
    draw = np.random.default_rng(1)
    apart_ns = []
    at_ns = 0
    for place in draw.integers(drive.capacity_sectors // PAGE, size=500):
        theirs, ours = (
            each.request("read", int(place) * PAGE, PAGE, at_ns) for each in (drive, model)
        )
        apart_ns.append(abs(theirs - ours))
        at_ns = max(theirs, ours) + 1_000_000
    assert disk.rotation
    assert np.mean(np.array(apart_ns) < disk.rotation.period_ms * 1e4) > 0.98
