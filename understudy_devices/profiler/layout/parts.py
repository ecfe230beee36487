# SPDX-License-Identifier: MIT
"""Finds recording zones and slips from parts of the disk that each follow a rule.

Two neighbouring parts belong to one recording zone if the longer part's rule, shifted by some
slots, also predicts the shorter part's angles.  Then the later part begins with a slip.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from understudy_devices.profiler.layout.layout import Layout, Zone, centred

SAME = 0.3  # slots
LEFT_OUT_MOST = 16  # largest slip at one sector, in sectors
LOOKS = 48  # sectors, and tracks, of a part that are compared
FARTHEST = 4  # largest shift, in cylinders, or in tracks if there are no cylinders
SHIFTS_MOST = 2**13


@dataclass(frozen=True)
class Part:
    """A part of the disk that follows one rule, up to the beginning of the next part."""

    first: int
    zone: Zone


def refined(parts: Sequence[Part], before: Zone, after: Zone) -> list[Part]:
    """Return the same parts, with the rule `before` replaced by the refined rule `after`."""
    return [
        replace(part, zone=replace(after, first=part.zone.first))
        if replace(part.zone, first=before.first) == before
        else part
        for part in parts
    ]


def gathered(parts: Sequence[Part], capacity_sectors: int) -> Layout | None:
    """Return the layout; None if the first part's tracks are shorter than half a rotation."""
    parts = _without_remnants(parts)
    if 2 * parts[0].zone.sectors < parts[0].zone.slots:
        return None
    ends = [*(part.first for part in parts[1:]), capacity_sectors]
    groups: list[list[tuple[Part, int]]] = []
    for part, end in zip(parts, ends, strict=True):
        joined = groups and _joined(groups[-1], part, end)
        if joined:
            groups[-1] = joined
        else:
            groups.append([(part, end)])
    zones, slips = [], []
    for group in groups:
        zone, own = _zone(group)
        zones.append(zone)
        slips += own
    return Layout(tuple(zones), capacity_sectors, slips=tuple(slips))


def _without_remnants(parts: Sequence[Part]) -> list[Part]:
    """Leave out parts whose tracks are shorter than half a rotation, or than half a track of the
    previous part: the previous part then contains their sectors.
    """
    rest = list(parts[:1])
    for part in parts[1:]:
        if 2 * part.zone.sectors >= max(part.zone.slots, rest[-1].zone.sectors):
            rest.append(part)
    return rest


def _joined(group: list[tuple[Part, int]], part: Part, end: int) -> list[tuple[Part, int]] | None:
    """Return the group with the part added, where the longer of the two determines the rule; None
    if the part belongs to another zone.
    """
    before, last = group[-1]
    if (before.zone.sectors, before.zone.slots) != (part.zone.sectors, part.zone.slots):
        return None
    if replace(before.zone, first=0) == replace(part.zone, first=0):
        return [*group, (part, end)]
    if before.zone.cylinder > 1 and last - group[0][0].first >= end - part.first:
        own_zone = by_rule(before.zone, part, end, 1)
        return [*group, (Part(part.first, own_zone), end)] if own_zone else None
    moved: list[tuple[Part, int]] = []
    zone = part.zone
    for own, own_end in reversed(group):
        own_zone = by_rule(zone, own, own_end, -1)
        if not own_zone:
            return None
        moved.insert(0, (Part(own.first, own_zone), own_end))
        zone = own_zone
    return [*moved, (part, end)]


def by_rule(rule: Zone, part: Part, end: int, way: int) -> Zone | None:
    """Return `rule`, shifted by the smallest number of slots with which it explains the whole part;
    None if there is no such number.

    The rule is that of the part before (way 1) or after (way -1).
    """
    evenly = np.unique(np.linspace(part.first, end - 1, LOOKS).astype(int))
    starts = [part.zone.track(track) + side for track in range(LOOKS) for side in (-1, 0)]
    looks = [*map(int, evenly), *(at for at in starts if part.first <= at < end)]
    there = [(sector, part.zone.turn(sector)) for sector in looks]
    unit = rule.cylinder * rule.sectors if rule.cylinder > 1 else rule.sectors
    farthest = min(FARTHEST * unit, SHIFTS_MOST)
    for slots in sorted(range(-LEFT_OUT_MOST, farthest), key=abs):
        shifted = rule.slipped(way * slots)
        if all(abs(centred(shifted.turn(at) - turn)) * rule.slots < SAME for at, turn in there):
            return shifted
    return None


def _zone(group: Sequence[tuple[Part, int]]) -> tuple[Zone, list[tuple[int, int]]]:
    """Return the zone of a group of parts, and the slips in it.

    Where spare sectors compensate for slipped slots, there is a slip of -1 for each such slot.
    """
    first, own = group[0][0].first, group[0][0].zone
    whole = own.begun_by(first)
    slips: dict[int, int] = {}
    before = first + own.first - whole.first
    for part, _ in group:
        slots = before - part.zone.first
        before = part.zone.first
        rows = [(part.first, slots)] if slots > 0 else []
        rows += [(part.first + back, -1) for back in range(slots, 0)]
        for sector, more in rows:
            slips[sector] = slips.get(sector, 0) + more
    zone = replace(whole, first=first)
    return zone, [(sector, slots) for sector, slots in sorted(slips.items()) if slots]
