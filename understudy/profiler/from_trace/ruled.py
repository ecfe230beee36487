# SPDX-License-Identifier: MIT
"""Reads held against a zone's rule: how far from where it has them were they complete?

Here a zone's angle is where a read at its first sector is complete, whatever passes between
the sector and that.  A read that goes over a track's end takes longer, and says nothing.
"""

from dataclasses import replace

import numpy as np

from understudy.profiler.from_trace.served import Bools, Floats, Ints
from understudy.profiler.layout.layout import Zone

NEAR = 0.3  # slots


def centred(slots: Floats, turn: int) -> Floats:
    """The same, from half a turn of so many slots before to half a turn after."""
    return (slots + turn / 2) % turn - turn / 2


def track(zone: Zone, sector: Ints) -> Ints:
    """Each sector's, counted from the zone's first."""
    return (sector - zone.first) // zone.sectors


def off(zone: Zone, sector: Ints, turn: Floats) -> Floats:
    """Slots; more are later."""
    cylinders = track(zone, sector) // zone.cylinder
    skews = (track(zone, sector) - cylinders) * zone.skew + cylinders * zone.cylinder_skew
    along = (sector - zone.first) % zone.slots / zone.slots
    return centred((turn - zone.angle - skews - along) * zone.slots, zone.slots)


def goes_over(zone: Zone, sector: Ints, sectors: int) -> Bools:
    """Whether so many from there are on two tracks."""
    over: Bools = (sector - zone.first) % zone.sectors > zone.sectors - sectors
    return over


def slipped(zone: Zone, sectors: int) -> Zone:
    """The rule behind so many sectors that are left out: what follows lies as much farther on."""
    return replace(zone, first=zone.first - sectors)


def ending(zone: Zone, sectors: int) -> Zone:
    """The same with tracks that end so much farther on; what is in their middle stays."""
    angle = (zone.angle + sectors / zone.slots) % 1
    return replace(zone, first=zone.first + sectors, angle=angle)


def begun_at(zone: Zone, cylinder: int) -> Zone:
    """The same rule, from that cylinder on."""
    first = zone.first + cylinder * zone.cylinder * zone.sectors
    return replace(zone, first=first, angle=zone.turn(first))


def refined(zone: Zone, sector: Ints, turn: Floats, slips: Ints) -> Zone:
    """By least squares over reads that are near where it has them, each behind so many slips."""
    place = sector + slips
    cylinders = track(zone, place) // zone.cylinder
    plain = track(zone, place) - cylinders
    columns = [np.ones(len(place)), cylinders if zone.cylinder > 1 else plain + cylinders]
    columns += [plain] if zone.cylinder > 1 else []
    matrix = np.column_stack(columns).astype(float)
    middle = matrix[:, 1:].mean(axis=0)
    matrix[:, 1:] -= middle
    found, *_ = np.linalg.lstsq(matrix, off(zone, place, turn) / zone.slots, rcond=1e-9)
    angle = found[0] - float(found[1:] @ middle)
    skew = float(found[-1])
    return replace(
        zone,
        angle=float(zone.angle + angle) % 1,
        skew=(zone.skew + skew) % 1,
        cylinder_skew=float(zone.cylinder_skew + found[1]) % 1,
    )
