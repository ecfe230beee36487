# SPDX-License-Identifier: MIT
"""The oracle's write cache: which writes wait, and when and in which order they are destaged."""

import math
from dataclasses import replace

import numpy as np
import pytest
from detailed_drives import (
    ALL_AROUND,
    BARE,
    CACHED,
    PERIOD_NS,
    ROUNDING_NS,
    SOON_NS,
    WRITING,
    after_ns,
    begins_ns,
    hit_ns,
    medium_ns,
    move_ns,
    sector_ns,
    seek_ns,
)

from oracle.detailed.drive import (
    CLOOK,
    MS,
    SHORTEST_POSITIONING,
    DetailedDrive,
    Parameters,
)


def written_ns(p: Parameters, sectors: int) -> float:
    return p.write_overhead_ns + sectors * p.bus_sector_ns


def test_a_write_into_the_cache_costs_overhead_and_length() -> None:
    drive = DetailedDrive(WRITING)
    assert drive.request("write", 50_000, 8, 77) - 77 == pytest.approx(written_ns(WRITING, 8))


def test_a_write_without_a_cache_takes_the_medium() -> None:
    """A write larger than the cache takes the medium, too."""
    for p, sectors in ((BARE, 8), (WRITING, 65)):
        drive = DetailedDrive(p)
        expected_ns = medium_ns(drive, "write", 0, 50_000, sectors, 0)
        completion_ns = drive.request("write", 50_000, sectors, 0)
        assert completion_ns == pytest.approx(expected_ns, abs=ROUNDING_NS)


@pytest.mark.parametrize("idle_ns", [0, 30_000_000])
def test_dirty_data_are_put_away_once_the_drive_has_idled(idle_ns: int) -> None:
    """The completion of a flush shows when the data were destaged."""
    p = replace(WRITING, write_idle_ns=idle_ns)
    for gap_ns in range(0, 60_000_000, 1_700_000):
        drive = DetailedDrive(p)
        completion_ns = drive.request("write", 50_000, 8, 0)
        begin_ns = completion_ns + min(gap_ns, idle_ns)
        put_ns = medium_ns(drive, "write", 0, 50_000, 8, begin_ns - p.write_overhead_ns)
        if gap_ns < idle_ns:
            # The flush begins the destage.
            there_ns = begin_ns + move_ns(p, drive.locate(0), drive.locate(50_000), "write")
            put_ns = begins_ns(drive.locate(50_000), there_ns) + 8 * sector_ns(drive.locate(50_000))
        sent_ns = completion_ns + gap_ns
        expected_ns = max(put_ns, sent_ns + p.write_overhead_ns)
        assert drive.flush(sent_ns) == pytest.approx(expected_ns, abs=ROUNDING_NS)


def test_a_read_waits_for_the_write_under_way_but_not_for_all() -> None:
    drive = DetailedDrive(replace(WRITING, write_order=CLOOK))
    now_ns = 0
    for sector in (50_000, 100_000, 150_000):
        now_ns = drive.request("write", sector, 8, now_ns)
    begun_ns = drive.request("write", 200_000, 8, now_ns)
    alone = DetailedDrive(BARE).request("read", 300_000, 8, 0)
    one_ns = drive.request("read", 300_000, 8, begun_ns + 1_000_000) - begun_ns - 1_000_000
    slowest_ns = seek_ns(BARE, 1000) + BARE.write_settle_ns + PERIOD_NS
    assert one_ns < slowest_ns + alone
    assert drive.flush(drive.request("read", 0, 1, begun_ns + SOON_NS)) > begun_ns + SOON_NS


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("sector", ALL_AROUND)
def test_a_read_waits_for_a_track_or_for_all_of_a_write(whole: bool, sector: int) -> None:
    """The write covers 64 sectors, 40 of them before a track's end."""
    drive = DetailedDrive(replace(WRITING, write_whole_extent=whole))
    sent_ns = drive.request("write", 360, 64, 0)
    free_ns = medium_ns(drive, "write", 0, 360, 40, sent_ns - WRITING.write_overhead_ns)
    if whole:
        there_ns = free_ns + move_ns(WRITING, drive.locate(399), drive.locate(400), "write")
        free_ns = begins_ns(drive.locate(400), there_ns) + 24 * sector_ns(drive.locate(400))
    last = drive.locate(400 if whole else 399)
    expected_ns = after_ns(drive, free_ns, last, sector)
    sent_ns += 1_000_000
    assert drive.request("read", sector, 8, sent_ns) == pytest.approx(expected_ns, abs=ROUNDING_NS)


@pytest.mark.parametrize(("low", "left"), [(0, 0), (32, 4), (64, 8)])
def test_once_room_was_short_it_is_made_down_to_the_mark(low: int, left: int) -> None:
    """Nine writes exceed the room for eight. No pause is long enough to start a destage
    by itself.
    """
    p = replace(WRITING, write_extents=16, write_idle_ns=1e12, write_low_sectors=low)
    drive = DetailedDrive(p)
    sectors = range(50_000, 500_000, 50_000)
    now_ns = 0
    for sector in sectors:
        now_ns = drive.request("write", sector, 8, now_ns)
    now_ns += 1_000_000_000
    held = 0
    for sector in sectors:
        sent_ns = now_ns
        now_ns = drive.request("read", sector, 8, sent_ns)
        held += now_ns - sent_ns <= hit_ns(p, 8) + 1
    assert held == left


