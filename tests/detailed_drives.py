# SPDX-License-Identifier: MIT
"""Detailed drives for tests of the oracle, and the times that follow from their parameters.

The expected times are calculated here, independently of the oracle.
"""

import math
from dataclasses import replace

from oracle.detailed.drive import (
    CYLINDER_SERPENTINE,
    CYLINDERS,
    SURFACE_SERPENTINE,
    DetailedDrive,
    Parameters,
    Place,
    Zone,
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
    """Return the time for a sector to pass the head, in ns."""
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
    """Return when the place's sector next begins to pass the head, which is on its track."""
    return now_ns + (place.angle - now_ns / PERIOD_NS) % 1 * PERIOD_NS


def medium_ns(
    drive: DetailedDrive, op: str, before: int, sector: int, sectors: int, sent_ns: float
) -> float:
    """Return when the last sector has passed the head; all sectors are on one track."""
    p = drive.parameters
    place = drive.locate(sector)
    overhead_ns = p.read_miss_overhead_ns if op == "read" else p.write_overhead_ns
    there_ns = sent_ns + overhead_ns + move_ns(p, drive.locate(before), place, op)
    if op == "write":
        there_ns = max(there_ns, sent_ns + overhead_ns + p.bus_sector_ns)
    return begins_ns(place, there_ns) + sectors * sector_ns(place)


def one_track(drive: DetailedDrive, sector: int) -> range:
    """Return the sectors from this one to the end of its track."""
    place = drive.locate(sector)
    return range(sector, sector + zone_of(place.cylinder).sectors - place.slot)


def hit_ns(p: Parameters, sectors: int) -> float:
    return p.read_hit_overhead_ns + sectors * p.bus_sector_ns


def after_ns(drive: DetailedDrive, free_ns: float, one: Place, sector: int) -> float:
    """Return when 8 sectors have been read, by an arm that is free at free_ns on the track of
    `one`."""
    place = drive.locate(sector)
    there_ns = free_ns + move_ns(drive.parameters, one, place, "read")
    return begins_ns(place, there_ns) + 8 * sector_ns(place) + drive.parameters.bus_sector_ns
