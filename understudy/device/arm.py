# SPDX-License-Identifier: MIT
"""The arm's way counted in tracks (struct platter_zone in core/drive/platter.h)."""

from dataclasses import replace
from fractions import Fraction

from understudy.device.timing import Curve, Platter, PlatterZone

PLACE_STEP = 2**16  # core/drive/platter.h counts steps so


def counted(
    platter: Platter, zones: Curve, capacity_sectors: int, *, along_surfaces: bool
) -> Platter:
    """The same with the arm's place on each track: a track is as many places as the disk has
    sectors for each.  `zones`: first sectors, and the sectors of a track.

    On a small disk a zone may end before its first band does; its tracks follow each other.
    """
    ends = [*(first for first, _ in zones[1:]), capacity_sectors]
    tracks = [
        Fraction(_with_spares(zone, sectors, end - first), sectors)
        for zone, (first, sectors), end in zip(platter.zones, zones, ends, strict=True)
    ]
    step = capacity_sectors / sum(tracks)
    before = [sum(tracks[:index]) for index in range(len(tracks))]
    found = [
        replace(
            zone,
            place=int(step * passed),
            step=round(step * PLACE_STEP),
            surfaces=(
                zone.band // zone.cylinder
                if along_surfaces and size > zone.band - zone.cylinder
                else 0
            ),
        )
        for zone, passed, size in zip(platter.zones, before, tracks, strict=True)
    ]
    return replace(platter, zones=tuple(found))


def _with_spares(zone: PlatterZone, track_sectors: int, sectors: int) -> int:
    """Counted as if all tracks were as long, those that a cylinder ends with as well."""
    cylinders = sectors // (zone.cylinder * track_sectors - zone.spare)
    return sectors + cylinders * zone.spare
