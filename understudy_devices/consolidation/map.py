# SPDX-License-Identifier: MIT
"""A Markovian arrival process, as a source of service times (ICPE 2011, section 4.2.2).

A Markov chain moves among n phases.  D0 holds the rates of moves without an event.  D1 holds the
rates of moves that end one service time and begin the next one.  The diagonal of D0 makes each row
of D0 + D1 add up to 0.  A service time begins in the phase that the chain enters at the end of the
previous service time, so successive service times are correlated.  Rates are per unit of time;
service times have the same unit, which may be any.

The formulas are from a textbook (Neuts, Matrix-Geometric Solutions, 1981).  The code applies the
formulas to rates scaled to a mean service time of 1, because the rates of disks span many orders of
magnitude.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import factorial
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.csgraph import connected_components

Array = NDArray[np.float64]

ROW_SUM = 1e-9  # largest sum of a row of D0 + D1, as a fraction of the row's diagonal
TERMS = 18  # terms of the exponential series; exact to 1e-16 for an argument of at most 1
BLOCK = 4096  # service times whose matrices are in memory at the same time
CHUNK = 1 << 16  # moves of the chain that are sampled at the same time


class Tables(NamedTuple):
    """Tables from which a program samples the process's service times; each row is a phase.

    rates: (n,), the inverse of the mean time in each phase. cumulative: (n, 2n), the cumulative
    probabilities of the 2n outcomes of leaving a phase; the last entry of a row is exactly 1.
    Outcome j below n is a move to phase j; outcome n + j is a move to phase j that also ends the
    service time.  A random number u in [0, 1) selects the first outcome whose entry is above u.
    start: (n,), the cumulative probabilities of the phase in which a service time begins.
    """

    rates: Array
    cumulative: Array
    start: Array


@dataclass(frozen=True)
class MarkovianArrivalProcess:
    """The process with the matrices D0 and D1, both (n, n).

    The constructor checks both matrices; its ValueError names the wrong entry.
    """

    d0: Array
    d1: Array

    def __init__(self, d0: ArrayLike, d1: ArrayLike) -> None:
        """Copy both matrices; the copies must not be changed."""
        for name, rates in (("d0", d0), ("d1", d1)):
            matrix = np.array(rates, dtype=np.float64)
            matrix.flags.writeable = False
            object.__setattr__(self, name, matrix)
        _check(self.d0, self.d1)

    @property
    def order(self) -> int:
        """Return the number of phases."""
        return len(self.d0)

    @cached_property
    def start(self) -> Array:
        """Return the stationary probability (n,) that a service time begins in each phase."""
        ends = stationary(self.d0 + self.d1) @ self.d1
        result: Array = ends / ends.sum()
        return result

    @cached_property
    def mean(self) -> float:
        """Return the mean service time."""
        return float(self.start @ np.linalg.solve(-self.d0, np.ones(self.order)))

    @cached_property
    def _scaled(self) -> tuple[Array, Array]:
        """Return (-D0)^-1 and D1, both for rates scaled to a mean service time of 1."""
        inverse = np.linalg.inv(-self.d0 * self.mean).astype(np.float64)
        return inverse, self.d1 * self.mean

    def moment(self, power: int) -> float:
        """Return the moment E[X^k] = k! start (-D0)^-k 1, where k is `power`."""
        if power < 1:
            raise ValueError(f"moment {power}: must be 1 or more")
        row = self.start
        for _ in range(power):
            row = row @ self._scaled[0]
        return float(factorial(power) * row.sum()) * self.mean**power

    @property
    def cv(self) -> float:
        """Return the coefficient of variation: the standard deviation divided by the mean."""
        return float(np.sqrt(self.moment(2) / self.mean**2 - 1))

    def autocorrelation(self, lags: int) -> Array:
        """Return the autocorrelation (lags,) at lags 1 to `lags`."""
        if lags < 1:
            raise ValueError(f"{lags} lags: must be 1 or more")
        inverse, ends = self._scaled
        row, later = self.start @ inverse, inverse.sum(axis=1)
        together = np.empty(lags)
        for lag in range(lags):
            row = row @ inverse @ ends
            together[lag] = row @ later
        result: Array = (together - 1) / self.cv**2
        return result

    def density(self, times: ArrayLike) -> Array:
        """Return the probability density at each of these service times, per unit of time."""
        return self._by_time(times, self.d1.sum(axis=1))

    def survival(self, times: ArrayLike) -> Array:
        """Return the probabilities that a service time is longer than each of `times`."""
        return self._by_time(times, np.ones(self.order))

    def log_likelihood(self, times: ArrayLike) -> float:
        """Return the logarithm of the density of these service times in this order.

        The forward algorithm multiplies a row vector of length n by exp(D0 x) D1 for each service
        time x, and scales the vector to a sum of 1.  The matrices are computed in blocks.  In each
        block, adjacent matrices are multiplied in pairs until one is left, so that no Python loop
        is as long as the sample.  Raises ValueError if a service time is not above 0.
        """
        checked = _times(times)
        row, total = self.start, 0.0
        for begin in range(0, len(checked), BLOCK):
            matrices, logs = self._stays(checked[begin : begin + BLOCK])
            product, log = _product(matrices @ self.d1)
            row = row @ product
            total += float(logs.sum()) + log + float(np.log(row.sum()))
            row = row / row.sum()
        return total

    def tables(self) -> Tables:
        """Return the tables for a program that samples service times from this process."""
        rates = -np.diag(self.d0)
        moves = np.hstack([self.d0 + np.diag(rates), self.d1])
        return Tables(rates, _cumulative(moves), _cumulative(self.start[None])[0])

    def sample(self, count: int, seed: int) -> Array:
        """Sample `count` successive service times; the first phase is sampled from `start`.

        The same seed produces the same service times.  This function simulates about a million
        moves of the chain per second; a compiled program that uses `tables` is faster.
        """
        if count < 0:
            raise ValueError(f"{count} times: must be 0 or more")
        random = np.random.default_rng(seed)
        rates, cumulative, start = self.tables()
        phase = int(np.searchsorted(start, random.random(), side="right"))
        times: list[Array] = []
        unfinished, total = 0.0, 0
        while total < count:
            phases, ends, phase = _walk(cumulative, phase, random.random(CHUNK))
            stays = random.standard_exponential(CHUNK) / rates[phases]
            finished, unfinished = _sum_up(stays, ends, unfinished)
            times.append(finished)
            total += len(finished)
        return np.concatenate([np.empty(0), *times])[:count]

    def _by_time(self, times: ArrayLike, column: Array) -> Array:
        checked = _times(times)
        result = np.empty(len(checked))
        for begin in range(0, len(checked), BLOCK):
            part = slice(begin, begin + BLOCK)
            matrices, logs = self._stays(checked[part])
            result[part] = (self.start @ matrices @ column) * np.exp(logs)
        return result

    def _stays(self, times: Array) -> tuple[Array, Array]:
        """Return exp(D0 x) for each of m service times x.

        The result is scaled matrices (m, n, n) and the logarithms (m,) of their scale factors.  The
        method is uniformisation: with the largest rate q, D0 / q + 1 has no negative entry, so its
        exponential series has no cancellation.  The argument of the series is halved until it is at
        most 1, and the result is squared as often; this has no cancellation either.
        """
        fastest = float(-np.diag(self.d0).min())
        jumps = self.d0 / fastest + np.eye(self.order)
        halvings = np.maximum(0, np.ceil(np.log2(fastest * times))).astype(np.int64)
        small = fastest * times / np.exp2(halvings)
        term = np.broadcast_to(np.eye(self.order), (len(times), self.order, self.order))
        result = term.copy()
        for power in range(1, TERMS):
            term = (term @ jumps) * (small / power)[:, None, None]
            result += term
        logs = -small
        for done in range(int(halvings.max(initial=0))):
            again = np.flatnonzero(halvings > done)
            squares = result[again] @ result[again]
            largest = squares.max(axis=(1, 2))
            result[again] = squares / largest[:, None, None]
            logs[again] = 2 * logs[again] + np.log(largest)
        return result, logs


def stationary(generator: Array) -> Array:
    """Return the stationary probabilities (n,) of an irreducible chain, from its rates (n, n).

    The method is elimination without subtraction (Grassmann, Taksar and Heyman 1985), which does
    not read the diagonal.
    """
    rates = generator.copy()
    size = len(rates)
    for last in range(size - 1, 0, -1):
        rates[:last, last] /= rates[last, :last].sum()
        rates[:last, :last] += np.outer(rates[:last, last], rates[last, :last])
    result = np.ones(size)
    for phase in range(1, size):
        result[phase] = result[:phase] @ rates[:phase, phase]
        result[: phase + 1] /= result[: phase + 1].sum()
    return result


def _check(d0: Array, d1: Array) -> None:
    if d0.ndim != 2 or d0.shape[0] != d0.shape[1] or d0.shape != d1.shape or not d0.size:
        raise ValueError(f"D0 is {d0.shape} and D1 {d1.shape}: both must be n x n, n above 0")
    off = d0 - np.diag(np.diag(d0))
    _refuse("D0", d0, ~np.isfinite(d0), "must be finite")
    _refuse("D1", d1, ~np.isfinite(d1), "must be finite")
    _refuse("D0", d0, off < 0, "a rate off the diagonal must be 0 or more")
    _refuse("D1", d1, d1 < 0, "a rate must be 0 or more")
    _refuse("D0", d0, np.diag(np.diag(d0) >= 0), "the diagonal must be below 0")
    sums = (d0 + d1).sum(axis=1)
    wrong = np.flatnonzero(np.abs(sums) > ROW_SUM * -np.diag(d0))
    if len(wrong):
        row = int(wrong[0])
        raise ValueError(
            f"row {row} of D0 + D1 adds up to {sums[row]:.6g}: must be 0; "
            f"D0[{row}, {row}] should be {d0[row, row] - sums[row]:.6g}"
        )
    if not d1.any():
        raise ValueError("D1 is 0 throughout: no time would ever end")
    parts, part = connected_components((off + d1) > 0, directed=True, connection="strong")
    if parts > 1:
        other = int(np.flatnonzero(part != part[0])[0])
        raise ValueError(f"phases 0 and {other} do not lead to each other: not irreducible")


def _refuse(name: str, matrix: Array, wrong: NDArray[np.bool_], why: str) -> None:
    places = np.argwhere(wrong)
    if len(places):
        row, column = (int(place) for place in places[0])
        raise ValueError(f"{name}[{row}, {column}] is {matrix[row, column]:.6g}: {why}")


def _times(times: ArrayLike) -> Array:
    checked = np.atleast_1d(np.asarray(times, dtype=np.float64))
    wrong = np.flatnonzero(~(np.isfinite(checked) & (checked > 0)))
    if len(wrong):
        place = int(wrong[0])
        raise ValueError(f"time {place} is {checked[place]:.6g}: must be finite and above 0")
    return checked


def _product(matrices: Array) -> tuple[Array, float]:
    """Return the scaled product of m matrices (m, n, n) in order, and the logarithm of its scale
    factor."""
    log = 0.0
    while True:
        largest = matrices.max(axis=(1, 2))
        log += float(np.log(largest).sum())
        matrices = matrices / largest[:, None, None]
        if len(matrices) == 1:
            return matrices[0], log
        even = len(matrices) // 2 * 2
        pairs = matrices[0:even:2] @ matrices[1:even:2]
        matrices = np.concatenate([pairs, matrices[even:]])


def _cumulative(weights: Array) -> Array:
    """Return the cumulative probabilities of each row; from the last possible outcome on, they are
    exactly 1."""
    sums = np.cumsum(weights, axis=1)
    result: Array = np.where(sums == sums[:, -1:], 1.0, sums / sums[:, -1:])
    return result


def _walk(
    cumulative: Array, phase: int, uniform: Array
) -> tuple[NDArray[np.int64], NDArray[np.bool_], int]:
    """Simulate moves of the chain.

    Return the phase that each move leaves, whether the move ends a service time, and the phase
    after the last move.
    """
    size = len(cumulative)
    moves = _outcomes(cumulative, uniform).tolist()
    left: list[int] = []
    outcomes: list[int] = []
    for move in moves:
        left.append(phase)
        outcome = move[phase]
        outcomes.append(outcome)
        phase = outcome % size
    return np.array(left), np.array(outcomes) >= size, phase


def _outcomes(cumulative: Array, uniform: Array) -> NDArray[np.int64]:
    """Return the outcome (m, n) of each of m random numbers in each of n phases."""
    columns: Sequence[NDArray[np.intp]] = [
        np.searchsorted(row, uniform, side="right") for row in cumulative
    ]
    return np.stack(columns, axis=1).astype(np.int64)


def _sum_up(stays: Array, ends: NDArray[np.bool_], before: float) -> tuple[Array, float]:
    """Return the service times that end within these moves, and the elapsed part of the service
    time that has not ended after the last move."""
    places = np.flatnonzero(ends)
    if not len(places):
        return np.empty(0), before + float(stays.sum())
    begins = np.concatenate([[0], places[:-1] + 1])
    # reduceat adds the elements from each index in `begins` up to the next index
    finished = np.add.reduceat(stays[: places[-1] + 1], begins)
    finished[0] += before
    return finished, float(stays[places[-1] + 1 :].sum())
