# SPDX-License-Identifier: MIT
"""Find the layout of the platters from the times at which a trace's reads complete.

From some neighbouring reads a rule is found, which is followed forwards and backwards until it ends
(rule_walk.py).  From reads after its end the next rule is found, and so on over the whole disk.  A
slip is assumed at the first read that shows it.
"""

from dataclasses import replace
from itertools import pairwise

import numpy as np

from understudy_devices.profiler.from_trace import rule_error, rule_walk
from understudy_devices.profiler.from_trace.rule_walk import Part
from understudy_devices.profiler.from_trace.services import Bools
from understudy_devices.profiler.from_trace.turning import Turning
from understudy_devices.profiler.layout.layout import Layout, Unseen, Zone, worded
from understudy_devices.profiler.layout.parts import Part as Ruled
from understudy_devices.profiler.layout.parts import gathered
from understudy_devices.profiler.probes.platters import LEAST_SHARE, WITHIN

SHOWN_BY = 256  # number of reads from which a rule is found
TRIED = (0, 0.125, 0.25, 0.5, 1)  # where to look for the next rule: times SHOWN_BY reads farther
PROVED = 4  # times SHOWN_BY reads that follow a rule are enough to accept it
LOST = 20  # after this many times SHOWN_BY reads without a rule, give up
RULES_MOST = 64


def measure(reads: Turning, capacity_sectors: int) -> Layout | Unseen:
    """Return the layout; in it, a sector's angle is the angle at which a read from that sector
    completes.
    """
    parts = _parts(reads)
    if not parts:
        return Unseen("reads next to each other are at angles that follow no rule")
    layout = gathered(_ruled(reads, parts), capacity_sectors)
    if layout is None:
        return Unseen("the first track is too short")
    near, stays = in_line(reads, layout)
    looked = int(stays.sum())
    share = float((near & stays).sum()) / max(looked, 1)
    if share < LEAST_SHARE:
        return Unseen(f"{share:.0%} of {looked} reads were at the angle foreseen")
    return worded(replace(layout, share=share, looked=looked))


def led(layout: Layout, sectors: int, bus_turns: float) -> Layout:
    """Return the same layout with the angles at which sectors begin to pass under the head."""
    zones = [
        replace(zone, angle=(zone.angle - lead(zone, sectors, bus_turns)) % 1)
        for zone in layout.zones
    ]
    return replace(layout, zones=tuple(zones))


def lead(zone: Zone, sectors: int, bus_turns: float) -> float:
    """Return the time in rotations from when `sectors` sectors begin to pass until the bus has
    transferred them.
    """
    return max(sectors / zone.slots, bus_turns)


def _parts(reads: Turning) -> list[Part]:
    """Return the parts of the whole disk; [] if too few reads follow rules."""
    parts: list[Part] = []
    at = rules = lost = 0
    while at + SHOWN_BY < len(reads.sector):
        best = _longest(reads, at)
        if best:
            parts += best
            rules += 1
            at, lost = best[-1].end, 0
        else:
            at += SHOWN_BY // 2
            lost += SHOWN_BY // 2
        if rules > RULES_MOST or lost > LOST * SHOWN_BY:
            return []
    return parts


def _longest(reads: Turning, at: int) -> list[Part]:
    """Return the parts of the rule that is valid longest, of the rules found at or soon
    after `at`.
    """
    best: list[Part] = []
    for farther in TRIED:
        begin = at + round(farther * SHOWN_BY)
        parts = rule_walk.find(reads, begin, SHOWN_BY, at)
        if parts and _reach(parts) > max(_reach(best), SHOWN_BY // 4):
            best = parts
        if _reach(best) > PROVED * SHOWN_BY:
            break
    return best


def _reach(parts: list[Part]) -> int:
    """Return the number of reads that the parts contain."""
    return parts[-1].end - parts[0].begin if parts else 0


def _ruled(reads: Turning, parts: list[Part]) -> list[Ruled]:
    """Return each rule with the sector where it begins: the first read that follows the rule.

    A rule with other tracks than the previous rule's begins instead at the first cylinder after the
    last read of the previous rule.  The first rule begins at sector 0.
    """
    rules = [Ruled(0, parts[0].zone)]
    for before, part in pairwise(parts):
        first = int(reads.sector[part.begin])
        after = int(reads.sector[part.begin - 1]) + 1
        if (before.zone.sectors, before.zone.slots) != (part.zone.sectors, part.zone.slots):
            behind = -((part.zone.first - after) // (part.zone.cylinder * part.zone.sectors))
            first = rule_error.begun_at(part.zone, behind).first
        if first <= int(reads.sector[part.end - 1]) and first > rules[-1].first:
            rules.append(Ruled(first, part.zone))
    return rules


def in_line(reads: Turning, layout: Layout) -> tuple[Bools, Bools]:
    """Return which reads complete at the layout's angle, and which reads stay on one track."""
    firsts = [*(first for first, _ in layout.parts), layout.capacity_sectors]
    near, stays = (np.zeros(len(reads.sector), bool) for _ in range(2))
    for (_, zone), (first, end) in zip(layout.parts, pairwise(firsts), strict=True):
        own = slice(*np.searchsorted(reads.sector, [first, end]))
        sector, turn = reads.sector[own], reads.turn[own]
        near[own] = np.abs(rule_error.off(zone, sector, turn)) / zone.slots < WITHIN
        stays[own] = ~rule_error.goes_over(zone, sector, reads.sectors)
    return near, stays
