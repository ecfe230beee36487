# SPDX-License-Identifier: MIT
"""Follows a zone's rule from read to read, forwards or backwards, across slipped sectors.

A drive slips bad sectors: all sectors after a bad sector are stored one slot farther on.  Where
reads deviate from the rule, this module tests how many sectors were slipped there.  If no number
explains the reads, the rule ends.  Skews and track ends become more exact as more reads follow the
rule; at first a track's end is known only to the length of a read.
"""

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from understudy_devices.profiler.from_trace import rule_error, window
from understudy_devices.profiler.from_trace.rule_error import NEAR
from understudy_devices.profiler.from_trace.services import Bools, Ints
from understudy_devices.profiler.from_trace.turning import Turning
from understudy_devices.profiler.layout.layout import Zone

BLOCK = 64  # reads
VOTERS = 8
VOTES = 3
SLIPS_MOST = 12  # slipped sectors at one sector
ACCIDENTS = 1000  # one read in this many fits a wrong rule by chance
REFINED_AFTER = 9  # reads that fit before the first refinement; it is repeated as they double


@dataclass(frozen=True)
class Part:
    """Reads from `begin` up to `end`, in order of sectors, that follow one rule."""

    begin: int
    end: int
    zone: Zone


def find(reads: Turning, begin: int, count: int, floor: int) -> list[Part]:
    """Find a rule from `count` reads from `begin` on.

    Return the parts that follow this rule, including reads before `begin`, but none before `floor`.
    """
    some = slice(begin, begin + count)
    zone = window.find(reads.sector[some], reads.turn[some])
    if zone is None:
        return []
    follower = _Follower(reads, zone)
    end, ahead = follower.follow(begin, 1, len(reads.sector))
    start, back = follower.follow(begin - 1, -1, floor - 1)
    bounds = [start + 1, *(at + 1 for at, _ in reversed(back)), *(at for at, _ in ahead), end]
    slips = [*(number for _, number in reversed(back)), 0, *(number for _, number in ahead)]
    if not follower.number:
        return []
    zone = follower.with_ends()
    return [
        Part(first, after, rule_error.slipped(zone, number))
        for (first, after), number in zip(pairwise(bounds), slips, strict=True)
        if first < after
    ]


@dataclass
class _Follower:
    """The rule `zone` as refined from all reads so far, the reads that fit, and the number of
    slipped sectors before each.
    """

    reads: Turning
    zone: Zone
    in_line: list[Ints] = field(default_factory=list)
    slips: list[Ints] = field(default_factory=list)
    number: int = 0
    refine_at: int = REFINED_AFTER

    def follow(self, at: int, way: int, stop: int) -> tuple[int, list[tuple[int, int]]]:
        """Follow the rule to the first read that no number of slips explains.

        Return that read, and each read at which the number of slipped sectors changes.
        """
        slips, changes = 0, []
        while at * way < stop * way:
            block = self._block(at, way, stop, min(BLOCK, self.refine_at - self.number + 1))
            good = self._good(block, slips)
            at += way * good
            if good == len(block):
                continue
            more = self._slipped(self._block(at, way, stop, VOTERS), slips, way)
            if more is None:
                break
            if more:
                slips += way * more
                changes.append((at, slips))
            else:
                at += way
        return at, changes

    def _block(self, at: int, way: int, stop: int, most: int) -> Ints:
        return np.arange(at, stop, way)[:most]

    def _is_near(self, block: Ints, slips: int) -> tuple[Bools, Bools]:
        """Return which reads fit the rule, and which reads cross a track's end, so that they show
        nothing.
        """
        zone = rule_error.slipped(self.zone, slips)
        sector, turn = self.reads.sector[block], self.reads.turn[block]
        near: Bools = np.abs(rule_error.off(zone, sector, turn)) < NEAR
        return near, rule_error.goes_over(zone, sector, self.reads.sectors)

    def _good(self, block: Ints, slips: int) -> int:
        """Return how many reads there are before the first read that contradicts the rule."""
        near, over = self._is_near(block, slips)
        bad = np.flatnonzero(~(near | over))
        good = int(bad[0]) if len(bad) else len(block)
        reads = block[:good][near[:good]]
        self.in_line.append(reads)
        self.slips.append(np.full(len(reads), slips))
        self.number += len(reads)
        if self.number >= self.refine_at:
            self._refine()
        return good

    def _refine(self) -> None:
        index, slips = np.concatenate(self.in_line), np.concatenate(self.slips)
        sector, turn = self.reads.sector[index], self.reads.turn[index]
        self.zone = rule_error.refined(self.zone, sector, turn, slips)
        self.refine_at = 2 * self.number

    def _slipped(self, block: Ints, slips: int, way: int) -> int | None:
        """Return how many more sectors were slipped; None if no number explains the reads."""
        tries = range(SLIPS_MOST + 1)
        votes = [int(self._is_near(block, slips + way * more)[0].sum()) for more in tries]
        best = max(tries, key=lambda more: votes[more])
        return best if votes[best] >= min(VOTES, len(block)) else None

    def with_ends(self) -> Zone:
        """Return the zone with the track ends with which the most reads fit.

        If several ends are equally good, except for a few fits by chance, use the last of these
        ends, since a read that crosses an end does not fit.
        """
        index, slips = np.concatenate(self.in_line), np.concatenate(self.slips)
        order = np.argsort(index)
        every = np.arange(int(index.min()), int(index.max()) + 1)
        place = self.reads.sector[every] + slips[order][np.searchsorted(index[order], every)]
        turn, size = self.reads.turn[every], self.reads.sectors
        tries = [rule_error.ending(self.zone, sectors) for sectors in range(-size, size + 1)]
        near = [int((np.abs(rule_error.off(zone, place, turn)) < NEAR).sum()) for zone in tries]
        return tries[max(np.flatnonzero(np.array(near) >= max(near) - len(every) // ACCIDENTS))]
