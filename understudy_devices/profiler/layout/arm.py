# SPDX-License-Identifier: MIT
"""Computes seek distances in tracks, as the model counts them (core/drive/tracks.h).

A given number of sectors is fewer tracks at the outer edge than near the spindle, so the seek time
depends on the distance in tracks.  Where a drive lays sectors out along surfaces, the tracks of a
band are counted as if they were laid out cylinder by cylinder.
"""

import random
from bisect import bisect_right
from itertools import accumulate

from understudy_devices.profiler.layout.layout import Layout, Zone


class Arm:
    """The arm's location on each track, a number from 0 to `tracks`.

    Where sectors are laid out along surfaces, the locations of neighbouring tracks on a surface
    differ by `surfaces`.
    """

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._sizes = [layout.tracks(index) for index in range(len(layout.zones))]
        self._before = [0, *accumulate(self._sizes)]
        self.tracks = self._before[-1]
        banded = [zone for zone in layout.zones if layout.surfaces and zone.has_bands]
        self.surfaces = max((_surfaces(zone) for zone in banded), default=1)

    def place(self, sector: int) -> int:
        """Return the arm's location on the sector's track."""
        zone = self._layout.zone(sector)
        along = self._along(zone, zone.tracks(sector - zone.first))
        return self._before[self._layout.index(sector)] + along

    def track(self, place: float, draw: random.Random) -> int:
        """Return the first sector of a track near that location, on a random surface if sectors are
        laid out along surfaces.
        """
        index = min(bisect_right(self._before, place), len(self._sizes)) - 1
        last = self._sizes[index] - 1
        track = min(int(place - self._before[index]), last)
        if self._layout.surfaces:
            track = min(_on_a_surface(self._layout.zones[index], track, draw), last)
        return self._layout.track(index, track)

    def _along(self, zone: Zone, track: int) -> int:
        if not self._layout.surfaces:
            return track
        in_band = track % zone.band
        surface, along = divmod(in_band, zone.cylinder)
        if surface % 2:
            along = zone.cylinder - 1 - along
        return track - in_band + along * _surfaces(zone)


def _surfaces(zone: Zone) -> int:
    """Return the number of surfaces of a band."""
    return zone.band // zone.cylinder


def _on_a_surface(zone: Zone, track: int, draw: random.Random) -> int:
    in_band, surfaces = track % zone.band, _surfaces(zone)
    along, surface = in_band // surfaces, draw.randrange(surfaces)
    if surface % 2:
        along = zone.cylinder - 1 - along
    return track - in_band + surface * zone.cylinder + along
