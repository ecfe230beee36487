# SPDX-License-Identifier: MIT
"""The oracle (bench/detailed/detailed.h) does what a drive of its parameters must do.

What is expected is worked out here from the parameters, by arithmetic of its own.
"""

import math
import subprocess
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.detailed.drive import (
    CLOOK,
    CYLINDER_SERPENTINE,
    CYLINDERS,
    FOLDER,
    MS,
    SHORTEST_POSITIONING,
    SURFACE_SERPENTINE,
    DetailedDrive,
    Parameters,
    Place,
    Request,
    Zone,
    random_drive,
    random_parameters,
)

PERIOD_NS = 8_000_000
ZONES = (
    Zone(300, 400, 4, 5, 50, 70),
    Zone(500, 320, 0, 3, 40, 56),
    Zone(200, 250, 2, 0, 32, 44),
)
BARE = Parameters(ZONES, PERIOD_NS, heads=4)
CACHED = replace(BARE, segments=4, segment_sectors=256, ahead_sectors=256, reach_sectors=256)
WRITING = replace(BARE, write_sectors=64, write_extents=4)
LAYOUTS = (CYLINDERS, CYLINDER_SERPENTINE, SURFACE_SERPENTINE)
ROUNDING_NS = 20
ALL_AROUND = range(100_000, 100_400, 29)
"""Sectors of one track at many angles: some are missed by whoever comes a little later."""
SOON_NS = 40_000_000
"""More than any request takes here."""


def zone_of(cylinder: int) -> Zone:
    for zone in ZONES:
        if cylinder < zone.cylinders:
            return zone
        cylinder -= zone.cylinders
    raise AssertionError("no such cylinder")


def sector_ns(place: Place) -> float:
    """Time for a sector to pass the head."""
    zone = zone_of(place.cylinder)
    return PERIOD_NS / (zone.sectors + zone.spare_sectors)


def seek_ns(p: Parameters, cylinders: int) -> float:
    if cylinders <= p.seek_threshold:
        return p.seek_a_ns + p.seek_b_ns * math.sqrt(cylinders)
    return seek_ns(p, p.seek_threshold) + p.seek_slope_ns * (cylinders - p.seek_threshold)


def move_ns(p: Parameters, one: Place, other: Place, op: str) -> float:
    settle_ns = p.read_settle_ns if op == "read" else p.write_settle_ns
    if one.cylinder != other.cylinder:
        return seek_ns(p, abs(one.cylinder - other.cylinder)) + settle_ns
    if one.head != other.head:
        return p.head_switch_ns + settle_ns - p.read_settle_ns
    return 0


def begins_ns(place: Place, now_ns: float) -> float:
    """When its sector is next under the head, which is on its track."""
    return now_ns + (place.angle - now_ns / PERIOD_NS) % 1 * PERIOD_NS


def medium_ns(
    drive: DetailedDrive, op: str, before: int, sector: int, sectors: int, sent_ns: float
) -> float:
    """When the head has passed the last sector; all are on one track."""
    p = drive.parameters
    place = drive.locate(sector)
    overhead_ns = p.read_miss_overhead_ns if op == "read" else p.write_overhead_ns
    there_ns = sent_ns + overhead_ns + move_ns(p, drive.locate(before), place, op)
    if op == "write":
        there_ns = max(there_ns, sent_ns + overhead_ns + p.bus_sector_ns)
    return begins_ns(place, there_ns) + sectors * sector_ns(place)


def one_track(drive: DetailedDrive, sector: int) -> range:
    """The sectors of its track from this one on."""
    place = drive.locate(sector)
    return range(sector, sector + zone_of(place.cylinder).sectors - place.slot)


def hit_ns(p: Parameters, sectors: int) -> float:
    return p.read_hit_overhead_ns + sectors * p.bus_sector_ns


def first_of_cylinder(p: Parameters, cylinder: int) -> int:
    """Of a drive with cylinder after cylinder, in its first zone."""
    return cylinder * p.heads * p.zone[0].sectors


