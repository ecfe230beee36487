# SPDX-License-Identifier: MIT
"""Profiles with sampled curves: Vesper's against the formula in double precision, rotation,
small disks, and a one-line message for every mistake."""

from math import sqrt
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from profile_texts import load_text, sampled

from understudy_devices.base.errors import UserError
from understudy_devices.device import profile
from understudy_devices.device.timing import Timing
from understudy_devices.native.drive import Drive
from understudy_devices.native.request import READ


def test_curves_become_ns_and_ps_over_sectors(tmp_path: Path) -> None:
    """A sector of 512 bytes takes 12.8 us at 40 MB/s."""
    assert sampled(tmp_path).timing(1000) == Timing(
        capacity_sectors=1000,
        intercept_ns=0,
        seek=((0, 2_000_000), (250, 4_000_000), (500, 3_500_000), (1000, 10_000_000)),
        transfer=((0, 8_533_333), (1000, 12_800_000)),
        rotation_ns=6_000_000,
        random_phase=False,
    )


def test_zones_hold_up_to_the_next_one(tmp_path: Path) -> None:
    zoned = ("mb_per_s = [60, 40]", "mb_per_s = [64, 32]\nzones = true\nat = [0, 0.75]")
    transfer = sampled(tmp_path, zoned).timing(1000).transfer
    assert transfer == ((0, 8_000_000), (749, 8_000_000), (750, 16_000_000), (1000, 16_000_000))


@pytest.mark.parametrize(
    ("rest", "takes_time"),
    [
        ("ms = [0.0, 0.0]", False),
        ("ms = [0.0, 5.0]", False),
        ("ms = [0.000001, 0.000001]", True),
        ("ms = [0.0, 0.0]\n[rotation]\nperiod_ms = 0.000001", False),
        ("ms = [0.0, 0.0]\n[rotation]\nperiod_ms = 0.000002", True),
        ("ms = [0.0, 0.0]\n[throughput]\nmb_per_s = [100, 512001]", False),
        ("ms = [0.0, 0.0]\n[throughput]\nmb_per_s = [100, 512000]", True),
    ],
)
def test_every_request_takes_some_time(tmp_path: Path, rest: str, takes_time: bool) -> None:
    if takes_time:
        assert load_text(tmp_path, f"[seek]\n{rest}")
        return
    with pytest.raises(UserError, match=r"seek\.ms: some requests take no time at all"):
        load_text(tmp_path, f"[seek]\n{rest}")


def test_rotation_and_throughput_may_be_left_out(tmp_path: Path) -> None:
    """Without these sections, a disk has no rotational latency and transfers in no time."""
    timing = sampled(
        tmp_path, ("[rotation]\nperiod_ms = 6.0\n", ""), ("[throughput]\nmb_per_s = [60, 40]\n", "")
    ).timing(1000)
    assert (timing.rotation_ns, timing.transfer) == (0, ())


def test_phase_is_a_choice(tmp_path: Path) -> None:
    random = ("period_ms = 6.0", 'period_ms = 6.0\nphase = "random"')
    assert sampled(tmp_path, random).timing(1000).random_phase
    assert not sampled(tmp_path).timing(1000).random_phase


def test_a_track_of_a_small_disk_takes_as_long_as_a_real_one(tmp_path: Path) -> None:
    """The example of SIGCSE 2006 section 2.3: a disk of 128 KB, with tracks of 4 KB in place of
    400 KB."""
    scaling = ("[facts]", "[scaling]\nreal_track_sectors = 800\ntrack_sectors = 8\n[facts]")
    small = sampled(tmp_path, scaling).timing(256)
    real = sampled(tmp_path).timing(70_312_500)
    assert small.rotation_ns == real.rotation_ns
    assert small.seek[0][1] == real.seek[0][1]
    assert small.seek[-1] == (256, real.seek[-1][1])
    for (_, small_ps), (_, real_ps) in zip(small.transfer, real.transfer, strict=True):
        assert 8 * small_ps == pytest.approx(800 * real_ps, rel=1e-6)
    timing = sampled(tmp_path).timing(256)
    assert [ps for _, ps in timing.transfer] == [ps for _, ps in real.transfer]