def test_a_read_of_dirty_data_hits() -> None:
    p = replace(WRITING, write_idle_ns=1e9)
    drive = DetailedDrive(p)
    now_ns = drive.request("write", 50_000, 8, 0)
    sent_ns = now_ns + 1000
    now_ns = drive.request("read", 50_002, 4, sent_ns)
    assert now_ns - sent_ns == pytest.approx(hit_ns(p, 4), abs=1)
    # Partly dirty data are destaged first, and read at least a rotation later.
    sent_ns = now_ns
    now_ns = drive.request("read", 50_000, 16, sent_ns)
    assert now_ns - sent_ns > PERIOD_NS
    assert drive.flush(now_ns) - now_ns == pytest.approx(p.write_overhead_ns, abs=1)


@pytest.mark.parametrize(
    ("extents", "gap", "fast"), [(4, 8, 8), (4, 1000, 4), (1, 8, 8), (1, 1000, 1)]
)
def test_how_many_writes_it_takes_at_once(extents: int, gap: int, fast: int) -> None:
    """The cache has room for 64 sectors, in at most `extents` contiguous runs."""
    p = replace(WRITING, write_extents=extents, write_idle_ns=1e9)
    drive = DetailedDrive(p)
    completions = drive.batch(1, 50_000 + np.arange(12) * gap, 8)
    took_ns = np.diff(completions, prepend=0)
    assert np.abs(took_ns[:fast] - written_ns(p, 8)).max() <= 1
    assert took_ns[fast] > written_ns(p, 8) + 100_000


def test_sequential_writes_run_at_the_mediums_rate() -> None:
    """Cached sequential writes form a stream. Without a cache each write costs a rotation."""
    n = 1000
    p = replace(WRITING, write_sectors=512, write_extents=1)
    drive = DetailedDrive(p)
    completions = drive.batch(1, np.arange(n) * 32, 32)
    cylinder_ns = PERIOD_NS * (4 + (3 * 50 + 70) / 404)
    expected_ns = n * 32 / 1600 * cylinder_ns
    assert drive.flush(int(completions[-1])) == pytest.approx(expected_ns, rel=0.02)
    through_ns = DetailedDrive(BARE).batch(1, np.arange(1000) * 8, 8)
    assert np.diff(through_ns).mean() == pytest.approx(PERIOD_NS * (1 + 8 / 404), rel=0.02)


def test_an_overwritten_sector_is_put_away_once() -> None:
    p = replace(WRITING, write_idle_ns=1e9)
    drive = DetailedDrive(p)
    completions = drive.batch(1, np.full(100, 50_000), 64)
    assert np.abs(np.diff(completions) - written_ns(p, 64)).max() <= 1


def test_a_write_makes_what_was_read_before_stale() -> None:
    p = replace(CACHED, ahead_sectors=0)
    for sector, stale in ((1000, True), (1007, True), (1008, False), (999, False)):
        drive = DetailedDrive(p)
        now_ns = drive.request("read", 1000, 8, 0)
        now_ns = drive.request("write", sector, 1, now_ns)
        took_ns = drive.request("read", 1000, 8, now_ns) - now_ns
        assert (took_ns > hit_ns(p, 8) + 1) == stale


def first_gone_ns(p: Parameters, written: list[int], sector: int) -> float:
    """Return the length in ns of a pause after which `sector` has been destaged, so that a read
    misses.
    """
    for gap_ns in range(51_000_000, 130_000_000, 500_000):
        drive = DetailedDrive(p)
        now_ns = drive.request("read", 100_000, 1, 0)
        for each in written:
            now_ns = drive.request("write", each, 8, now_ns)
        sent_ns = now_ns + gap_ns
        if drive.request("read", sector, 8, sent_ns) - sent_ns > hit_ns(p, 8) + 1:
            return gap_ns
    return math.inf


@pytest.mark.parametrize("order", [SHORTEST_POSITIONING, CLOOK])
def test_order_of_putting_away(order: int) -> None:
    """CLOOK goes up from sector 100,000 and wraps; the other order takes the nearest
    write in time.
    """
    written = [300_000, 50_000, 600_000, 150_000]
    p = replace(WRITING, write_order=order, write_idle_ns=50 * MS)
    gone = {sector: first_gone_ns(p, written, sector) for sector in written}
    by_time = sorted(gone, key=lambda sector: gone[sector])
    assert max(gone.values()) < math.inf
    if order == CLOOK:
        assert by_time == [150_000, 300_000, 600_000, 50_000]
        return
    drive = DetailedDrive(p)
    now_ns: float = drive.request("read", 100_000, 1, 0)
    now_ns += 4 * written_ns(p, 8) + p.write_idle_ns
    at, left, expected = drive.locate(100_000), set(written), []
    while left:
        begins = {
            sector: begins_ns(place, now_ns + move_ns(p, at, place, "write"))
            for sector in left
            for place in [drive.locate(sector)]
        }
        soonest = min(left, key=lambda sector: begins[sector])
        at, now_ns = drive.locate(soonest), begins[soonest] + 8 * sector_ns(drive.locate(soonest))
        expected.append(soonest)
        left.remove(soonest)
    assert by_time == expected