# ---- layout -------------------------------------------------------------------------

zones = st.builds(
    Zone,
    cylinders=st.integers(1, 12),
    sectors=st.integers(1, 9),
    spare_sectors=st.integers(0, 2),
    spare_tracks=st.just(0),
    track_skew=st.integers(0, 20),
    cylinder_skew=st.integers(0, 20),
)


@given(
    st.lists(zones, min_size=1, max_size=4),
    st.integers(1, 5),
    st.sampled_from(LAYOUTS),
    st.integers(0, 8),
    st.data(),
)
def test_every_sector_has_a_place_of_its_own(
    zone: list[Zone], heads: int, layout: int, band: int, data: st.DataObject
) -> None:
    spared = [
        replace(each, spare_tracks=data.draw(st.integers(0, each.cylinders * heads - 1)))
        for each in zone
    ]
    drive = DetailedDrive(
        Parameters(tuple(spared), PERIOD_NS, heads, layout=layout, band_cylinders=band)
    )
    places = [drive.locate(sector) for sector in range(drive.capacity_sectors)]
    assert drive.capacity_sectors == sum(
        (each.cylinders * heads - each.spare_tracks) * each.sectors for each in spared
    )
    assert len({(p.cylinder, p.head, p.slot) for p in places}) == len(places)
    assert all(p.head < heads and 0 <= p.angle < 1 for p in places)
    cylinders = [each for each in spared for _ in range(each.cylinders)]
    assert all(p.slot < cylinders[p.cylinder].sectors for p in places)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_neighbours_are_one_sector_or_one_skew_apart(layout: int) -> None:
    drive = DetailedDrive(replace(BARE, layout=layout, band_cylinders=50))
    last_of_zone = np.cumsum([(z.cylinders * 4 - z.spare_tracks) * z.sectors for z in ZONES]) - 1
    for sector in range(0, drive.capacity_sectors - 1, 53):
        if sector in last_of_zone:
            continue
        one, other = drive.locate(sector), drive.locate(sector + 1)
        zone = zone_of(one.cylinder)
        slots = zone.sectors + zone.spare_sectors
        step = round((other.angle - one.angle) % 1 * slots)
        if other.slot:
            assert step == 1
        elif one.cylinder == other.cylinder:
            assert step == (1 + zone.spare_sectors + zone.track_skew) % slots
        else:
            assert step == (1 + zone.spare_sectors + zone.cylinder_skew) % slots


def tracks(p: Parameters, n: int) -> list[tuple[int, int]]:
    """Cylinder and head of the first tracks."""
    drive = DetailedDrive(p)
    places = (drive.locate(track * p.zone[0].sectors) for track in range(n))
    return [(place.cylinder, place.head) for place in places]


def test_order_of_tracks() -> None:
    p = Parameters((Zone(5, 3),), PERIOD_NS, heads=3)
    across = [(0, 0), (0, 1), (0, 2)]
    assert tracks(p, 5) == [*across, (1, 0), (1, 1)]
    assert tracks(replace(p, layout=CYLINDER_SERPENTINE), 7) == [
        *across,
        *((1, 2), (1, 1), (1, 0)),
        (2, 0),
    ]
    bands = replace(p, layout=SURFACE_SERPENTINE, band_cylinders=2)
    assert tracks(bands, 15) == [
        *((0, 0), (1, 0), (1, 1), (0, 1), (0, 2), (1, 2)),
        *((2, 0), (3, 0), (3, 1), (2, 1), (2, 2), (3, 2)),
        *((4, 0), (4, 1), (4, 2)),
    ]


# ---- arm and platters ---------------------------------------------------------------


def test_one_sector_again_and_again_takes_whole_turns() -> None:
    drive = DetailedDrive(BARE)
    completions = drive.batch(0, np.full(10_000, 4321), 1)
    assert np.abs(np.diff(completions) - PERIOD_NS).max() <= 1
    assert completions[-1] - completions[0] == pytest.approx(9999 * PERIOD_NS, abs=2)