def formula(
    disk: profile.DiskProfile, capacity: int, head: int, sector: int, sectors: int
) -> float:
    """Return Vesper's service time in ns by the model in docs/method.md, from the profile's own
    figures.

    Between two samples the seek time is linear, and so is the time for one sector.
    """
    assert disk.seek
    assert disk.throughput
    assert disk.rotation
    seek, throughput = disk.seek, disk.throughput
    places = np.linspace(0, 1, len(seek.ms)) if seek.at is None else seek.at
    seek_ms = np.interp(abs(sector - head) / capacity, places, seek.ms)
    sector_us = [512 / mb_per_s for mb_per_s in throughput.mb_per_s]
    if throughput.zones:
        assert throughput.at
        begun = [
            us for at, us in zip(throughput.at, sector_us, strict=True) if at * capacity <= sector
        ]
        transfer_us = sectors * begun[-1]
    else:
        spread = np.linspace(0, 1, len(sector_us))
        transfer_us = sectors * np.interp(sector / capacity, spread, sector_us)
    return float(1e6 * (seek_ms + disk.rotation.period_ms / 2) + 1e3 * transfer_us)


SIZES = [1 << 26, 70_312_500, 3_000_000]


@pytest.mark.parametrize("name", ["vesper-zoned", "vesper-flat"])
@pytest.mark.parametrize("capacity", SIZES)
def test_vesper_is_its_formula_to_a_microsecond(name: str, capacity: int) -> None:
    """Requests are up to 16 MB, anywhere.  The disks are so large that one sector hardly changes
    a seek."""
    disk = profile.load(name)
    random = np.random.default_rng(1)
    sectors = random.integers(1, 32769, 2000)
    sector = random.integers(0, capacity - sectors)
    service_ns, _ = Drive(disk.timing(capacity)).serve(np.zeros(2000), sector, sectors)
    heads = [0, *(sector + sectors)[:-1]]
    expected = [
        formula(disk, capacity, *request) for request in zip(heads, sector, sectors, strict=True)
    ]
    assert np.abs(service_ns.astype(float) - expected).max() < 1000


@given(
    st.lists(st.floats(0, 60_000), min_size=2, max_size=60),
    st.lists(st.floats(1, 10_000), min_size=2, max_size=60),
    st.floats(0.001, 20),
    st.randoms(use_true_random=False),
)
def test_random_curves_are_their_formula_to_a_microsecond(ms, mb_per_s, period_ms, random) -> None:  # type: ignore[no-untyped-def]
    """The disk's size is such that every sample falls on a sector."""
    capacity = (len(ms) - 1) * (len(mb_per_s) - 1) * 100_000
    disk = profile.load("vesper-flat").model_copy(
        update={
            "seek": profile.SeekCurve(ms=tuple(ms)),
            "throughput": profile.Throughput(mb_per_s=tuple(mb_per_s)),
            "rotation": profile.Rotation(period_ms=period_ms),
        }
    )
    drive = Drive(disk.timing(capacity))
    for _ in range(20):
        head, sectors = drive.head, random.randint(1, 32768)
        sector = random.randint(0, capacity - sectors)
        service_ns, _ = drive.serve([READ], [sector], [sectors])
        assert abs(int(service_ns[0]) - formula(disk, capacity, head, sector, sectors)) < 1000


def test_the_synthetic_curves_are_what_their_source_says() -> None:
    for name, start, rise in (("vesper-zoned", 2.0, 7.0), ("vesper-flat", 2.2, 6.6)):
        seek = profile.load(name).seek
        assert seek
        assert f"{start} + {rise} sqrt(f)" in (seek.source or "")
        for i, ms in enumerate(seek.ms):
            f = i / 255
            line = start + rise / 2 + rise * (f - 0.25)
            assert ms == pytest.approx(start + rise * sqrt(f) if f < 0.25 else line, abs=0.0005)
    zones = profile.load("vesper-zoned").throughput
    assert zones
    for i, mb_per_s in enumerate(zones.mb_per_s):
        assert mb_per_s == pytest.approx(sqrt(60**2 - (60**2 - 36**2) * (i + 0.5) / 16), abs=0.05)


