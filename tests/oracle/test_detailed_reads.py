# SPDX-License-Identifier: MIT
"""The oracle's read cache: hits, reading ahead, segments."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from detailed_drives import (
    ALL_AROUND,
    CACHED,
    PERIOD_NS,
    ROUNDING_NS,
    SOON_NS,
    after_ns,
    begins_ns,
    hit_ns,
    medium_ns,
    sector_ns,
)

from oracle.detailed.drive import (
    MS,
    DetailedDrive,
    Parameters,
)


@pytest.mark.parametrize("sectors", [1, 8, 100])
def test_a_hit_costs_overhead_and_length(sectors: int) -> None:
    drive = DetailedDrive(CACHED)
    now_ns = drive.request("read", 1000, 100, 0)
    for _ in range(3):
        sent_ns = now_ns + 12_345
        now_ns = drive.request("read", 1000, sectors, sent_ns)
        assert now_ns - sent_ns == pytest.approx(hit_ns(CACHED, sectors), abs=1)


def read_after(p: Parameters, gap_ns: int, ahead: int) -> tuple[float, float]:
    """Read twice; return how long the second read takes, and how long it should take.

    The first read is 8 sectors at 0. The second one is sent `gap_ns` after the completion of the
    first, and skips `ahead` sectors.
    """
    drive = DetailedDrive(p)
    first_ns = medium_ns(drive, "read", 0, 0, 8, 0)
    sent_ns = drive.request("read", 0, 8, 0) + gap_ns
    passed_ns = first_ns + (ahead + 8) * sector_ns(drive.locate(0))
    took_ns = drive.request("read", 8 + ahead, 8, sent_ns) - sent_ns
    return took_ns, max(hit_ns(p, 8), passed_ns + p.bus_sector_ns - sent_ns)


@pytest.mark.parametrize("gap_ns", [0, 100_000, 700_000, 1_500_000, 3_000_000])
def test_a_read_ahead_of_the_head_waits_until_it_has_come_by(gap_ns: int) -> None:
    hits = 0
    for ahead in range(0, 200, 5):
        took_ns, expected_ns = read_after(CACHED, gap_ns, ahead)
        assert took_ns == pytest.approx(expected_ns, abs=ROUNDING_NS)
        hits += took_ns == pytest.approx(hit_ns(CACHED, 8), abs=1)
    in_reach = gap_ns / (PERIOD_NS / 404)
    assert hits == pytest.approx(in_reach / 5, abs=5)


@pytest.mark.parametrize(("share", "sectors"), [(0.5, 40), (1.0, 100), (1.0, 256)])
def test_the_bus_waits_for_its_watermark(share: float, sectors: int) -> None:
    """The bus begins to send when a given share of the read, or of a segment, is in the buffer."""
    p = replace(CACHED, bus_watermark=share, bus_sector_ns=30_000.0)
    drive = DetailedDrive(p)
    first_ns = medium_ns(drive, "read", 0, 0, 1, 0) - sector_ns(drive.locate(0))
    mark = int(share * min(sectors, p.segment_sectors))
    sent_ns = first_ns + mark * sector_ns(drive.locate(0)) + sectors * p.bus_sector_ns
    assert drive.request("read", 0, sectors, 0) == pytest.approx(sent_ns, abs=ROUNDING_NS)


def test_a_read_out_of_reach_is_a_miss() -> None:
    p = replace(CACHED, reach_sectors=20)
    near_ns, expected_ns = read_after(p, 0, 20)
    assert near_ns == pytest.approx(expected_ns, abs=ROUNDING_NS)
    far_ns, _ = read_after(p, 0, 60)
    assert far_ns > expected_ns


def cached_up_to(drive: DetailedDrive, start: int, now_ns: int) -> int:
    """Return the first sector from `start` on that misses."""
    p = drive.parameters
    sector = start
    while True:
        completion_ns = drive.request("read", sector, 1, now_ns)
        if completion_ns - now_ns > hit_ns(p, 1) + 1:
            return sector
        sector, now_ns = sector + 1, completion_ns


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, 8 + 256),
        ({"ahead_keeps_request": True}, 256),
        ({"ahead_sectors": 100}, 108),
        ({"ahead_sectors": 0}, 8),
        ({"segment_sectors": 1024, "ahead_sectors": 1000}, 1008),
        ({"segment_sectors": 1024, "ahead_sectors": 1000, "ahead_stops_at_track_end": True}, 400),
    ],
)
def test_where_read_ahead_ends(changes: dict[str, Any], expected: int) -> None:
    """A read elsewhere ends read-ahead first, since the reads below would prolong it."""
    drive = DetailedDrive(replace(CACHED, **changes))
    now_ns = drive.request("read", 0, 8, 0) + 5 * SOON_NS
    now_ns = drive.request("read", 100_000, 8, now_ns)
    start = max(0, expected - CACHED.segment_sectors)
    assert cached_up_to(drive, start, now_ns) == expected


def interrupted_by(p: Parameters, op: str, sector: int) -> float:
    """Read 8 sectors, send `op` at `sector` 1 ms later, and return how many sectors were read
    ahead.
    """
    drive = DetailedDrive(p)
    now_ns = drive.request("read", 100_000, 8, 0) + SOON_NS
    now_ns = drive.request("read", 0, 8, now_ns)
    now_ns = drive.request(op, sector, 8, now_ns + 1_000_000) + SOON_NS
    away_ns = drive.request("read", 200_000, 8, now_ns)
    return cached_up_to(drive, 8, away_ns) - 8


def test_who_stops_read_ahead() -> None:
    """Read-ahead covers some 50 sectors in 1 ms, and begins while the bus is still busy."""
    stopped = pytest.approx(1 * MS / (PERIOD_NS / 404), abs=12)
    p = replace(CACHED, write_sectors=64, write_extents=4, write_idle_ns=1e9)
    strict = replace(p, ahead_stops_at_hits=True)
    assert interrupted_by(p, "read", 300_000) == stopped
    assert interrupted_by(p, "read", 100_100) == 256
    assert interrupted_by(strict, "read", 100_100) == stopped
    assert interrupted_by(p, "write", 300_000) == 256
    assert interrupted_by(strict, "write", 300_000) == stopped
    assert interrupted_by(replace(p, write_sectors=0), "write", 300_000) == stopped


@pytest.mark.parametrize("stops", [False, True])
def test_a_stream_of_hits_carries_read_ahead_on(stops: bool) -> None:
    """The stream runs at the medium's rate over many segments and tracks, and loses no rotation.

    A miss at the first read of a track would lose one.
    """
    p = replace(CACHED, segment_sectors=512, ahead_sectors=512, read_miss_overhead_ns=0.5 * MS)
    p = replace(p, ahead_stops_at_track_end=stops)
    drive = DetailedDrive(p)
    n = 24 * 50
    completions = drive.batch(0, np.arange(n) * 8, 8)
    begin_ns = begins_ns(drive.locate(0), p.read_miss_overhead_ns)
    cylinder_ns = PERIOD_NS * (4 + (3 * 50 + 70) / 404)
    assert completions[-1] - begin_ns == pytest.approx(6 * cylinder_ns, rel=0.01)


@pytest.mark.parametrize("sector", ALL_AROUND)
def test_a_switch_that_has_begun_goes_on(sector: int) -> None:
    """Read-ahead is switching to the next track when a read needs the arm elsewhere."""
    drive = DetailedDrive(CACHED)
    medium_done_ns = medium_ns(drive, "read", 0, 392, 8, 0)
    now_ns = drive.request("read", 392, 8, 0)
    free_ns = medium_done_ns + CACHED.head_switch_ns
    assert free_ns > now_ns + CACHED.read_miss_overhead_ns
    expected_ns = after_ns(drive, free_ns, drive.locate(400), sector)
    assert drive.request("read", sector, 8, now_ns) == pytest.approx(expected_ns, abs=ROUNDING_NS)


def test_what_the_bus_still_carries_is_not_overwritten() -> None:
    """The bus needs 20 ms for 200 of the segment's 256 sectors. Until then only 56 are
    read ahead.
    """
    drive = DetailedDrive(replace(CACHED, bus_sector_ns=100_000))
    now_ns = drive.request("read", 0, 200, 0)
    now_ns = drive.request("read", 100_000, 8, now_ns)
    assert cached_up_to(drive, 100, now_ns) == 256


def test_a_stream_stays_in_its_segment() -> None:
    drive = DetailedDrive(replace(CACHED, ahead_sectors=0))
    now_ns = 0
    for sector in (100_000, 200_000, 300_000, *range(0, 160, 8)):
        now_ns = drive.request("read", sector, 8, now_ns)
    for sector in (100_000, 200_000, 300_000, *range(0, 160, 8)):
        sent_ns = now_ns
        now_ns = drive.request("read", sector, 8, sent_ns)
        assert now_ns - sent_ns == pytest.approx(hit_ns(CACHED, 8), abs=1)


def test_slow_streams_hit_always() -> None:
    drive = DetailedDrive(CACHED)
    completions = drive.batch(0, np.arange(500) * 8, 8, 0, 2_000_000)
    took_ns = np.diff(completions) - 2_000_000
    assert took_ns[1:].max() <= hit_ns(CACHED, 8) + 1


def test_streams_in_turns_have_a_segment_each() -> None:
    """With four segments, four streams hit; a fifth stream evicts them all."""
    shares = {}
    for streams in (4, 5):
        drive = DetailedDrive(replace(CACHED, ahead_keeps_request=True))
        sector = np.concatenate([np.arange(streams) * 100_000 + turn * 8 for turn in range(60)])
        completions = drive.batch(0, sector, 8, 0, 12_000_000)
        took_ns = np.diff(completions) - 12_000_000
        shares[streams] = float((took_ns <= hit_ns(CACHED, 8) + 1).mean())
    assert shares[4] > 0.8
    assert shares[5] == 0


def test_the_least_recently_used_segment_goes() -> None:
    p = replace(CACHED, ahead_sectors=0)
    drive = DetailedDrive(p)
    now_ns = 0

    def is_hit(index: int) -> bool:
        nonlocal now_ns
        sent_ns = now_ns
        now_ns = drive.request("read", index * 10_000, 8, sent_ns)
        return now_ns - sent_ns <= hit_ns(p, 8) + 1

    assert not any(is_hit(index) for index in range(4))
    assert is_hit(0)
    assert not is_hit(4)
    assert [is_hit(index) for index in (0, 2, 3, 4)] == [True] * 4
    assert not is_hit(1)


def test_the_beginning_of_a_request_may_be_cached() -> None:
    """The cached beginning takes no extra time: the request waits only for its other sectors."""
    p = replace(CACHED, ahead_sectors=0)
    drive = DetailedDrive(p)
    now_ns = drive.request("read", 0, 8, 0) + 123_456
    expected_ns = medium_ns(drive, "read", 7, 8, 8, now_ns) + p.bus_sector_ns
    assert drive.request("read", 0, 16, now_ns) == pytest.approx(expected_ns, abs=ROUNDING_NS)
