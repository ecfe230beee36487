# SPDX-License-Identifier: MIT
"""Disk profiles: the Cheetah's figures, exact ns, which sections go together, and a one-line
message for every mistake."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from profile_texts import SAMPLED, load_text

from understudy_devices.base.errors import UserError
from understudy_devices.base.paths import profiles_dir
from understudy_devices.device import profile, section
from understudy_devices.device.timing import Timing
from understudy_devices.native.drive import (
    CURVE_POINTS_MAX,
    SETTINGS,
    TRACK_SECTORS_MAX,
    Drive,
)
from understudy_devices.native.request import READ, WRITE

CHEETAH = (profiles_dir() / "cheetah-15k4.toml").read_text(encoding="utf-8")


def test_cheetah_is_the_papers_disk() -> None:
    disk = profile.load("cheetah-15k4")
    assert disk.name == "cheetah-15k4"
    assert disk.facts
    assert disk.facts.capacity_sectors * 512 == pytest.approx(73.4e9, rel=1e-3)
    assert disk.timing(3_000_000) == Timing(
        capacity_sectors=3_000_000,
        intercept_ns=4_250_000,
        seek=((0, 0), (3_000_000, 5_250_000)),
        transfer=(),
        rotation_ns=0,
        random_phase=False,
        cache=(64, 221, 64),
        hit_ns=250_000,
    )


def test_service_time_is_the_line_rounded_down() -> None:
    drive = Drive(profile.load("cheetah-15k4").timing(7))
    service_ns, _ = drive.serve([READ, WRITE], [0, 4], [1, 3])
    assert service_ns.tolist() == [4_250_000, 4_250_000 + 5_250_000 * 3 // 7]


@given(st.integers(1, 60_000_000_000))
def test_decimal_times_become_exactly_the_ns_that_were_written(ns: int) -> None:
    text = f"{ns // 10**6}.{ns % 10**6:06}"
    disk = profile.load("cheetah-15k4")
    model = profile.SeekLine(intercept_ms=float(text), full_seek_ms=0.0)
    assert disk.model_copy(update={"model": model}).timing(8).intercept_ns == ns


def test_whole_numbers_may_stand_for_times(tmp_path: Path) -> None:
    disk = load_text(tmp_path, CHEETAH.replace("4.25\n", "4\n"))
    assert disk.timing(8).intercept_ns == 4_000_000


@pytest.mark.parametrize(
    ("old", "new", "key", "reason"),
    [
        ("intercept_ms = 4.25\n", "", "model.intercept_ms", "is missing"),
        ("intercept_ms = 4.25", "intercept_ms = -4.25", "model.intercept_ms", "-4.25"),
        ("intercept_ms = 4.25", "intercept_ms = 0.0", "model.intercept_ms", "equal to 0.000001"),
        ("full_seek_ms = 5.25", "full_seek_ms = nan", "model.full_seek_ms", "finite"),
        ("full_seek_ms = 5.25", "full_seek_ms = inf", "model.full_seek_ms", "finite"),
        ("full_seek_ms = 5.25", "full_seek_ms = true", "model.full_seek_ms", "True"),
        ("hit_us = 250", 'hit_us = "250"', "cache.hit_us", "'250'"),
        ("segments = 64", "segments = 64.5", "cache.segments", "64.5"),
        ("segments = 64", "segments = 5000", "cache.segments", "512"),
        ("prefetch_sectors = 64", "prefetch_sectors = -1", "cache.prefetch_sectors", "-1"),
        ("hit_us = 250", "hit_us = 0.0009", "cache.hit_us", "equal to 0.001"),
        (
            "segment_sectors = 221",
            "segment_sectors = 4294967297",
            "cache.segment_sectors",
            "4294967296",
        ),
        (
            "prefetch_sectors = 64",
            "prefetch_sectors = 4294967297",
            "cache.prefetch_sectors",
            "4294967296",
        ),
        ("hit_us = 250", "hit_us = 250\nhits = 3", "cache.hits", "not a key"),
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


@pytest.mark.parametrize("key", profile.DROPPED)
def test_a_key_of_an_older_profile_says_what_stands_for_it(tmp_path: Path, key: str) -> None:
    section, _, name = key.rpartition(".")
    with pytest.raises(UserError) as caught:
        load_text(tmp_path, f"[{section}]\n{name} = 1\n" if section else f"{name} = 1\n")
    message = f"{tmp_path / 'mine.toml'}: {key}: is no longer a key: {profile.DROPPED[key]}"
    assert str(caught.value) == message


def test_limits_are_the_cores() -> None:
    assert profile.SAMPLES_MAX == CURVE_POINTS_MAX
    most = {name: setting.max for name, setting in SETTINGS.items()}
    assert most["cache_segments"] == profile.CACHE_SEGMENTS_MAX
    assert most["intercept_ns"] == section.MINUTE_MS * 10**6
    assert most["bus_sector_ps"] == profile.SECTOR_PS_MAX
    assert most["buffer_segments"] == profile.SEGMENTS_MAX
    assert most["queue_depth"] == profile.QUEUE_DEPTH_MAX
    assert most["write_back_spans"] == profile.WRITES_MAX
    assert profile.TRACK_SECTORS_MAX == TRACK_SECTORS_MAX


def test_a_line_is_a_whole_profile(tmp_path: Path) -> None:
    """A minimal profile, as in a course: two figures, without cache or facts."""
    disk = load_text(tmp_path, "[model]\nintercept_ms = 4\nfull_seek_ms = 5\n")
    assert disk.facts is None
    assert disk.timing(1000) == Timing(1000, 4_000_000, ((0, 0), (1000, 5_000_000)))


def test_sections_that_need_others(tmp_path: Path) -> None:
    """Check the messages for a missing section and for a superfluous one."""
    parts = SAMPLED.strip()[1:].split("\n[")
    sections = {part.split("]")[0]: f"[{part}\n" for part in parts}
    scaling = "[scaling]\nreal_track_sectors = 8\ntrack_sectors = 8\n"
    line = "[model]\nintercept_ms = 4\nfull_seek_ms = 5\n"
    for text, message in (
        ("", "model: is missing, and so are seek and sheet: a disk needs one of them"),
        (
            line + sections["rotation"],
            "rotation: does not go with model, whose line holds everything",
        ),
        (
            line + sections["throughput"],
            "throughput: does not go with model, whose line holds everything",
        ),
        (line + scaling, "scaling: does not go with model, whose line holds everything"),
        (sections["seek"] + scaling, "scaling: there is no throughput to scale"),
    ):
        with pytest.raises(UserError) as caught:
            load_text(tmp_path, text + sections["facts"])
        assert str(caught.value) == f"{tmp_path / 'mine.toml'}: {message}"


ARRAY = """[array]
servers = 32
service_ms = 10.0
"""


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("32", "0", "array.servers: input should be greater than or equal to 1, not 0"),
        ("32", "65537", "array.servers: input should be less than or equal to 65536, not 65537"),
        (
            "10.0",
            "-1.0",
            "array.service_ms: input should be greater than or equal to 0.000001, not -1.0",
        ),
        (
            "10.0",
            "1e-12",
            "array.service_ms: input should be greater than or equal to 0.000001, not 1e-12",
        ),
        ("10.0", "nan", "array.service_ms: input should be a finite number, not nan"),
        ("10.0", '10.0\ndistribution = "normal"', "array.distribution: input should be 'constant'"),
        ("10.0", "10.0\n[model]\nintercept_ms = 1.0\nfull_seek_ms = 1.0", "model: does not go"),
    ],
)
def test_a_bad_array_is_one_line(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert load_text(tmp_path, ARRAY).array is not None
    with pytest.raises(UserError) as error:
        load_text(tmp_path, ARRAY.replace(old, new))
    assert message in str(error.value)
    assert "\n" not in str(error.value)


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
        profile.load("cheetah-15k44")
    assert str(caught.value).startswith(
        'unknown disk "cheetah-15k44": did you mean "cheetah-15k4"? there are: '
    )


def test_every_profile_of_the_project_loads() -> None:
    for name in profile.catalogue():
        assert profile.load(name).name == name
