# SPDX-License-Identifier: MIT
"""Computes the angle at which each read of a trace completed, if the disk rotates.

Reads of the same sectors from the medium complete at the same angle, wherever the arm was before.
So the time between the completions of two such reads is a whole number of rotations.  The spectrum
of these times has its peak at the rotation's frequency, and a least squares fit of the whole
numbers of rotations makes the period exact.
"""

from dataclasses import dataclass

import numpy as np

from understudy_devices.profiler.from_trace.services import Bools, Floats, Ints, Served
from understudy_devices.profiler.layout.layout import Unseen

FEWEST_PAIRS = 50
MARGIN = 0.25  # relative to the period that the spread of times suggests
BINS_A_TURN = 8
BINS_MOST = 2**22
FINER = 4
PASSES = 4
COHERENT = 0.9  # least length of the mean phase vector: 1 for equal phases, 0 for random phases


@dataclass(frozen=True)
class Turning:
    """Reads of `sectors` sectors, sorted by sector, with their `index` in the trace; `turn` is the
    angle at completion, in rotations.
    """

    period_ns: float
    error_ns: float
    sectors: int
    index: Ints
    sector: Ints
    turn: Floats


def measure(served: Served, hit: Bools, about_ns: float | None) -> Turning | Unseen:
    """Return the angles of the reads that have the most frequent length."""
    if about_ns is None:
        return Unseen("there is no rotation to see")
    medium = served.reads & ~hit
    lengths, counts = np.unique(served.sectors[medium], return_counts=True)
    sectors = int(lengths[counts.argmax()])
    index = np.flatnonzero(medium & (served.sectors == sectors))
    index = index[np.lexsort((served.completion_ns[index], served.sector[index]))]
    sector, completion_ns = served.sector[index], served.completion_ns[index]
    apart_ns = np.diff(completion_ns)[np.diff(sector) == 0].astype(float)
    if len(apart_ns) < FEWEST_PAIRS:
        return Unseen(f"{len(apart_ns)} places were read twice from the medium, too few")
    period_ns = _exact(apart_ns, _coarse(apart_ns, about_ns))
    turns = apart_ns / period_ns
    if abs(np.exp(2j * np.pi * turns).mean()) < COHERENT:
        return Unseen("reads of one place complete at any angle")
    left_ns = (turns - np.round(turns)) * period_ns
    error_ns = float(np.std(left_ns) / np.sqrt((turns**2).sum()))
    return Turning(period_ns, error_ns, sectors, index, sector, completion_ns / period_ns % 1)


def _coarse(apart_ns: Floats, about_ns: float) -> float:
    """Return the period at the peak of the spectrum."""
    width_ns = about_ns / BINS_A_TURN
    bins = (apart_ns / width_ns).astype(int)
    counts = np.bincount(bins[bins < BINS_MOST])
    size = 2 ** (FINER * len(counts)).bit_length()
    power = np.abs(np.fft.rfft(counts, size))
    low, high = (int(size / BINS_A_TURN * factor) for factor in (1 - MARGIN, 1 + MARGIN))
    peak = low + int(np.argmax(power[low : high + 1]))
    return float(width_ns * size / max(peak, 1))


def _exact(apart_ns: Floats, period_ns: float) -> float:
    """Refine the period, first with the pairs nearest in time and then with pairs farther apart, so
    that rotations are never miscounted.
    """
    for part in np.linspace(1 / PASSES, 1, PASSES):
        near_ns = apart_ns[apart_ns <= np.quantile(apart_ns, part)]
        turns = np.round(near_ns / period_ns)
        if turns.any():
            period_ns = float((turns * near_ns).sum() / (turns**2).sum())
    return period_ns