MANY = ", ".join(["1"] * 1025)
MANY_ZONES = ", ".join(["1"] * 513)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("ms = [2.0, 4.0, 3.5, 10.0]\n", "", "seek.ms: is missing"),
        ("ms = [2.0, 4.0, 3.5, 10.0]", "ms = 2", "seek.ms: input should be an array, not 2"),
        (
            "2.0, 4.0",
            "-2.0, 4.0",
            "seek.ms.0: input should be greater than or equal to 0, not -2.0",
        ),
        ("2.0, 4.0", "2.0, nan", "seek.ms.1: input should be a finite number, not nan"),
        (
            "2.0, 4.0",
            "2.0, 60001",
            "seek.ms.1: input should be less than or equal to 60000, not 60001",
        ),
        ("2.0, 4.0", "2.0, inf", "seek.ms.1: input should be a finite number, not inf"),
        ("2.0, 4.0", '2.0, "4"', "seek.ms.1: input should be a valid number, not '4'"),
        ("2.0, 4.0", "2.0, [4]", "seek.ms.1: input should be a valid number, not [4]"),
        ("2.0, 4.0", MANY, "seek.ms: has more than 1024 values"),
        ("[2.0, 4.0, 3.5, 10.0]", "[]", "seek.ms: a curve takes two values or more, not 0"),
        ("[2.0, 4.0, 3.5, 10.0]", "[1]", "seek.ms: a curve takes two values or more, not 1"),
        ("0.25, 0.5, 1]", "0.25, 1]", "seek.at: has 3 places for 4 values"),
        ("[0, 0.25", "[0.1, 0.25", "seek.at: begins at 0.1, not at 0"),
        ("0.5, 1]", "0.5, 0.9]", "seek.at: ends at 0.9, not at 1"),
        ("0.25, 0.5", "0.5, 0.25", "seek.at: does not ascend: 0.25 after 0.5"),
        ("0.25, 0.5", "0.5, 0.5", "seek.at: does not ascend: 0.5 after 0.5"),
        ("0.25, 0.5", "0.25, 1.5", "seek.at.2: input should be less than or equal to 1, not 1.5"),
        ("[0, 0.25", "[-1, 0.25", "seek.at.0: input should be greater than or equal to 0, not -1"),
        ("[0, 0.25", "[nan, 0.25", "seek.at.0: input should be a finite number, not nan"),
        (
            "at = [0",
            "places = [0",
            "seek.places: is not a key of a profile: there are: at, ms, over, source",
        ),
        ("[60, 40]", "[60, 0]", "throughput.mb_per_s.1: input should be greater than 0, not 0"),
        ("[60, 40]", "[60, -4]", "throughput.mb_per_s.1: input should be greater than 0, not -4"),
        (
            "[60, 40]",
            "[60, nan]",
            "throughput.mb_per_s.1: input should be a finite number, not nan",
        ),
        ("[60, 40]", "[60]", "throughput.mb_per_s: a curve takes two values or more, not 1"),
        (
            "[60, 40]",
            "[60, 0.001]",
            "throughput.mb_per_s: 0.001 is less than 0.00512, the slowest",
        ),
        (
            "[rotation]",
            "[scaling]\nreal_track_sectors = 80000\ntrack_sectors = 1\n[rotation]",
            "throughput.mb_per_s: 40.0 is less than 409.6, the slowest",
        ),
        (
            "[60, 40]",
            "[60, 40]\nzones = true",
            "throughput.at: is missing: where does each zone begin?",
        ),
        (
            "[60, 40]",
            "[60, 40]\nzones = true\nat = [0, 1]",
            "throughput.at: a zone begins at 1, where the disk ends",
        ),
        (
            "[60, 40]",
            "[60, 40]\nzones = true\nat = [0.5, 0.75]",
            "throughput.at: begins at 0.5, not at 0",
        ),
        (
            "[60, 40]",
            f"[{MANY_ZONES}]\nzones = true\nat = [0]",
            "throughput.mb_per_s: has 513 zones, not from 1 to 512",
        ),
        (
            "[60, 40]",
            "[]\nzones = true\nat = []",
            "throughput.mb_per_s: has 0 zones, not from 1 to 512",
        ),
        (
            "6.0",
            "0",
            "rotation.period_ms: input should be greater than or equal to 0.000001, not 0",
        ),
        (
            "6.0",
            '6.0\nphase = "often"',
            "rotation.phase: input should be 'mean', 'random' or 'known', not 'often'",
        ),
        (
            "[rotation]\nperiod_ms = 6.0",
            "[scaling]\ntrack_sectors = 8",
            "scaling.real_track_sectors: is missing",
        ),
        (
            "[seek]",
            "[model]\nintercept_ms = 4\nfull_seek_ms = 5\n[seek]",
            "seek: does not go with model, whose line holds everything",
        ),
    ],
)
def test_a_bad_curve_is_one_line(tmp_path: Path, old: str, new: str, message: str) -> None:
    with pytest.raises(UserError) as caught:
        sampled(tmp_path, (old, new))
    assert str(caught.value) == f"{tmp_path / 'mine.toml'}: {message}"
