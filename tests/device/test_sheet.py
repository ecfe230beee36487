# SPDX-License-Identifier: MIT
"""Disks from data sheets: the curves reproduce the figures, and impossible figures are refused."""

from math import sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from profile_texts import load_text

from understudy_devices.base.errors import UserError
from understudy_devices.device import averages, profile
from understudy_devices.device.profile import DiskProfile
from understudy_devices.device.sheet import LINE, ROOT, DataSheet

CAPACITY = 2**36  # sectors; large enough for fractions to be exact
SHEET = """
[sheet]
rpm = 7200
track_to_track_ms = 1.0
average_seek_ms = 9.0
full_stroke_ms = 18.0
outer_mb_per_s = 100
inner_mb_per_s = 50
"""
FIGURES: dict[str, Any] = {"rpm": 7200, "track_to_track_ms": 1.0, "average_seek_ms": 9.0}


def mean_ms(sheet: DataSheet) -> float:
    """Return the mean seek time over random pairs, by the curve that the profile gets."""
    disk = DiskProfile(name="sheet", sheet=sheet).with_curves()
    return averages.seek_ms(disk.timing(CAPACITY))


def sheets(shares: st.SearchStrategy[float]) -> st.SearchStrategy[DataSheet]:
    """Return valid sheets; the average seek is this share of the way from track-to-track to full
    stroke."""
    return st.builds(
        lambda first, rise, share, cylinders: DataSheet(
            rpm=7200,
            track_to_track_ms=first,
            average_seek_ms=first + share * rise,
            full_stroke_ms=first + rise,
            cylinders=cylinders,
        ),
        st.floats(0.01, 10),
        st.floats(1, 100),
        shares,
        st.integers(1_000, 1_000_000),
    )


@given(sheets(st.floats(LINE + 1e-6, 2 * ROOT - LINE - 1e-6)))
def test_the_curve_meets_three_figures(sheet: DataSheet) -> None:
    """Seeks of distance 0 and within a cylinder account for the remainder of the mean."""
    at, ms = sheet.seeks()
    assert (at[0], ms[0]) == (0, 0)
    assert at[1] == 1 / sheet.cylinders
    assert ms[1] == pytest.approx(sheet.track_to_track_ms, abs=1e-6)
    assert at[-1] == 1
    assert ms[-1] == pytest.approx(sheet.full_stroke_ms, abs=2e-6)
    assert mean_ms(sheet) == pytest.approx(sheet.average_seek_ms, rel=3e-3)


@given(sheets(st.floats(LINE + 1e-3, 2 * ROOT - LINE - 1e-3)))
def test_the_curve_rises_and_bends_down(sheet: DataSheet) -> None:
    at, ms = (np.array(samples[1:]) for samples in sheet.seeks())
    steps = np.diff(ms)
    assert (steps >= -1e-6).all()
    assert (np.diff(steps / np.diff(at)) <= 1e-3 * np.abs(steps / np.diff(at))[1:] + 0.1).all()


def test_without_a_full_stroke_it_is_a_square_root() -> None:
    sheet = DataSheet(**FIGURES)
    at, ms = sheet.seeks()
    assert mean_ms(sheet) == pytest.approx(9.0, abs=0.01)
    assert ms[-1] == pytest.approx(1 + 8 / (8 / 15), abs=1e-6)
    assert np.interp(0.25, at, ms) == pytest.approx(1 + 15 * sqrt(0.25), abs=0.01)


def test_overhead_is_in_every_seek() -> None:
    plain, slow = DataSheet(**FIGURES), DataSheet(**FIGURES, overhead_ms=0.5)
    assert np.array(slow.seeks()[1]) == pytest.approx(np.array(plain.seeks()[1]) + 0.5)


def test_within_a_cylinder_a_seek_is_as_long_as_it_is_likely() -> None:
    sheet = DataSheet(**FIGURES, cylinders=1000)
    assert np.interp(0.0005, *sheet.seeks()) == pytest.approx(0.5)


def test_the_square_of_the_rate_falls_in_a_line() -> None:
    rates = DataSheet(**FIGURES, outer_mb_per_s=100, inner_mb_per_s=50).rates()
    assert rates
    at, mb_per_s = map(np.array, rates)
    assert mb_per_s**2 == pytest.approx(100**2 - (100**2 - 50**2) * at, abs=0.1)
    assert DataSheet(**FIGURES).rates() is None


def test_a_profile_of_a_sheet_has_its_curves(tmp_path: Path) -> None:
    disk = load_text(tmp_path, SHEET)
    assert disk.sheet
    assert disk.rotation == profile.Rotation(period_ms=8.333333, phase="random")
    timing = disk.timing(CAPACITY)
    assert averages.seek_ms(timing) == pytest.approx(9.0, abs=0.01)
    assert timing.transfer[0][1] == 5_120_000  # ps for 512 bytes at 100 MB/s
    assert timing.transfer[-1][1] == 10_240_000
    assert not timing.buffer
    assert timing.cache == (0, 0, 0)


