# SPDX-License-Identifier: MIT
"""Finds the rule of a zone from neighbouring reads, without earlier results.

On one track, the angle between two reads is proportional to the number of sectors between them, so
most such pairs agree on the number of slots in a rotation.  The sector where tracks begin, and
their length, are found by trying: with the right values all pairs on one track fit, and all pairs
on neighbouring tracks differ by the same skew.  Cylinders are found in the same way.
"""

from dataclasses import dataclass, replace

import numpy as np

from understudy_devices.profiler.from_trace.rule_error import NEAR, centred
from understudy_devices.profiler.from_trace.services import Floats, Ints
from understudy_devices.profiler.layout.layout import Zone
from understudy_devices.profiler.probes.platters import MANY

FEWEST_SLOTS, MOST_SLOTS = 16, 2**12
INTEGER = 0.25
FEWEST_VOTES = 8
SPARE = 8  # largest number of spare slots of a track
RULED = 0.6  # smallest share of all pairs that fit
ALIKE = 0.25  # smallest share of the pairs on neighbouring cylinders that agree
FEWEST_CYLINDERS = 3
FIRST = 9  # number of reads from which the zone's angle is computed


@dataclass(frozen=True)
class _Tracks:
    """Tracks of `sectors` sectors each, one of which begins at `begin`; `skew` is in slots.

    `votes` pairs of reads agree with these tracks.
    """

    votes: int
    sectors: int
    begin: int
    skew: float


def find(sector: Ints, turn: Floats) -> Zone | None:
    """Return the zone of these reads; None if the reads follow no rule."""
    slots = _slots(sector, turn)
    if slots is None:
        return None
    lengths = range(max(1, slots - SPARE), slots + 1)
    tracks = max((_tracks(sector, turn, slots, each) for each in lengths), key=lambda it: it.votes)
    if tracks.votes < FEWEST_VOTES:
        return None
    return _zone(sector, turn, slots, tracks)


def _slots(sector: Ints, turn: Floats) -> int | None:
    """Return the number of slots in a rotation that most pairs of neighbouring reads imply."""
    apart, turned = np.diff(sector), np.diff(turn) % 1
    some = (apart > 0) & (turned > 0)
    slots = apart[some] / turned[some]
    slots = slots[(slots > FEWEST_SLOTS) & (slots < MOST_SLOTS)]
    whole = np.round(slots).astype(int)
    votes = np.bincount(whole[np.abs(slots - whole) < INTEGER])
    if not len(votes) or votes.max() < FEWEST_VOTES:
        return None
    return int(votes.argmax())


def _tracks(sector: Ints, turn: Floats, slots: int, length: int) -> _Tracks:
    """Return the tracks of `length` sectors with which the most pairs agree."""
    jump = np.diff(turn * slots - sector) % slots
    begins = np.arange(length)
    step = np.diff((sector - begins[:, None]) // length, axis=1)
    in_line = (step == 0) & (np.abs(centred(jump, slots)) < NEAR)
    rows, pairs = np.nonzero(step == 1)
    places = rows * 2 * slots + (2 * jump[pairs]).astype(int) % (2 * slots)
    halves = np.bincount(places, minlength=length * 2 * slots).reshape(length, -1)
    alike = halves + np.roll(halves, -1, axis=1)
    votes = in_line.sum(axis=1) + alike.max(axis=1)
    begin = int(votes.argmax())
    low = int(alike[begin].argmax()) / 2
    skews = (jump[step[begin] == 1] - low) % slots
    skew = low + float(skews[skews < 1].mean()) if (skews < 1).any() else 0.0
    return _Tracks(int(votes[begin]), length, begin, skew % slots)


def _zone(sector: Ints, turn: Floats, slots: int, tracks: _Tracks) -> Zone | None:
    """Return the zone, with cylinders if the reads show some, and the angle of the first reads."""
    track = (sector - tracks.begin) // tracks.sectors
    left = turn * slots - sector - track * tracks.skew
    step = centred(np.diff(left), slots)
    cylinder, phase, more, votes = _cylinders(track, step)
    if votes < RULED * len(step):
        return None
    first = tracks.begin + phase * tracks.sectors
    zone = Zone.even(first, tracks.sectors, slots, 0.0, tracks.skew / slots % 1)
    zone = zone.by_cylinders(cylinder, (tracks.skew + more) / slots % 1)
    ahead = [float(t - zone.turn(int(s))) for s, t in zip(sector[:FIRST], turn, strict=False)]
    middle = float(np.median((np.array(ahead) - ahead[0] + 0.5) % 1)) - 0.5
    return replace(zone, angle=(ahead[0] + middle) % 1)


def _cylinders(track: Ints, step: Floats) -> tuple[int, int, float, int]:
    """Return a cylinder's number of tracks, the number of the first track that begins a cylinder,
    the extra skew, and the number of pairs that fit.
    """
    near = np.abs(step) < NEAR
    best = (1, 0, 0.0, int(near.sum()) + FEWEST_CYLINDERS)
    for cylinder in range(2, MANY + 1):
        for phase in range(cylinder):
            passed = np.diff((track - phase) // cylinder)
            steps = step[passed == 1]
            more, alike = _densest(steps)
            votes = int((near & (passed == 0)).sum()) + alike
            if votes > best[3] and alike >= ALIKE * len(steps):
                best = (cylinder, phase, more, votes)
    return best


def _densest(steps: Floats) -> tuple[float, int]:
    """Return the mean of the largest group of similar steps, and the group's size."""
    if not len(steps):
        return 0.0, 0
    ordered = np.sort(steps)
    ends = np.searchsorted(ordered, ordered + 2 * NEAR, side="right")
    counts = ends - np.arange(len(ordered))
    begin = int(counts.argmax())
    return float(ordered[begin : ends[begin]].mean()), int(counts[begin])
