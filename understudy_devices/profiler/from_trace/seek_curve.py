# SPDX-License-Identifier: MIT
"""Fits the seek curve of a trace in which each sector's angle is known.

The head reads a sector when the sector first passes after the seek.  So the seek ended less than
one rotation before that pass.  Each read over a distance thus limits the seek time to a range; many
reads together leave a narrow range, whose middle is the result.  The result's error is a rotation
divided by the number of reads.  The error of a mean would be a rotation divided by the square root
of that number.
"""

from dataclasses import dataclass

import numpy as np

from understudy_devices.profiler.findings.statistics import ascending
from understudy_devices.profiler.from_trace.services import Bools, Floats, Ints, Served
from understudy_devices.profiler.layout.arm import Arm
from understudy_devices.profiler.layout.layout import Layout
from understudy_devices.profiler.probes.seek import Seek

KNOTS = 64
FEWEST = 24  # smallest number of moves in a range of distances
PASSES = 4
WITHIN = 0.01  # of a rotation
DIGITS = 8  # digits of a distance in a profile

Curve = tuple[Floats, Floats]  # distances, ns


@dataclass(frozen=True)
class Moves:
    """Moves of the arm: the distances in tracks, the ns until the sector passed, and the number of
    tracks of the disk.
    """

    over: Floats
    passed_ns: Floats
    tracks: float


def moves(
    served: Served, hit: Bools, index: Ints, layout: Layout, period_ns: float, bus_ns: float
) -> Moves:
    """Return the moves before the reads `index`, whose angles are known.

    A read takes at least `bus_ns` on the bus.
    """
    medium = served.reads & ~hit
    index = np.sort(index[index > 0])
    index = index[medium[index - 1]]
    arm = Arm(layout)
    ends = (served.sector + served.sectors - 1)[index - 1]
    over = np.abs(_places(arm, served.sector[index]) - _places(arm, ends))
    slots = np.array([zone.slots for zone in layout.zones])
    zone = [layout.index(int(sector)) for sector in served.sector[index]]
    medium_ns = served.sectors[index] / slots[zone] * period_ns
    return Moves(over, served.service_ns[index] - np.maximum(medium_ns, bus_ns), arm.tracks)


def measure(moves: Moves, period_ns: float, near: Curve | None) -> Seek | None:
    """Measure the seek curve; return None if there are too few reads.

    `near` has known seek times by fractions of the disk, for distances shorter than those of the
    moves.
    """
    knots = _knots(moves.over, moves.tracks)
    if len(knots) < 2:
        return None
    ns = _middles(moves, knots, period_ns)
    at, curve_ns = _whole(knots, ns, moves.tracks, near)
    after_ns = moves.passed_ns - np.interp(moves.over, at, curve_ns)
    late_ns = WITHIN * period_ns
    right = ((after_ns >= -late_ns) & (after_ns < period_ns + late_ns)).mean()
    how = f"of {len(after_ns)} reads {right:.1%} are in the turn that it foresees"
    error_ns = period_ns * len(knots) / len(after_ns)
    shares = tuple(float(each) for each in at / moves.tracks)
    return Seek(shares, tuple(float(each) for each in curve_ns), error_ns, how, (), "tracks")


def _places(arm: Arm, sectors: Ints) -> Floats:
    return np.array([arm.place(int(sector)) for sector in sectors])


def _knots(tracks: Floats, most: float) -> Floats:
    """Return the middles of distance ranges with at least FEWEST moves each; the ranges are
    narrower at short distances.
    """
    edges = np.linspace(0, 1, KNOTS + 1) ** 2 * most
    while len(edges) > 2:
        counts = np.histogram(tracks, edges)[0]
        few = np.flatnonzero(counts < FEWEST)
        if not len(few):
            break
        edges = np.delete(edges, max(1, int(few[-1])))
    middles: Floats = (edges[1:] + edges[:-1]) / 2
    return middles


def _middles(moves: Moves, knots: Floats, period_ns: float) -> Floats:
    """Return the seek time at each knot, from the moves whose distances are nearest to that knot.

    Each iteration uses the previous iteration's curve to correct for the distances within a range.
    """
    widths = np.gradient(knots)
    around = [
        np.flatnonzero(np.abs(moves.over - at) <= width / 2)
        for at, width in zip(knots, widths, strict=True)
    ]
    ns = np.array([np.median(moves.passed_ns[own]) - period_ns / 2 for own in around])
    for _ in range(PASSES):
        after_ns = moves.passed_ns - np.interp(moves.over, knots, ns)
        ns = ns + [_middle(after_ns[own], period_ns) - period_ns / 2 for own in around]
    return ns


def _middle(ns: Floats, period_ns: float) -> float:
    """Return the middle of the range, one rotation wide, that contains the most moves.

    All other moves were delayed for other reasons.
    """
    ordered = np.sort(ns)
    last = np.searchsorted(ordered, ordered + period_ns, side="right") - 1
    first = int(np.argmax(last - np.arange(len(ordered))))
    return float(ordered[first] + ordered[last[first]]) / 2


def _whole(knots: Floats, ns: Floats, most: float, near: Curve | None) -> Curve:
    """Return the curve from distance 0 to the whole disk."""
    slope = (ns[-1] - ns[-min(4, len(ns))]) / max(knots[-1] - knots[-min(4, len(ns))], 1e-9)
    last_ns = ns[-1] + max(slope, 0.0) * (most - knots[-1])
    shares, ns_near = near if near else (np.zeros(1), ns[:1])
    own = shares < round(knots[0] / most, DIGITS)
    at = np.concatenate([shares[own] * most, knots, [most]])
    whole = np.concatenate([ns_near[own], ns, [last_ns]])
    return at, np.array(ascending(np.maximum(whole, 1.0).tolist()))
