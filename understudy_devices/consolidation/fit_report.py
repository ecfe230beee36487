# SPDX-License-Identifier: MIT
"""Compare a fitted process with its sample (moments, autocorrelation, likelihood, distribution),
and decide whether the fit is poor."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from understudy_devices.base import file_arrays
from understudy_devices.consolidation.map import MarkovianArrivalProcess
from understudy_devices.traces.characterise import autocorrelation, std

Array = NDArray[np.float64]

LAGS = 100
JUDGED_LAGS = 10
FAR_LAGS = ((11, 30), (31, 100))  # lags whose mean autocorrelation is judged
MEAN, CV, AUTOCORRELATION, DISTANCE = 0.01, 0.05, 0.05, 0.1  # limits of a poor fit
CHANCE = 3.0  # an autocorrelation's error may be this many standard errors 1 / sqrt(N) by chance
POINTS = 1000  # points at which both distributions, sample's and process's, are compared


@dataclass(frozen=True)
class Figures:
    """Moments and autocorrelations of a sample or of a process.

    moments: the first three moments, in powers of the unit. autocorrelation: (LAGS,), at lags 1 to
    LAGS.
    """

    moments: tuple[float, float, float]
    cv: float
    autocorrelation: Array


@dataclass(frozen=True)
class Report:
    """How well a process matches its sample.

    held_out: the log-likelihood per service time of the blocks that were held out of the fit, for
    each kind of process. A kind is given by the number of stages of each branch. The unit of time
    is the mean service time. distance: the Kolmogorov-Smirnov distance, with an error of at most 1
    / POINTS. poor: the reasons why the fit is poor; empty if the fit is good.
    """

    given: Figures
    fitted: Figures
    held_out: dict[tuple[int, ...], float]
    distance: float
    poor: tuple[str, ...]


def autocorrelations(times: Array, lags: int) -> Array:
    """Return the autocorrelations of a sample (N,) at lags 1 to `lags`; 0 for a constant sample.

    It is 0 at lags of half the sample or more, where a sample says nothing.
    """
    known = min(lags, len(times) // 2)
    by_lag = autocorrelation(times, range(1, known + 1))
    result = np.zeros(lags)
    result[:known] = [value or 0.0 for value in by_lag.values()]
    return result


def lag_limit(times: int) -> float:
    """Return the limit for an error of an autocorrelation; above this limit the fit is poor.

    `times` is the number of service times in the sample.
    """
    return max(AUTOCORRELATION, CHANCE / math.sqrt(times))


def compare(
    times: Array, process: MarkovianArrivalProcess, held_out: dict[tuple[int, ...], float]
) -> Report:
    """Compare the sample (N,) with the process; both are in the same unit."""
    given = Figures(
        (_moment(times, 1), _moment(times, 2), _moment(times, 3)),
        std(times) / float(times.mean()),
        autocorrelations(times, LAGS),
    )
    fitted = Figures(
        (process.moment(1), process.moment(2), process.moment(3)),
        process.cv,
        process.autocorrelation(LAGS),
    )
    distance = _distance(times, process)
    poor = (
        *_poor_moments(given, fitted, process.order),
        *_poor_lags(given, fitted, len(times)),
        *_poor_far_lags(given, fitted, len(times)),
        *_poor_distance(distance),
    )
    return Report(given, fitted, held_out, distance, poor)


def _moment(times: Array, power: int) -> float:
    return float(file_arrays.each(lambda part: part**power, times).mean())


def _distance(times: Array, process: MarkovianArrivalProcess) -> float:
    ordered = file_arrays.each(np.copy, times)
    ordered.sort()
    places = np.unique(np.linspace(0, len(times) - 1, POINTS).astype(int))
    points = ordered[places]
    reached = 1 - process.survival(points)
    below = np.searchsorted(ordered, points, side="left") / len(times)
    upto = np.searchsorted(ordered, points, side="right") / len(times)
    return float(np.maximum(reached - below, upto - reached).max())


def _poor_moments(given: Figures, fitted: Figures, order: int) -> Iterator[str]:
    if abs(fitted.moments[0] / given.moments[0] - 1) > MEAN:
        yield f"a mean of {fitted.moments[0]:.4g} for {given.moments[0]:.4g}"
    if abs(fitted.cv - given.cv) > CV * given.cv:
        narrow = f", and {order} phases can't be narrower" if given.cv**2 < 1 / order else ""
        yield f"a coefficient of variation of {fitted.cv:.3g} for {given.cv:.3g}{narrow}"


def _poor_lags(given: Figures, fitted: Figures, times: int) -> Iterator[str]:
    off = np.abs(fitted.autocorrelation - given.autocorrelation)[:JUDGED_LAGS]
    lag = int(off.argmax())
    if off[lag] > lag_limit(times):
        yield (
            f"an autocorrelation at lag {lag + 1} of {fitted.autocorrelation[lag]:.3f} "
            f"for {given.autocorrelation[lag]:.3f}"
        )


def _poor_far_lags(given: Figures, fitted: Figures, times: int) -> Iterator[str]:
    """Yield ranges of lags whose mean autocorrelation is off.

    Long runs of similar service times fill a queue even if each lag's autocorrelation is small.
    """
    for first, last in FAR_LAGS:
        lags = slice(first - 1, last)
        pair = [float(one.autocorrelation[lags].mean()) for one in (fitted, given)]
        if last <= times // 2 and abs(pair[0] - pair[1]) > lag_limit(times):
            yield (
                f"a mean autocorrelation at lags {first} to {last} of {pair[0]:.3f} "
                f"for {pair[1]:.3f}"
            )


def _poor_distance(distance: float) -> Iterator[str]:
    if distance > DISTANCE:
        yield f"a Kolmogorov-Smirnov distance of {distance:.3f}"
