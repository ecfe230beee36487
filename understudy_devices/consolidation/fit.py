# SPDX-License-Identifier: MIT
"""Fit a Markovian arrival process to measured service times (ICPE 2011, section 4.2.2).

Chains over Erlang branches (`branches.py`) of several orders are fitted to every second block of
the sample, and compared by their likelihood for the other blocks.  The best chains are fitted to
all blocks.  These chains are then changed as little as possible to match the sample's mean,
coefficient of variation and autocorrelation.  The fit uses no random numbers, so it needs no seed.

The service times must be in the order in which the requests were served; they may be in any unit.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import least_squares

from understudy_devices.base import file_arrays
from understudy_devices.consolidation.branches import Branches, first_guess
from understudy_devices.consolidation.fit_report import (
    CV,
    JUDGED_LAGS,
    Report,
    autocorrelations,
    compare,
    lag_limit,
)
from understudy_devices.consolidation.map import MarkovianArrivalProcess
from understudy_devices.traces.characterise import std

Array = NDArray[np.float64]

FEWEST = 300  # least number of service times
WIDEST = 1e60  # largest mean service time, in the caller's unit: its powers must not overflow
HIGHEST = 16  # most phases; with 16 the coefficient of variation can't be below 1/4
BLOCK, BLOCKS = 256, 200  # service times in a block, which is one sequence; most blocks
TRIAL_BLOCK, TRIAL_BLOCKS = 64, 320  # the same for comparisons; half of the blocks are held out
TRIAL_STEPS, STEPS = 25, 60
ALIKE = 2e-3  # below this difference in log-likelihood per time the smaller process is chosen
SHAPES: tuple[tuple[int, ...], ...] = (
    *((stages,) for stages in (1, 2, 3, 4, 5, 6, 8, 12, 16)),
    *((1,) * branches for branches in (2, 3, 4, 5, 6)),
    (2, 1), (2, 2), (4, 2), (4, 4), (8, 2), (8, 8), (12, 4), (2, 2, 2), (8, 4, 4), (4, 4, 4, 4),
)  # fmt: skip


@dataclass(frozen=True)
class Fitted:
    """The process, in the sample's unit, and a report on how well it matches the sample.

    recorded: why a simulation uses recorded service times instead of the process (source.py); empty
    if it uses the process.
    """

    process: MarkovianArrivalProcess
    report: Report
    recorded: str = ""


def fit(times: ArrayLike) -> Fitted:
    """Fit a process to a sample (N,) of service times, in order of service.

    Raises ValueError for an impossible sample.  The report has the reasons if the fit is poor.  If
    the service times vary less than an Erlang distribution of 16 stages, the result is such a
    distribution.
    """
    sample = checked(times)
    unit = float(sample.mean())
    scaled = file_arrays.each(lambda part: part / unit, sample)
    if std(scaled) < HIGHEST**-0.5:
        only = Branches(np.array([HIGHEST]), np.array([float(HIGHEST)]), np.eye(1))
        return _reported(sample, only.process(unit), {(HIGHEST,): float("nan")})
    held_out, trials = _compared(scaled)
    matched = _best(scaled, held_out, trials)
    return _reported(sample, matched.process(unit / matched.mean()), held_out)


def checked(times: ArrayLike, fewest: int = FEWEST) -> Array:
    """Return the sample as floats; raise ValueError for an impossible one, or a smaller one."""
    shape = np.shape(times)
    if len(shape) != 1:
        raise ValueError(f"service times of shape {shape}: a list is needed")
    if shape[0] < fewest:
        raise ValueError(
            f"{shape[0]} service times: at least {fewest} are needed; give a longer trace"
        )
    sample = file_arrays.each(lambda part: part.astype(np.float64), np.asarray(times))
    possible = file_arrays.each(lambda part: np.isfinite(part) & (part > 0), sample)
    wrong = np.flatnonzero(~possible)
    if len(wrong):
        place = int(wrong[0])
        raise ValueError(
            f"service time {place} is {sample[place]:.6g}: must be finite and above 0; "
            f"{len(wrong)} of {len(sample)} are not, leave them out"
        )
    if not 1 / WIDEST < sample.mean() < WIDEST:
        raise ValueError(
            f"a mean service time of {sample.mean():.6g}: must be between {1 / WIDEST:g} and "
            f"{WIDEST:g}; give the times in another unit, such as ms"
        )
    return sample


def _reported(
    sample: Array, process: MarkovianArrivalProcess, held_out: dict[tuple[int, ...], float]
) -> Fitted:
    return Fitted(process, compare(sample, process, held_out))


def _blocks(times: Array, length: int, most: int) -> Array:
    """Return at most `most` blocks of consecutive service times (L, B), at regular intervals.

    The last service times are left out if they do not fill a block.
    """
    length = min(length, len(times) // 4)
    whole = times[: len(times) // length * length].reshape(-1, length)
    chosen = np.linspace(0, len(whole) - 1, min(most, len(whole))).astype(int)
    return np.ascontiguousarray(whole[chosen].T)


def _compared(times: Array) -> tuple[dict[tuple[int, ...], float], dict[tuple[int, ...], Branches]]:
    """Return, for each kind of process, the log-likelihood per service time of the blocks held out
    of the fit, and the fitted branches."""
    blocks = _blocks(times, TRIAL_BLOCK, TRIAL_BLOCKS)
    train, later = blocks[:, ::2].copy(), blocks[:, 1::2].copy()
    held_out, trials = {}, {}
    for shapes in SHAPES:
        guess = first_guess(np.array(shapes), train)
        trials[shapes] = guess.improved(train, TRIAL_STEPS)
        held_out[shapes] = trials[shapes].log_likelihood(later)
    return held_out, trials


def _best(
    times: Array,
    held_out: dict[tuple[int, ...], float],
    trials: dict[tuple[int, ...], Branches],
) -> Branches:
    """Return the best process, fitted to all blocks and matched to the sample's figures.  The four
    best kinds of process are tried; of kinds that are about equally likely the smallest is
    first."""
    blocks, cv = _blocks(times, BLOCK, BLOCKS), std(times)
    target = autocorrelations(times, JUDGED_LAGS)
    top = max(held_out.values())
    ranked = sorted(
        held_out, key=lambda shapes: (max(0.0, top - ALIKE - held_out[shapes]), sum(shapes))
    )
    tried: list[tuple[float, Branches]] = []
    for shapes in ranked[:4]:
        matched = _matched(trials[shapes].improved(blocks, STEPS), cv, target)
        off = _off(matched, cv, target, lag_limit(len(times)))
        if off < 1:
            return matched
        tried.append((off, matched))
    return min(tried, key=lambda one: one[0])[1]


def _off(branches: Branches, cv: float, target: Array, limit: float) -> float:
    """Return how far the branches' figures are from the sample's; above 2 the fit is poor."""
    lags = np.abs(branches.autocorrelation(len(target)) - target).max()
    return float(max(2 * lags / limit, 2 * abs(branches.cv() / cv - 1) / CV))


def _matched(branches: Branches, cv: float, target: Array) -> Branches:
    """Return branches changed as little as possible to match the sample's figures and a mean of 1.

    The method is least squares.  Its variables are the logarithms of the rates and of the
    probabilities of `change`.  Changes of the distribution's shape are penalised.
    """
    size = len(branches.shapes)
    rates, odds = np.log(branches.rates), np.log(branches.change)
    weights = branches.weights

    def moved(by: Array) -> Branches:
        change = np.exp(np.clip(odds + by[size:].reshape(size, size), -30, 30))
        change = change / change.sum(axis=1, keepdims=True) + 1e-12
        change /= change.sum(axis=1, keepdims=True)
        return Branches(branches.shapes, np.exp(np.clip(rates + by[:size], -30, 30)), change)

    def misses(by: Array) -> Array:
        now = moved(by)
        figures = [(now.mean() - 1) / 0.001, (now.cv() / cv - 1) / 0.005]
        lags = (now.autocorrelation(len(target)) - target) / 0.01
        shifted = [weights * by[:size] / 0.02, (now.weights - weights) / 0.01]
        return np.concatenate([figures, lags, 0.3 * by, *shifted])

    return moved(least_squares(misses, np.zeros(size + size * size), max_nfev=40).x)
