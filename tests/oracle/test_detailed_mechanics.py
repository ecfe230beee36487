# SPDX-License-Identifier: MIT
"""The oracle's platters, arm and bus: where each sector is, and how long a request takes."""

import math
from dataclasses import replace

import numpy as np
import pytest
from detailed_drives import (
    BARE,
    LAYOUTS,
    PERIOD_NS,
    ROUNDING_NS,
    SOON_NS,
    ZONES,
    begins_ns,
    medium_ns,
    one_track,
    sector_ns,
    seek_ns,
    zone_of,
)
from hypothesis import given
from hypothesis import strategies as st

from oracle.detailed.drive import (
    CYLINDER_SERPENTINE,
    MS,
    SURFACE_SERPENTINE,
    DetailedDrive,
    Parameters,
    Zone,
)

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
    """Return cylinder and head of the first n tracks."""
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
    """The sum of the parts is the service time, up to rounding, for any sectors at any time."""
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
    """Measure seeks as WGPW95 do on real drives: take the shortest time over all angles."""
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
    """One request reads three cylinders. The bus is faster and adds only its last sector."""
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
    """A skew that suffices to read across a head switch may not suffice to write across it."""
    p = replace(BARE, zone=(Zone(300, 400, 0, 0, 40, 60),), segment_sectors=4000)
    read_ns = DetailedDrive(p).request("read", 0, 800, 0)
    write_ns = DetailedDrive(p).request("write", 0, 800, 0)
    assert BARE.head_switch_ns < 40 * PERIOD_NS / 400 < BARE.head_switch_ns + 0.3 * MS
    assert write_ns - read_ns == pytest.approx(PERIOD_NS - BARE.bus_sector_ns, abs=ROUNDING_NS)


# ---- bus ----------------------------------------------------------------------------


def test_a_slow_bus_limits_what_streams() -> None:
    """While the bus sends the first sectors, later ones pass the head, so only bus time counts."""
    p = replace(BARE, bus_sector_ns=100_000, segment_sectors=4096)
    drive = DetailedDrive(p)
    place = drive.locate(0)
    first_ns = begins_ns(place, p.read_miss_overhead_ns) + sector_ns(place)
    assert drive.request("read", 0, 400, 0) == pytest.approx(
        first_ns + 400 * p.bus_sector_ns, abs=ROUNDING_NS
    )


def test_a_slow_bus_and_a_small_buffer_lose_turns_but_no_bus_time() -> None:
    """The head waits while the bus empties the buffer.

    Half a buffer keeps the bus busy for a rotation.
    """
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