def test_half_a_turn_on_average() -> None:
    drive = DetailedDrive(BARE)
    rng = np.random.default_rng(1)
    n = 20_000
    at_ns = np.arange(1, n + 1) * SOON_NS + rng.integers(0, PERIOD_NS, n)
    took_ns = (drive.batch(0, rng.integers(0, 400, n), 1, at_ns) - at_ns)[1:]
    fixed_ns = BARE.read_miss_overhead_ns + PERIOD_NS / 404 + BARE.bus_sector_ns
    assert took_ns.min() >= fixed_ns - 1
    assert took_ns.mean() - fixed_ns == pytest.approx(PERIOD_NS / 2, rel=0.02)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("op", ["read", "write"])
def test_overhead_seek_rotation_and_transfer_add_up(layout: int, op: str) -> None:
    """To the rounding, for any pair of places at any time."""
    drive = DetailedDrive(replace(BARE, layout=layout, band_cylinders=60))
    rng = np.random.default_rng(2)
    now_ns, before = 0, 0
    for sector in rng.integers(0, drive.capacity_sectors, 3000).tolist():
        sectors = min(8, len(one_track(drive, sector)))
        sent_ns = now_ns + int(rng.integers(0, PERIOD_NS))
        expected_ns = medium_ns(drive, op, before, sector, sectors, sent_ns)
        if op == "read":
            expected_ns += BARE.bus_sector_ns
        now_ns = drive.request(op, sector, sectors, sent_ns)
        assert now_ns == pytest.approx(expected_ns, abs=ROUNDING_NS)
        before = sector + sectors - 1


@pytest.mark.parametrize("distance", [1, 2, 5, 30, 100, 400, 401, 700, 999])
def test_seek_curve_from_the_fastest_of_many(distance: int) -> None:
    """As it is extracted from drives (WGPW95): the shortest over all angles."""
    drive = DetailedDrive(replace(BARE, heads=1, zone=(Zone(1000, 400),)))
    rng = np.random.default_rng(distance)
    shortest_ns = math.inf
    for _ in range(400):
        drive.reset()
        sent_ns = drive.request("read", 0, 1, 0) + int(rng.integers(0, PERIOD_NS))
        sector = distance * 400 + int(rng.integers(0, 400))
        shortest_ns = min(shortest_ns, drive.request("read", sector, 1, sent_ns) - sent_ns)
    fixed_ns = BARE.read_miss_overhead_ns + PERIOD_NS / 400 + BARE.bus_sector_ns
    expected_ns = seek_ns(BARE, distance) + BARE.read_settle_ns
    assert 0 <= shortest_ns - fixed_ns - expected_ns < PERIOD_NS / 50


def test_sequential_reading_costs_turns_and_skews_only() -> None:
    """Three cylinders as one request; the bus is faster and adds its last sector."""
    drive = DetailedDrive(BARE)
    zone = ZONES[0]
    track_ns = PERIOD_NS * (1 + zone.track_skew / 404)
    cylinder_ns = PERIOD_NS * (1 + zone.cylinder_skew / 404)
    expected_ns = (9 * track_ns + 2 * cylinder_ns) + PERIOD_NS * 400 / 404
    begin_ns = begins_ns(drive.locate(0), BARE.read_miss_overhead_ns)
    completion_ns = drive.request("read", 0, 12 * 400, 0)
    assert completion_ns == pytest.approx(
        begin_ns + expected_ns + BARE.bus_sector_ns, abs=ROUNDING_NS
    )


def test_a_skew_that_is_too_small_loses_a_turn() -> None:
    tight = Zone(300, 400, 0, 0, 36, 60)
    assert 36 * PERIOD_NS / 400 > BARE.head_switch_ns > 34 * PERIOD_NS / 400
    times = []
    for skew in (36, 34):
        p = replace(BARE, zone=(replace(tight, track_skew=skew),))
        times.append(DetailedDrive(p).request("read", 0, 800, 0))
    lost_ns = PERIOD_NS - 2 * PERIOD_NS / 400
    assert times[1] - times[0] == pytest.approx(lost_ns, abs=ROUNDING_NS)