def test_a_sheet_may_have_a_cache_beside_it(tmp_path: Path) -> None:
    cache = "[cache]\nsegments = 8\nsegment_sectors = 256\nprefetch_sectors = 64\nhit_us = 100\n"
    assert load_text(tmp_path, SHEET + cache).timing(CAPACITY).cache == (8, 256, 64)


def test_a_sheet_without_rates_transfers_in_no_time(tmp_path: Path) -> None:
    disk = load_text(tmp_path, SHEET.split("outer")[0])
    assert disk.timing(CAPACITY).transfer == ()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("rpm = 7200\n", "", "sheet.rpm: is missing"),
        ("rpm = 7200", "rpm = 0", "sheet.rpm: input should be greater than or equal to 1"),
        ("track_to_track_ms = 1.0\n", "", "sheet.track_to_track_ms: is missing"),
        (
            "average_seek_ms = 9.0",
            "average_seek_ms = 0.9",
            "sheet.average_seek_ms: 0.9 is not above track to track, 1.0",
        ),
        (
            "full_stroke_ms = 18.0",
            "full_stroke_ms = 8.0",
            "sheet.full_stroke_ms: 8.0 is not above the average, 9.0",
        ),
        (
            "full_stroke_ms = 18.0",
            "full_stroke_ms = 40.0",
            "sheet.average_seek_ms: 9.0 is 21% of the way from track to track to full stroke; "
            "a disk's is between 33% and 73%",
        ),
        (
            "full_stroke_ms = 18.0",
            "full_stroke_ms = 10.0",
            "sheet.average_seek_ms: 9.0 is 89% of the way",
        ),
        (
            "inner_mb_per_s = 50",
            "inner_mb_per_s = 101",
            "sheet.inner_mb_per_s: 101.0 is above the outer rate, 100.0",
        ),
        ("inner_mb_per_s = 50\n", "", "sheet.inner_mb_per_s: is missing: give both rates, or none"),
        ("outer_mb_per_s = 100\n", "", "sheet.outer_mb_per_s: is missing: give both rates"),
        (
            "inner_mb_per_s = 50",
            "inner_mb_per_s = 0.001",
            "throughput.mb_per_s: 0.001 is less than 0.00512, the slowest",
        ),
        (
            "full_stroke_ms = 18.0",
            "full_stroke_ms = 18000.0",
            "sheet.full_stroke_ms: input should be less than or equal to 1000, not 18000.0",
        ),
        ("rpm = 7200", "rpm = 7200\ncylinders = 1", "sheet.cylinders: input should be greater"),
        ("rpm = 7200", "rpm = 7200\nheads = 4", "sheet.heads: is not a key of a profile"),
        (
            "average_seek_ms",
            "avg_seek_ms",
            'sheet.avg_seek_ms: is not a key of a profile: did you mean "average_seek_ms"? ',
        ),
        ("[sheet]", "[seek]\nms = [1.0, 2.0]\n[sheet]", "seek: does not go with sheet"),
        ("[sheet]", "[rotation]\nperiod_ms = 8.0\n[sheet]", "rotation: does not go with sheet"),
        (
            "[sheet]",
            "[array]\nservers = 2\nservice_ms = 1.0\n[sheet]",
            "sheet: does not go with array",
        ),
    ],
)
def test_what_no_disk_can_be_is_one_line(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert SHEET.count(old) == 1
    with pytest.raises(UserError) as caught:
        load_text(tmp_path, SHEET.replace(old, new))
    assert str(caught.value).startswith(f"{tmp_path / 'mine.toml'}: {message}")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["hp-c3323a", "ultrastar-18es", "atlas-10k", "cheetah-9lp"])
def test_three_figures_of_a_timed_disk_give_nearly_its_curve(name: str) -> None:
    """docs/disks.md states the error of the rule: within 8 % of the mean, rms over random pairs."""
    disk = profile.load(name)
    assert disk.seek
    assert disk.seek.at
    timed_ms = averages.seek_ms(disk.timing(CAPACITY))
    sheet = DataSheet(
        rpm=7200,
        track_to_track_ms=disk.seek.ms[1],
        average_seek_ms=timed_ms,
        full_stroke_ms=disk.seek.ms[-1],
    )
    x = np.linspace(0.0005, 1, 2000)
    off = np.interp(x, *sheet.seeks()) - np.interp(x, disk.seek.at, disk.seek.ms)
    rms = sqrt(np.average(off**2, weights=2 * (1 - x) + 1e-12))
    assert 0 < rms / timed_ms < 0.08
