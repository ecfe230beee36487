# SPDX-License-Identifier: MIT
"""Finds recording zones and slips from parts of the disk that each follow a rule.

Each part counts from its own first sector, and sectors may be slipped before that sector.  If the
rule of the longer of two neighbouring parts, shifted by some slots, predicts the other part's
angles too, both belong to one recording zone, and the later part begins with a slip.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from understudy.profiler.layout.layout import Layout, Zone, centred

SAME = 0.3  # slots
LEFT_OUT_MOST = 16  # largest slip at one sector, in sectors
LOOKS = 48  # sectors of a part, and equally many of its tracks
FARTHEST = 4  # cylinders, or tracks if there are no cylinders
SHIFTS_MOST = 2**13


@dataclass(frozen=True)
class Part:
    """A part, which ends where the next part begins."""

    first: int
    zone: Zone


def refined(parts: Sequence[Part], before: Zone, after: Zone) -> list[Part]:
    """Return the same parts, with the refined rule `after` instead of the rule `before`."""
    return [
        replace(part, zone=replace(after, first=part.zone.first))
        if replace(part.zone, first=before.first) == before
        else part
        for part in parts
    ]


def gathered(parts: Sequence[Part], capacity_sectors: int) -> Layout | None:
    """Return the layout; None: the first track is shorter than half a track."""
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
    """Join parts shorter than half a track, their own or the previous part's, to the previous
    part.
    """
    kept = list(parts[:1])
    for part in parts[1:]:
        if 2 * part.zone.sectors >= max(part.zone.slots, kept[-1].zone.sectors):
            kept.append(part)
    return kept


def _joined(group: list[tuple[Part, int]], part: Part, end: int) -> list[tuple[Part, int]] | None:
    """Return the group with one more part, all by the longer part's rule; None: the part belongs to
    another zone.
    """
    before, last = group[-1]
    if (before.zone.sectors, before.zone.slots) != (part.zone.sectors, part.zone.slots):
        return None
    if replace(before.zone, first=0) == replace(part.zone, first=0):
        return [*group, (part, end)]
    if before.zone.cylinder > 1 and last - group[0][0].first >= end - part.first:
        found = by_rule(before.zone, part, end, 1)
        return [*group, (Part(part.first, found), end)] if found else None
    moved: list[tuple[Part, int]] = []
    zone = part.zone
    for own, own_end in reversed(group):
        found = by_rule(zone, own, own_end, -1)
        if not found:
            return None
        moved.insert(0, (Part(own.first, found), own_end))
        zone = found
    return [*moved, (part, end)]


def by_rule(rule: Zone, part: Part, end: int, way: int) -> Zone | None:
    """Return the rule of the part before (way 1) or after (way -1), shifted to this part.

    It uses the smallest shift that explains the whole part.
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
    """Return the zone from its beginning, and the slips since then.

    If spare sectors compensate for some of the slipped slots, each of these has a row of -1.
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