def test_writes_settle_longer() -> None:
    """A skew that is enough to read over the switch may not be enough to write over it."""
    p = replace(BARE, zone=(Zone(300, 400, 0, 0, 40, 60),), segment_sectors=4000)
    read_ns = DetailedDrive(p).request("read", 0, 800, 0)
    write_ns = DetailedDrive(p).request("write", 0, 800, 0)
    assert BARE.head_switch_ns < 40 * PERIOD_NS / 400 < BARE.head_switch_ns + 0.3 * MS
    assert write_ns - read_ns == pytest.approx(PERIOD_NS - BARE.bus_sector_ns, abs=ROUNDING_NS)


# ---- bus ----------------------------------------------------------------------------


def test_a_slow_bus_limits_what_streams() -> None:
    """The first sectors go while the rest pass, so the bus is all that is seen."""
    p = replace(BARE, bus_sector_ns=100_000, segment_sectors=4096)
    drive = DetailedDrive(p)
    place = drive.locate(0)
    first_ns = begins_ns(place, p.read_miss_overhead_ns) + sector_ns(place)
    assert drive.request("read", 0, 400, 0) == pytest.approx(
        first_ns + 400 * p.bus_sector_ns, abs=ROUNDING_NS
    )


def test_a_slow_bus_and_a_small_buffer_lose_turns_but_no_bus_time() -> None:
    """The head waits while the bus empties the buffer; half of it lasts for a turn here."""
    p = replace(BARE, bus_sector_ns=100_000, segment_sectors=200)
    drive = DetailedDrive(p)
    place = drive.locate(0)
    first_ns = begins_ns(place, p.read_miss_overhead_ns) + sector_ns(place)
    completion_ns = drive.request("read", 0, 400, 0)
    assert completion_ns == pytest.approx(first_ns + 400 * p.bus_sector_ns, abs=ROUNDING_NS)
    starved = DetailedDrive(replace(p, segment_sectors=40)).request("read", 0, 400, 0)
    assert starved > completion_ns + PERIOD_NS


def test_a_written_sector_is_not_begun_before_the_bus_has_brought_it() -> None:
    p = replace(BARE, bus_sector_ns=100_000, segment_sectors=4096)
    drive = DetailedDrive(p)
    place = drive.locate(0)
    in_time_ns = p.write_overhead_ns + 400 * p.bus_sector_ns - 399 * sector_ns(place)
    assert drive.request("write", 0, 400, 0) == pytest.approx(
        begins_ns(place, in_time_ns) + 400 * sector_ns(place), abs=ROUNDING_NS
    )


# ---- read cache and read-ahead ------------------------------------------------------


@pytest.mark.parametrize("sectors", [1, 8, 100])
def test_a_hit_costs_overhead_and_length(sectors: int) -> None:
    drive = DetailedDrive(CACHED)
    now_ns = drive.request("read", 1000, 100, 0)
    for _ in range(3):
        sent_ns = now_ns + 12_345
        now_ns = drive.request("read", 1000, sectors, sent_ns)
        assert now_ns - sent_ns == pytest.approx(hit_ns(CACHED, sectors), abs=1)


def read_after(p: Parameters, gap_ns: int, ahead: int) -> tuple[float, float]:
    """A miss of 8 sectors at 0; `gap_ns` after it 8 sectors `ahead`: took, and due then."""
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


def test_a_read_out_of_reach_is_a_miss() -> None:
    p = replace(CACHED, reach_sectors=20)
    near_ns, expected_ns = read_after(p, 0, 20)
    assert near_ns == pytest.approx(expected_ns, abs=ROUNDING_NS)
    far_ns, _ = read_after(p, 0, 60)
    assert far_ns > expected_ns


