# SPDX-License-Identifier: MIT
"""Disk profiles: the Cheetah's figures, Vesper's curves against the formula in double
precision, exact ns, and one line for every mistake."""

import subprocess
import sys
from math import sqrt
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.ask import tunables
from understudy.base.errors import UserError
from understudy.base.paths import profiles_dir
from understudy.device import profile, section
from understudy.device.timing import Buffer, Timing
from understudy.native.drive import (
    CACHE_SEGMENTS_MAX,
    CURVE_POINTS_MAX,
    DISK_NS_MAX,
    QUEUE_DEPTH_MAX,
    SECTOR_PS_MAX,
    SEGMENTS_MAX,
    TRACK_SECTORS_MAX,
    WRITES_MAX,
    Drive,
)
from understudy.native.request import READ, WRITE

CHEETAH = (profiles_dir() / "cheetah-15k4.toml").read_text(encoding="utf-8")


def load_text(folder: Path, text: str) -> profile.DiskProfile:
    file = folder / "mine.toml"
    file.write_text(text, encoding="utf-8")
    return profile.load(str(file))


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
    drive = Drive.from_timing(profile.load("cheetah-15k4").timing(7))
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
        ("segments = 64", "segments = 5000", "cache.segments", "1024"),
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


# Sampled curves.

SAMPLED = """
[seek]
ms = [2.0, 4.0, 3.5, 10.0]
at = [0, 0.25, 0.5, 1]
[throughput]
mb_per_s = [60, 40]
[rotation]
period_ms = 6.0
[facts]
vendor = "none"
model = "none"
capacity_sectors = 70312500
"""


def sampled(folder: Path, *changes: tuple[str, str]) -> profile.DiskProfile:
    """SAMPLED with parts of it replaced, each of which is there once."""
    text = SAMPLED
    for old, new in changes:
        assert text.count(old) == 1
        text = text.replace(old, new)
    return load_text(folder, text)


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
    """Such a disk has no latency and transfers in no time."""
    timing = sampled(
        tmp_path, ("[rotation]\nperiod_ms = 6.0\n", ""), ("[throughput]\nmb_per_s = [60, 40]\n", "")
    ).timing(1000)
    assert (timing.rotation_ns, timing.transfer) == (0, ())


def test_rotation_that_seeks_contain_is_taken_off(tmp_path: Path) -> None:
    """So that the model, which adds it again, gives what was measured."""
    measured = ("at = [0, 0.25", "contains_rotation = true\nat = [0, 0.25")
    raised = ("[2.0, 4.0, 3.5, 10.0]", "[3.0, 4.0, 3.5, 10.0]")
    timing = sampled(tmp_path, measured, raised).timing(1000)
    assert [ns for _, ns in timing.seek] == [0, 1_000_000, 500_000, 7_000_000]
    without_transfer = Drive(timing.seek, 0, rotation_ns=timing.rotation_ns)
    service_ns, _ = without_transfer.serve([READ] * 2, [250, 0], [1, 1])
    assert service_ns[0] == 4_000_000


def test_noise_below_half_a_rotation_is_a_seek_of_no_time(tmp_path: Path) -> None:
    """Nothing is said of a tenth of it; of more there is a doubt, of half it is refused."""
    for least, doubted in (("2.7", False), ("2.699", True), ("1.5", True)):
        disk = sampled(tmp_path, ("ms = [2.0,", f"contains_rotation = true\nms = [{least},"))
        assert disk.timing(1000).seek[0] == (0, 0)
        assert disk.timing(1000).seek[1] == (250, 1_000_000)
        assert bool(disk.doubts) == doubted
    assert disk.doubts == [
        "mine: seek.ms: 1 of 4 samples are more than 10% below half a rotation, 3, down to 1.5: "
        "they count as seeks of no time; do they contain a rotation?"
    ]


