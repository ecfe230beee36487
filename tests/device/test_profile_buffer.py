# SPDX-License-Identifier: MIT
"""Profiles with a timed buffer and with tracks: values in the core's units, and a one-line
message for every mistake."""

from pathlib import Path

import pytest
from profile_texts import SAMPLED, load_text

from understudy_devices.ask import tunables
from understudy_devices.base.errors import UserError
from understudy_devices.device.timing import Timing

CACHE = """[cache]
segments = 2
segment_sectors = 64
prefetch_sectors = 8
hit_us = 100
"""
TRACKS = '''[layout]
zones = """
first_sector,track_sectors
0,700
35156250,560
"""
switch_ms = 0.5
'''
BUFFER = """[buffer]
bus_mb_per_s = 10
bus_watermark_percent = 75
read_hit_us = 66
write_us = 500
write_settle_ms = 0.25
segments = 3
segment_sectors = 300
segment_keeps = "ahead"
read_ahead_sectors = "to track end"
read_reach_sectors = 150
after_hit = "return"
write_back = 2
write_back_idle_ms = 1
write_back_order = "ascending"
"""


def test_a_buffer_in_the_units_of_the_core(tmp_path: Path) -> None:
    """Values become whole ns, ps and sectors; tracks are measured in sectors of the virtual
    disk."""
    timing = load_text(tmp_path, SAMPLED + TRACKS + BUFFER).timing(10_000)
    zones = [(zone.first, zone.sectors) for zone in timing.tracks.zones]
    assert zones == [(0, 700), (5000, 560)]
    assert timing.switch_ns == 500_000
    assert timing.hit_ns == 66_000
    assert timing.buffer == {
        "bus_sector_ps": 51_200_000,
        "bus_watermark_percent": 75,
        "write_ns": 500_000,
        "write_settle_ns": 250_000,
        "buffer_segments": 3,
        "buffer_segment_sectors": 300,
        "read_ahead_sectors": 300,
        "read_ahead_to_track_end": True,
        "read_ahead_overwrites": True,
        "read_reach_sectors": 150,
        "after_hit": 2,
        "write_back_spans": 2,
        "write_back_sectors": 600,
        "write_back_idle_ns": 1_000_000,
        "write_back_full_idle_ns": 0,
        "write_back_low_sectors": 600,
        "write_back_order": 1,
    }


def test_room_for_writes_and_what_a_full_drive_keeps(tmp_path: Path) -> None:
    buffer = BUFFER.replace("write_back = 2", "write_back = [2, 500, 100]")
    buffer = buffer.replace("idle_ms = 1", "idle_ms = [1, 0.5]")
    timing = load_text(tmp_path, SAMPLED + TRACKS + buffer).timing(10_000)
    for name, value in {
        "spans": 2,
        "sectors": 500,
        "low_sectors": 100,
        "idle_ns": 1_000_000,
        "full_idle_ns": 500_000,
    }.items():
        assert timing.buffer[f"write_back_{name}"] == value


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("segments = 3\n", "", "buffer.read_ahead_sectors: there are no segments to read ahead"),
        ("segments = 3\n", "segments = 257\n", "buffer.segments: input should be less than or eq"),
        (
            '"to track end"',
            "301",
            "buffer.read_ahead_sectors: 301 is more than a segment's 300",
        ),
        (
            "segment_sectors = 300",
            "segment_sectors = 3000000000",
            "buffer.write_back: 2 segments have too many sectors",
        ),
        *(
            ("write_back = 2", f"write_back = {bad}", "buffer.write_back: input should be a number")
            for bad in (
                "-1",
                "257",
                "true",
                "[2]",
                "[2, 0]",
                "[2, 8, 9]",
                "[257, 8]",
                "[2, 8, 1, 1]",
            )
        ),
        *(
            (
                "idle_ms = 1",
                f"idle_ms = {bad}",
                "buffer.write_back_idle_ms: input should be 0 to 60",
            )
            for bad in ("-1", "true", "nan", '"a"', "[1]", "[1, -1]", "[1, 1, 1]", "[1, 60001]")
        ),
        (TRACKS, "", "buffer.read_ahead_sectors: no layout says where a track ends"),
        (
            '"to track end"',
            '"far"',
            "buffer.read_ahead_sectors: input should be a number of sectors or ",
        ),
        ('"return"', '"leave"', "buffer.after_hit: input should be 'stop', 'go on' or 'return'"),
        ('"ahead"', '"all"', "buffer.segment_keeps: input should be 'request' or 'ahead'"),
        ('"ascending"', '"random"', "buffer.write_back_order: input should be 'shortest pos"),
        (
            ",560",
            ",400000",
            "layout.zones: 400000 sectors from 35156250 on take",
        ),
        (",560", ",0", "layout.zones: line 3, column track_sectors: 0 is not from 1 to 1048576"),
        ("bus_mb_per_s = 10", "bus_mb_per_s = 0", "buffer.bus_mb_per_s: input should be greater"),
    ],
)
def test_a_bad_buffer_is_one_line(tmp_path: Path, old: str, new: str, message: str) -> None:
    """The message has the file, the key and the reason."""
    text = SAMPLED + TRACKS + BUFFER
    assert old in text
    with pytest.raises(UserError) as caught:
        load_text(tmp_path, text.replace(old, new, 1))
    assert str(caught.value).startswith(f"{tmp_path / 'mine.toml'}: {message}")


def test_a_cache_or_a_buffer(tmp_path: Path) -> None:
    """A profile has either, not both."""
    with pytest.raises(UserError, match="buffer: does not go with cache: a disk has one of them"):
        load_text(tmp_path, SAMPLED + CACHE + TRACKS + BUFFER)


@pytest.mark.parametrize(
    ("bus_sector_ps", "expected"),
    # While the bus carries 8 sectors, 8 pass under the head, and more in the bus time that is left.
    [(30_000_000, 8), (15_000_000, 0), (10_000_000, 0), (10**9, 100)],
)
def test_cats_counts_on_what_is_read_ahead_at_once(bus_sector_ps: int, expected: int) -> None:
    """The slowest part of the disk takes 15 us a sector; the result never exceeds the drive's
    read-ahead."""
    timing = Timing(
        1000,
        0,
        ((0, 0), (1000, 0)),
        transfer=((0, 10_000_000), (1000, 15_000_000)),
        buffer={
            "bus_sector_ps": bus_sector_ps,
            "buffer_segments": 3,
            "buffer_segment_sectors": 300,
            "read_ahead_sectors": 100,
        },
    )
    shadow = tunables.following("cats", timing)
    assert shadow["shadow_segments"] == 3
    assert shadow["shadow_segment_sectors"] == 300
    assert shadow["shadow_prefetch_sectors"] == expected