def cached_up_to(drive: DetailedDrive, start: int, now_ns: int) -> int:
    """The first sector that is no hit; found without any effect on what comes before it."""
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
    """Seen once something else has been read, so that looking does not carry it on."""
    drive = DetailedDrive(replace(CACHED, **changes))
    now_ns = drive.request("read", 0, 8, 0) + 5 * SOON_NS
    now_ns = drive.request("read", 100_000, 8, now_ns)
    start = max(0, expected - CACHED.segment_sectors)
    assert cached_up_to(drive, start, now_ns) == expected


def interrupted_by(p: Parameters, op: str, sector: int) -> float:
    """Sectors that are read ahead by the time of another request, and one more look later."""
    drive = DetailedDrive(p)
    now_ns = drive.request("read", 100_000, 8, 0) + SOON_NS
    now_ns = drive.request("read", 0, 8, now_ns)
    now_ns = drive.request(op, sector, 8, now_ns + 1_000_000) + SOON_NS
    away_ns = drive.request("read", 200_000, 8, now_ns)
    return cached_up_to(drive, 8, away_ns) - 8


def test_who_stops_read_ahead() -> None:
    """1 ms is some 50 sectors; the medium begins with it while the bus is still busy."""
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
    """At the pace of the medium, with no turn lost, over many segments and tracks.

    The first request of a track would come too late if it had to be a miss.
    """
    p = replace(CACHED, segment_sectors=512, ahead_sectors=512, read_miss_overhead_ns=0.5 * MS)
    p = replace(p, ahead_stops_at_track_end=stops)
    drive = DetailedDrive(p)
    n = 24 * 50
    completions = drive.batch(0, np.arange(n) * 8, 8)
    begin_ns = begins_ns(drive.locate(0), p.read_miss_overhead_ns)
    cylinder_ns = PERIOD_NS * (4 + (3 * 50 + 70) / 404)
    assert completions[-1] - begin_ns == pytest.approx(6 * cylinder_ns, rel=0.01)


def after_ns(drive: DetailedDrive, free_ns: float, one: Place, sector: int) -> float:
    """When 8 sectors have been read by an arm that is free and on a place's track."""
    place = drive.locate(sector)
    there_ns = free_ns + move_ns(drive.parameters, one, place, "read")
    return begins_ns(place, there_ns) + 8 * sector_ns(place) + drive.parameters.bus_sector_ns


@pytest.mark.parametrize("sector", ALL_AROUND)
def test_a_switch_that_has_begun_goes_on(sector: int) -> None:
    """Read-ahead is on its way to the next track when the arm is wanted elsewhere."""
    drive = DetailedDrive(CACHED)
    medium_done_ns = medium_ns(drive, "read", 0, 392, 8, 0)
    now_ns = drive.request("read", 392, 8, 0)
    free_ns = medium_done_ns + CACHED.head_switch_ns
    assert free_ns > now_ns + CACHED.read_miss_overhead_ns
    expected_ns = after_ns(drive, free_ns, drive.locate(400), sector)
    assert drive.request("read", sector, 8, now_ns) == pytest.approx(expected_ns, abs=ROUNDING_NS)


def test_what_the_bus_still_carries_is_not_overwritten() -> None:
    """200 of 256 sectors take it 20 ms: 56 are read ahead until then, however idle the arm."""
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
    """Four segments: four streams live, the fifth drives them all out."""
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
    """Only the rest is awaited; it comes as if it alone had been asked for."""
    p = replace(CACHED, ahead_sectors=0)
    drive = DetailedDrive(p)
    now_ns = drive.request("read", 0, 8, 0) + 123_456
    expected_ns = medium_ns(drive, "read", 7, 8, 8, now_ns) + p.bus_sector_ns
    assert drive.request("read", 0, 16, now_ns) == pytest.approx(expected_ns, abs=ROUNDING_NS)


# ---- write cache --------------------------------------------------------------------