def test_a_doubt_about_a_disk_is_said_before_its_figures(tmp_path: Path) -> None:
    sampled(tmp_path, ("ms = [2.0,", "contains_rotation = true\nms = [2.0,"))
    for command in ("predict --workload random --out", "sweep --workloads random --out"):
        name, *options = command.split()
        kind = "--disks" if name == "sweep" else "--disk"
        place = tmp_path / f"{name}.out"
        given = [name, kind, str(tmp_path / "mine.toml"), "--schedulers", "fcfs", *options, place]
        done = subprocess.run(
            [sys.executable, "-m", "understudy", *map(str, given), "--requests", "10"],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert "1 of 4 samples are more than 10% below half a rotation" in done.stderr


def test_phase_is_a_choice(tmp_path: Path) -> None:
    random = ("period_ms = 6.0", 'period_ms = 6.0\nphase = "random"')
    assert sampled(tmp_path, random).timing(1000).random_phase
    assert not sampled(tmp_path).timing(1000).random_phase


def test_a_track_of_a_small_disk_takes_as_long_as_a_real_one(tmp_path: Path) -> None:
    """The example of SIGCSE 2006 section 2.3: 128 KB, tracks of 4 KB for 400 KB."""
    scaling = ("[facts]", "[scaling]\nreal_track_sectors = 800\ntrack_sectors = 8\n[facts]")
    small = sampled(tmp_path, scaling).timing(256)
    real = sampled(tmp_path).timing(70_312_500)
    assert small.rotation_ns == real.rotation_ns
    assert small.seek[0][1] == real.seek[0][1]
    assert small.seek[-1] == (256, real.seek[-1][1])
    for (_, small_ps), (_, real_ps) in zip(small.transfer, real.transfer, strict=True):
        assert 8 * small_ps == pytest.approx(800 * real_ps, rel=1e-6)
    kept = sampled(tmp_path).timing(256)
    assert [ps for _, ps in kept.transfer] == [ps for _, ps in real.transfer]


def formula(
    disk: profile.DiskProfile, capacity: int, head: int, sector: int, sectors: int
) -> float:
    """Vesper's model in ns as docs/method.md states it, from the profile's own figures.

    Between two samples the seek time is a line, and so is the time for a sector.
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
    """Requests up to 16 MB, anywhere; at these sizes a sector's share of a seek is small."""
    disk = profile.load(name)
    random = np.random.default_rng(1)
    sectors = random.integers(1, 32769, 2000)
    sector = random.integers(0, capacity - sectors)
    service_ns, _ = Drive.from_timing(disk.timing(capacity)).serve(np.zeros(2000), sector, sectors)
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
    """On a disk on which every sample falls on a sector."""
    capacity = (len(ms) - 1) * (len(mb_per_s) - 1) * 100_000
    disk = profile.load("vesper-flat").model_copy(
        update={
            "seek": profile.SeekCurve(ms=tuple(ms)),
            "throughput": profile.Throughput(mb_per_s=tuple(mb_per_s)),
            "rotation": profile.Rotation(period_ms=period_ms),
        }
    )
    drive = Drive.from_timing(disk.timing(capacity))
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


def test_limits_are_the_cores() -> None:
    assert profile.SAMPLES_MAX == CURVE_POINTS_MAX
    assert profile.CACHE_SEGMENTS_MAX == CACHE_SEGMENTS_MAX
    assert section.MINUTE_MS * 10**6 == DISK_NS_MAX
    assert profile.SECTOR_PS_MAX == SECTOR_PS_MAX
    assert profile.SEGMENTS_MAX == SEGMENTS_MAX
    assert profile.QUEUE_DEPTH_MAX == QUEUE_DEPTH_MAX
    assert profile.WRITES_MAX == WRITES_MAX
    assert profile.TRACK_SECTORS_MAX == TRACK_SECTORS_MAX


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
        ("at = [0", "places = [0", "seek.places: is not a key of a profile"),
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
            "ms = [2.0,",
            "contains_rotation = true\nms = [1.499,",
            "seek.ms.0: 1.499 can't contain half a rotation, 3",
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


def test_a_line_is_a_whole_profile(tmp_path: Path) -> None:
    """As in a course: two figures, no cache, no manual."""
    disk = load_text(tmp_path, "[model]\nintercept_ms = 4\nfull_seek_ms = 5\n")
    assert disk.facts is None
    assert disk.timing(1000) == Timing(1000, 4_000_000, ((0, 0), (1000, 5_000_000)))


def test_sections_that_need_others(tmp_path: Path) -> None:
    """What is said of a section that is not there, or of one too many."""
    parts = SAMPLED.strip()[1:].split("\n[")
    sections = {part.split("]")[0]: f"[{part}\n" for part in parts}
    scaling = "[scaling]\nreal_track_sectors = 8\ntrack_sectors = 8\n"
    line = "[model]\nintercept_ms = 4\nfull_seek_ms = 5\n"
    contains = sections["seek"] + "contains_rotation = true\n"
    for text, message in (
        ("", "model: is missing, seek and sheet as well: a disk has one of them"),
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
        (contains, "seek.contains_rotation: there is no rotation to take off"),
    ):
        with pytest.raises(UserError) as caught:
            load_text(tmp_path, text + sections["facts"])
        assert str(caught.value) == f"{tmp_path / 'mine.toml'}: {message}"


CACHE = """[cache]
segments = 2
segment_sectors = 64
prefetch_sectors = 8
hit_us = 100
"""
TRACKS = """[tracks]
at = [0, 0.5]
sectors = [700, 560]
switch_ms = 0.5
"""
BUFFER = """[buffer]
bus_mb_per_s = 10
read_hit_us = 66
write_us = 500
write_same_track_saves_us = 200
write_settle_ms = 0.25
command_ms = 0.125
segments = 3
segment_sectors = 300
replace = "first in first out"
hits_interrupt = false
hits_return = true
hits_resume = false
read_ahead_sectors = 200
read_ahead_to_track_end = true
read_ahead_overwrites = true
read_reach_sectors = 150
write_back = 2
write_back_sectors = 400
write_back_idle_ms = 1
write_back_low_sectors = 100
write_back_order = "nearest"
"""


def test_a_buffer_in_the_units_of_the_core(tmp_path: Path) -> None:
    """Whole ns, ps and sectors; tracks by the sectors of the virtual disk."""
    timing = load_text(tmp_path, SAMPLED + TRACKS + BUFFER).timing(10_000)
    assert timing.tracks == ((0, 700), (5000, 560))
    assert timing.switch_ns == 500_000
    assert timing.hit_ns == 66_000
    assert timing.buffer == Buffer(
        bus_sector_ps=51_200_000,
        write_ns=500_000,
        write_same_track_saves_ns=200_000,
        write_settle_ns=250_000,
        command_ns=125_000,
        buffer_segments=3,
        buffer_segment_sectors=300,
        buffer_first_in_first_out=True,
        buffer_hits_interrupt=False,
        buffer_hits_return=True,
        read_ahead_sectors=200,
        read_ahead_to_track_end=True,
        read_ahead_overwrites=True,
        read_reach_sectors=150,
        read_hits_resume=False,
        write_back_spans=2,
        write_back_sectors=400,
        write_back_idle_ns=1_000_000,
        write_back_low_sectors=100,
        write_back_order=1,
    )


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("segments = 3\n", "", "buffer.read_ahead_sectors: there are no segments to read ahead"),
        ("segments = 3\n", "segments = 257\n", "buffer.segments: input should be less than or eq"),
        (
            "read_ahead_sectors = 200",
            "read_ahead_sectors = 301",
            "buffer.read_ahead_sectors: 301 is more than a segment's 300",
        ),
        (
            "write_back_sectors = 400\n",
            "",
            "buffer.write_back: takes writes, but write_back_sectors leaves no room",
        ),
        (
            "write_back_low_sectors = 100",
            "write_back_low_sectors = 401",
            "buffer.write_back_low_sectors: 401 is more than all, 400",
        ),
        (TRACKS, "", "buffer.read_ahead_to_track_end: no tracks say where one ends"),
        (
            TRACKS + BUFFER,
            BUFFER.replace("read_ahead_to_track_end = true\n", ""),
            "buffer.write_same_track_saves_us: no tracks say where one ends",
        ),
        (
            "write_us = 500",
            "write_us = 150",
            "buffer.write_same_track_saves_us: 200 is more than a write's 150",
        ),
        ('"nearest"', '"random"', "buffer.write_back_order: input should be 'as they came',"),
        (
            "[700, 560]",
            "[700, 500000]",
            "tracks.sectors: 500000 sectors from 0.5 on take",
        ),
        ("at = [0, 0.5]", "at = [0, 1]", "tracks.at: a zone begins at 1, where the disk ends"),
        ("at = [0, 0.5]", "at = [0]", "tracks.at: has 1 places for 2 values"),
        ("[700, 560]", "[700, 0]", "tracks.sectors.1: input should be greater than or equal to 1"),
        ("bus_mb_per_s = 10", "bus_mb_per_s = 0", "buffer.bus_mb_per_s: input should be greater"),
    ],
)
def test_a_bad_buffer_is_one_line(tmp_path: Path, old: str, new: str, message: str) -> None:
    """File, key, reason."""
    text = SAMPLED + TRACKS + BUFFER
    assert old in text
    with pytest.raises(UserError) as caught:
        load_text(tmp_path, text.replace(old, new, 1))
    assert str(caught.value).startswith(f"{tmp_path / 'mine.toml'}: {message}")


