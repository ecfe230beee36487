# SPDX-License-Identifier: MIT
"""Compares the angles at which reads complete with the angles by a zone's rule.

Here a zone's angle is where a read from its first sector completes, after transfer and bus time.  A
read that crosses a track's end takes longer, so its angle is not comparable.
"""

from dataclasses import replace

import numpy as np

from understudy_devices.profiler.from_trace.services import Bools, Floats, Ints
from understudy_devices.profiler.layout.layout import Zone

NEAR = 0.3  # slots: largest deviation of a read that follows the rule


def centred(slots: Floats, turn: int) -> Floats:
    """Return the angle between -1/2 and 1/2 rotation, in slots; a rotation has `turn` slots."""
    return (slots + turn / 2) % turn - turn / 2


def track(zone: Zone, sector: Ints) -> Ints:
    """Return each sector's track, counted from the zone's first track."""
    return (sector - zone.first) // zone.sectors


def off(zone: Zone, sector: Ints, turn: Floats) -> Floats:
    """Return the deviation of each read from the rule, in slots; positive means later."""
    cylinders = track(zone, sector) // zone.cylinder
    skews = (track(zone, sector) - cylinders) * zone.skew + cylinders * zone.cylinder_skew
    along = (sector - zone.first) % zone.slots / zone.slots
    return centred((turn - zone.angle - skews - along) * zone.slots, zone.slots)


def goes_over(zone: Zone, sector: Ints, sectors: int) -> Bools:
    """Return whether a read of `sectors` sectors from each sector reaches into the next track."""
    over: Bools = (sector - zone.first) % zone.sectors > zone.sectors - sectors
    return over


def slipped(zone: Zone, sectors: int) -> Zone:
    """Return the rule after `sectors` slipped sectors: later sectors are that many slots farther
    on.
    """
    return replace(zone, first=zone.first - sectors)


def ending(zone: Zone, sectors: int) -> Zone:
    """Return the same rule with all track ends `sectors` sectors later; angles on a track are
    unchanged.
    """
    angle = (zone.angle + sectors / zone.slots) % 1
    return replace(zone, first=zone.first + sectors, angle=angle)


def begun_at(zone: Zone, cylinder: int) -> Zone:
    """Return the same rule, counted from another cylinder of the zone."""
    first = zone.first + cylinder * zone.cylinder * zone.sectors
    return replace(zone, first=first, angle=zone.turn(first))


def refined(zone: Zone, sector: Ints, turn: Floats, slips: Ints) -> Zone:
    """Return the rule fitted by least squares to reads; before each read `slips` sectors were
    slipped.
    """
    place = sector + slips
    cylinders = track(zone, place) // zone.cylinder
    plain = track(zone, place) - cylinders
    columns = [np.ones(len(place)), cylinders if zone.cylinder > 1 else plain + cylinders]
    columns += [plain] if zone.cylinder > 1 else []
    matrix = np.column_stack(columns).astype(float)
    middle = matrix[:, 1:].mean(axis=0)
    matrix[:, 1:] -= middle
    solution, *_ = np.linalg.lstsq(matrix, off(zone, place, turn) / zone.slots, rcond=1e-9)
    angle = solution[0] - float(solution[1:] @ middle)
    skew = float(solution[-1])
    return replace(
        zone,
        angle=float(zone.angle + angle) % 1,
        skew=(zone.skew + skew) % 1,
        cylinder_skew=float(zone.cylinder_skew + solution[1]) % 1,
    )