def written_ns(p: Parameters, sectors: int) -> float:
    return p.write_overhead_ns + sectors * p.bus_sector_ns


def test_a_write_into_the_cache_costs_overhead_and_length() -> None:
    drive = DetailedDrive(WRITING)
    assert drive.request("write", 50_000, 8, 77) - 77 == pytest.approx(written_ns(WRITING, 8))


def test_a_write_without_a_cache_takes_the_medium() -> None:
    """And so does one that is larger than the cache, or must be on the medium (FUA)."""
    for p, sectors, fua in ((BARE, 8, False), (WRITING, 65, False), (WRITING, 8, True)):
        drive = DetailedDrive(p)
        expected_ns = medium_ns(drive, "write", 0, 50_000, sectors, 0)
        completion_ns = drive.request("write", 50_000, sectors, 0, fua=fua)
        assert completion_ns == pytest.approx(expected_ns, abs=ROUNDING_NS)


@pytest.mark.parametrize("idle_ns", [0, 30_000_000])
def test_dirty_data_are_put_away_once_the_drive_has_idled(idle_ns: int) -> None:
    """The flush tells when they were: nothing is left to do, or the rest of it."""
    p = replace(WRITING, write_idle_ns=idle_ns)
    for gap_ns in range(0, 60_000_000, 1_700_000):
        drive = DetailedDrive(p)
        completion_ns = drive.request("write", 50_000, 8, 0)
        begin_ns = completion_ns + min(gap_ns, idle_ns)
        put_ns = medium_ns(drive, "write", 0, 50_000, 8, begin_ns - p.write_overhead_ns)
        if gap_ns < idle_ns:
            # The flush begins it.
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
    """64 sectors over a track's end, 40 of them before it."""
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
    """Nine writes into room for eight, and no idleness would be long enough."""
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
    # Dirty in part only: it is put away first, then read a turn later at least.
    sent_ns = now_ns
    now_ns = drive.request("read", 50_000, 16, sent_ns)
    assert now_ns - sent_ns > PERIOD_NS
    assert drive.flush(now_ns) - now_ns == pytest.approx(p.write_overhead_ns, abs=1)


@pytest.mark.parametrize(
    ("extents", "gap", "fast"), [(4, 8, 8), (4, 1000, 4), (1, 8, 8), (1, 1000, 1)]
)
def test_how_many_writes_it_takes_at_once(extents: int, gap: int, fast: int) -> None:
    """64 sectors of room: by sectors, if they continue each other, or by places."""
    p = replace(WRITING, write_extents=extents, write_idle_ns=1e9)
    drive = DetailedDrive(p)
    completions = drive.batch(1, 50_000 + np.arange(12) * gap, 8)
    took_ns = np.diff(completions, prepend=0)
    assert np.abs(took_ns[:fast] - written_ns(p, 8)).max() <= 1
    assert took_ns[fast] > written_ns(p, 8) + 100_000


def test_sequential_writes_run_at_the_mediums_rate() -> None:
    """Joined, they make a stream; written through, each one costs a turn."""
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
    """After which gap one of four dirty places has been put away: no read of it hits then."""
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
    """From sector 100,000: upwards and then the rest; or whose sector comes first."""
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


# ---- command queueing ---------------------------------------------------------------


def served_alone_ns(drive: DetailedDrive, request: Request) -> int:
    drive.reset()
    now_ns = drive.request("read", 200_000, 8, 0)
    return drive.request(request.op, request.sector, request.sectors, now_ns)