def test_a_cache_or_a_buffer(tmp_path: Path) -> None:
    """Not both."""
    with pytest.raises(UserError, match="buffer: does not go with cache: a disk has one of them"):
        load_text(tmp_path, SAMPLED + CACHE + TRACKS + BUFFER)


def test_a_track_fits_into_its_zone_at_that_size(tmp_path: Path) -> None:
    """Which the file alone can't say."""
    disk = load_text(tmp_path, SAMPLED + TRACKS + BUFFER)
    with pytest.raises(UserError, match="a track of 700 is longer than its zone of 600 sectors"):
        disk.timing(1200)


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


@pytest.mark.parametrize(
    ("bus_sector_ps", "expected"),
    # While the bus carries 8 sectors, 8 pass under the head, and as many as that in what is left.
    [(30_000_000, 8), (15_000_000, 0), (10_000_000, 0), (10**9, 100)],
)
def test_cats_counts_on_what_is_read_ahead_at_once(bus_sector_ps: int, expected: int) -> None:
    """At the slowest place, 15 us a sector, and never more than the drive reads ahead."""
    timing = Timing(
        1000,
        0,
        ((0, 0), (1000, 0)),
        transfer=((0, 10_000_000), (1000, 15_000_000)),
        buffer=Buffer(
            bus_sector_ps=bus_sector_ps,
            buffer_segments=3,
            buffer_segment_sectors=300,
            read_ahead_sectors=100,
        ),
    )
    shadow = tunables.following("cats", timing)
    assert shadow["shadow_segments"] == 3
    assert shadow["shadow_segment_sectors"] == 300
    assert shadow["shadow_prefetch_sectors"] == expected


def test_what_goes_beyond_a_fit() -> None:
    """Named, unless the profile was tried with it, or does not say what it was fitted with."""
    asked: dict[profile.Beyond, bool] = {"queues": True, "hits": False, "writes": True}
    line = profile.load("cheetah-15k4")
    assert line.beyond(asked) == ["queues", "writes"]
    assert line.beyond({"queues": False, "hits": False, "writes": False}) == []
    assert line.model_copy(update={"holds_for": ("writes",)}).beyond(asked) == ["queues"]
    assert profile.load("cheetah-9lp").beyond(asked) == []
    assert line.model_copy(update={"limits": ""}).beyond(asked) == []
