# SPDX-License-Identifier: MIT
"""Disk profiles: the Cheetah's figures, exact ns, and one line for every mistake."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy import profile
from understudy.errors import UserError
from understudy.paths import profiles_dir

CHEETAH = (profiles_dir() / "cheetah-15k4.toml").read_text(encoding="utf-8")


def load_text(folder: Path, text: str) -> profile.DiskProfile:
    file = folder / "mine.toml"
    file.write_text(text, encoding="utf-8")
    return profile.load(str(file))


def test_cheetah_is_the_papers_disk() -> None:
    disk = profile.load("cheetah-15k4")
    assert disk.name == "cheetah-15k4"
    assert disk.facts.capacity_sectors * 512 == pytest.approx(73.4e9, rel=1e-3)
    linear = disk.linear(3_000_000)
    assert linear == profile.LinearDisk(
        capacity_sectors=3_000_000,
        intercept_ns=4_250_000,
        full_seek_ns=5_250_000,
        hit_ns=250_000,
        segments=64,
        segment_sectors=221,
        prefetch_sectors=64,
    )


def test_service_time_is_the_line_rounded_down() -> None:
    linear = profile.load("cheetah-15k4").linear(7)
    assert linear.service_ns(0) == 4_250_000
    assert linear.service_ns(7) == 9_500_000
    assert linear.service_ns(3) == 4_250_000 + 5_250_000 * 3 // 7


@given(st.integers(1, 60_000_000_000))
def test_decimal_times_become_exactly_the_ns_that_were_written(ns: int) -> None:
    text = f"{ns // 10**6}.{ns % 10**6:06}"
    disk = profile.load("cheetah-15k4")
    model = profile.SeekLine(intercept_ms=float(text), full_seek_ms=0.0)
    assert disk.model_copy(update={"model": model}).linear(8).intercept_ns == ns


def test_whole_numbers_may_stand_for_times(tmp_path: Path) -> None:
    disk = load_text(tmp_path, CHEETAH.replace("4.25\n", "4\n"))
    assert disk.linear(8).intercept_ns == 4_000_000


@pytest.mark.parametrize(
    ("old", "new", "key", "reason"),
    [
        ("intercept_ms = 4.25\n", "", "model.intercept_ms", "is missing"),
        ("intercept_ms = 4.25", "intercept_ms = -4.25", "model.intercept_ms", "-4.25"),
        ("intercept_ms = 4.25", "intercept_ms = 0.0", "model.intercept_ms", "greater than 0"),
        ("full_seek_ms = 5.25", "full_seek_ms = nan", "model.full_seek_ms", "finite"),
        ("full_seek_ms = 5.25", "full_seek_ms = inf", "model.full_seek_ms", "finite"),
        ("full_seek_ms = 5.25", "full_seek_ms = true", "model.full_seek_ms", "True"),
        ("hit_us = 250", 'hit_us = "250"', "cache.hit_us", "'250'"),
        ("segments = 64", "segments = 64.5", "cache.segments", "64.5"),
        ("segments = 64", "segments = 5000", "cache.segments", "1024"),
        ("prefetch_sectors = 64", "prefetch_sectors = -1", "cache.prefetch_sectors", "-1"),
        ("hit_us = 250", "hit_us = 250\nhits = 3", "cache.hits", "not a key"),
        ("sector_bytes = 512", "sector_bytes = 4096", "facts.sector_bytes", "4096"),
        ('summary = "', 'name = "x"\nsummary = "', "name", "not a key"),
    ],
)
def test_a_bad_value_is_one_line_with_file_key_and_reason(
    tmp_path: Path, old: str, new: str, key: str, reason: str
) -> None:
    assert old in CHEETAH
    with pytest.raises(UserError) as caught:
        load_text(tmp_path, CHEETAH.replace(old, new, 1))
    message = str(caught.value)
    assert message.startswith(f"{tmp_path / 'mine.toml'}: {key}: ")
    assert reason in message
    assert "\n" not in message


def test_what_is_not_toml_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="not TOML") as caught:
        load_text(tmp_path, "model = [1,\n2")
    assert "\n" not in str(caught.value)


def test_bytes_that_are_no_text_are_not_toml(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UserError, match="not TOML"):
        profile.load(str(tmp_path / "mine.toml"))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"gone\.toml: No such file"):
        profile.load(str(tmp_path / "gone.toml"))


def test_an_unknown_disk_brings_the_nearest_and_all() -> None:
    with pytest.raises(UserError) as caught:
        profile.load("cheeta")
    assert str(caught.value).startswith(
        'unknown disk "cheeta": did you mean "cheetah-15k4"? there are: '
    )


def test_every_profile_of_the_project_loads() -> None:
    for name in profile.catalogue():
        assert profile.load(name).name == name