def test_the_soonest_is_chosen() -> None:
    """Each is tried alone; all are as long, so who begins first is done first."""
    drive = DetailedDrive(BARE)
    rng = np.random.default_rng(5)
    for _ in range(200):
        queue = [
            Request("read", int(sector), 1, 0) for sector in rng.integers(0, 300 * 4 * 400 // 2, 12)
        ]
        alone = [served_alone_ns(drive, request) for request in queue]
        drive.reset()
        now_ns = drive.request("read", 200_000, 8, 0)
        assert drive.choose(queue, now_ns) == alone.index(min(alone))


def test_hits_go_first_and_the_aged_before_them() -> None:
    drive = DetailedDrive(replace(CACHED, queue_age_ns=100 * MS))
    now_ns = drive.request("read", 200_000, 8, 0)
    queue = [Request("read", 200_020, 8, now_ns), Request("read", 200_000, 8, now_ns)]
    assert drive.choose(queue, now_ns) == 1
    late_ns = now_ns + 101_000_000
    queue[0] = replace(queue[0], sector=400_000)
    queue[1] = replace(queue[1], arrival_ns=late_ns)
    assert drive.choose(queue, late_ns) == 0
    assert drive.choose(queue, late_ns - 2_000_000) == 1


def test_only_the_queues_head_is_looked_at() -> None:
    drive = DetailedDrive(replace(CACHED, queue_depth=2))
    now_ns = drive.request("read", 200_000, 8, 0)
    queue = [Request("read", sector, 8, 0) for sector in (300_000, 10, 200_000)]
    assert drive.choose(queue, now_ns) < 2


# ---- what holds for all -------------------------------------------------------------


def random_trace(drive: DetailedDrive, seed: int, n: int) -> list[npt.NDArray[np.int64]]:
    """Streams, jumps, re-reads and writes, with pauses; write, sector, sectors, think_ns."""
    rng = np.random.default_rng(seed)
    start = rng.integers(0, drive.capacity_sectors - 20_000, n)
    step = rng.integers(0, 64, n)
    sector = start[np.arange(n) // 8 * 8] + np.cumsum(step) % 10_000
    think_ns = rng.choice([0, 0, 300_000, 20_000_000], n) * rng.integers(0, 2, n)
    return [rng.integers(0, 4, n) == 0, sector, 1 + rng.integers(0, 32, n), think_ns]


@pytest.mark.parametrize("seed", range(12))
def test_the_same_requests_take_the_same_time(seed: int) -> None:
    """Again, one by one, and on another drive of the same seed."""
    drive = random_drive(seed)
    write, sector, sectors, think_ns = random_trace(drive, seed, 3000)
    first = drive.batch(write, sector, sectors, 0, think_ns)
    drive.reset()
    assert (drive.batch(write, sector, sectors, 0, think_ns) == first).all()
    other = random_drive(seed)
    now_ns = 0
    for index in range(len(first)):
        op = "write" if write[index] else "read"
        now_ns = other.request(
            op, int(sector[index]), int(sectors[index]), now_ns + int(think_ns[index])
        )
        assert now_ns == first[index]


@pytest.mark.parametrize("seed", range(12))
def test_looking_does_not_change_anything(seed: int) -> None:
    """What goes on while the drive idles does not depend on when it is looked at."""
    drive = random_drive(seed)
    write, sector, sectors, think_ns = random_trace(drive, seed, 1000)
    expected = drive.batch(write, sector, sectors, 0, think_ns)
    drive.reset()
    now_ns = 0
    for index in range(len(expected)):
        for part in (0.3, 0.7, 1):
            looked_ns = now_ns + int(part * think_ns[index])
            drive.choose([Request("read", 0, 1, looked_ns)], looked_ns)
        op = "write" if write[index] else "read"
        now_ns = drive.request(
            op, int(sector[index]), int(sectors[index]), now_ns + int(think_ns[index])
        )
        assert now_ns == pytest.approx(expected[index], abs=ROUNDING_NS)


@pytest.mark.parametrize("seed", range(12))
def test_no_request_is_faster_than_overhead_and_bus(seed: int) -> None:
    drive = random_drive(seed)
    p = drive.parameters
    write, sector, sectors, think_ns = random_trace(drive, seed, 20_000)
    completions = drive.batch(write, sector, sectors, 0, think_ns)
    took_ns = np.diff(completions, prepend=0) - think_ns
    overhead_ns = np.where(write, p.write_overhead_ns, p.read_hit_overhead_ns)
    assert (took_ns >= overhead_ns + sectors * p.bus_sector_ns - 1).all()


def test_random_drives_are_plausible_and_differ() -> None:
    drives = [random_parameters(seed) for seed in range(300)]
    assert len(set(drives)) == 300
    for p in drives:
        media_mb_s = p.zone[0].sectors * 512 / p.period_ns * 1e3
        cylinders = sum(zone.cylinders for zone in p.zone)
        capacity_gb = DetailedDrive(p).capacity_sectors * 512 / 1e9
        assert 4 <= capacity_gb <= 2000
        assert 5 <= media_mb_s <= 350
        assert 3 * MS < seek_ns(p, cylinders // 3) + p.read_settle_ns < 13.5 * MS
        assert 0.1 * MS < seek_ns(p, 1) + p.read_settle_ns < 3 * MS
        assert p.seek_b_ns > 0
        assert p.segments * p.segment_sectors + p.write_sectors <= 2 * 64 * 1024
        assert p.segments == 1 or p.segment_sectors >= p.zone[0].sectors / 4
    for share in (
        np.mean([p.write_sectors > 0 for p in drives]),
        np.mean([p.ahead_stops_at_track_end for p in drives]),
        np.mean([p.ahead_stops_at_hits for p in drives]),
    ):
        assert 0.2 < share < 0.8


@pytest.mark.parametrize("seed", range(40))
def test_random_drives_stream_at_their_mediums_rate(seed: int) -> None:
    """Less the skews and what a small segment costs: no drive loses a turn for each request."""
    drive = random_drive(seed)
    p = drive.parameters
    media = p.zone[0].sectors / p.period_ns
    n = 2000
    completions = drive.batch(0, np.arange(n) * 64, 64)
    rate = n * 64 / completions[-1]
    assert 0.4 * media < rate < 1.01 * min(media, 1 / p.bus_sector_ns)


@pytest.mark.parametrize(
    ("op", "sector", "sectors", "at_ns"),
    [("read", 0, 0, 0), ("read", 10**9, 1, 0), ("write", 0, 10**7, 0), ("read", 0, 1, 5)],
)
def test_what_is_not_possible_is_refused(op: str, sector: int, sectors: int, at_ns: int) -> None:
    drive = DetailedDrive(BARE)
    drive.request("read", 0, 1, 10)
    with pytest.raises(ValueError, match="not possible"):
        drive.request(op, sector, sectors, at_ns if at_ns else SOON_NS)


@pytest.mark.parametrize(
    "wrong",
    [
        {"zone": ()},
        {"heads": 0},
        {"period_ns": 0},
        {"zone": (Zone(0, 1),)},
        {"zone": (Zone(1, 10, 0, 4),)},
        {"write_settle_ns": 0},
        {"bus_sector_ns": -1},
        {"write_sectors": 8},
        {"segment_sectors": 1},
        {"layout": 3},
    ],
)
def test_parameters_of_no_drive_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="no drive"):
        DetailedDrive(replace(BARE, **wrong))


def test_fuzz_with_sanitizers(tmp_path_factory: pytest.TempPathFactory) -> None:
    """300,000 requests to 1,000 odd drives (drives/fuzz.c)."""
    program = tmp_path_factory.mktemp("fuzz") / "fuzz"
    names = ("fuzz", "background", "segments", "dirty", "mechanism", "layout")
    checks = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")
    sources = [FOLDER / f"{name}.c" for name in names]
    subprocess.run(["gcc", "-O1", "-g", *checks, "-o", program, *sources, "-lm"], check=True)
    digests = set()
    for seed in ("1", "1", "2"):
        done = subprocess.run(
            [program, seed, "1000", "100"], check=False, capture_output=True, text=True
        )
        assert done.returncode == 0, f"seed {seed}: {done.stderr}"
        digests.add(done.stdout)
    assert len(digests) == 2
