# SPDX-License-Identifier: MIT
"""A Markov chain over Erlang branches: the model that is fitted to service times.

Each service time is sampled from the Erlang distribution of one branch, and a chain chooses the
branch of the next service time.  The model is a MAP whose phases are the stages of all branches;
its distribution is hyper-Erlang (Thuemmler, Buchholz and Telek 2006).  The model is also a hidden
Markov model, and is fitted by expectation-maximisation (Baum and Welch).  In this file service
times are scaled to a mean of about 1.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from understudy_devices.consolidation.map import MarkovianArrivalProcess, stationary

Array = NDArray[np.float64]

RARE = 1e-7  # least probability of a change between branches; keeps the chain irreducible
GAIN = 2e-5  # log-likelihood per service time; a fit whose step gains less has converged


@dataclass(frozen=True)
class Branches:
    """K branches and the chain between them.

    shapes (K,): the number of stages of each branch. rates (K,): the rate of each stage of a
    branch. change (K, K): change[i, j] is the probability that branch j follows branch i; each row
    adds up to 1.
    """

    shapes: Array
    rates: Array
    change: Array

    @property
    def order(self) -> int:
        """Return the number of phases of the process."""
        return int(self.shapes.sum())

    @property
    def weights(self) -> Array:
        """Return the fraction (K,) of service times that come from each branch."""
        return stationary(self.change)

    def cv(self) -> float:
        """Return the coefficient of variation."""
        means = self.shapes / self.rates
        second = self.weights @ (means * (self.shapes + 1) / self.rates)
        return float(np.sqrt(second / self.mean() ** 2 - 1))

    def mean(self) -> float:
        """Return the mean service time."""
        return float(self.weights @ (self.shapes / self.rates))

    def autocorrelation(self, lags: int) -> Array:
        """Return the autocorrelation (lags,) at lags 1 to `lags`."""
        means, weights, mean = self.shapes / self.rates, self.weights, self.mean()
        later, result = means - mean, np.empty(lags)
        for lag in range(lags):
            later = self.change @ later
            result[lag] = (weights * means) @ later
        scaled: Array = result / (mean * self.cv()) ** 2
        return scaled

    def process(self, unit: float) -> MarkovianArrivalProcess:
        """Return the MAP, with service times multiplied by `unit`."""
        ends = np.cumsum(self.shapes).astype(int)
        begins, rates = ends - self.shapes.astype(int), self.rates / unit
        stays = np.repeat(rates, self.shapes.astype(int))
        d0 = -np.diag(stays) + np.diag(stays[:-1], 1)
        inner = ends[:-1] - 1
        d0[inner, inner + 1] = 0
        d1 = np.zeros_like(d0)
        d1[np.ix_(ends - 1, begins)] = rates[:, None] * self.change
        return MarkovianArrivalProcess(d0, d1)

    def log_likelihood(self, times: Array) -> float:
        """Return the log-likelihood per service time of B sequences of L service times, (L, B)."""
        return _forward(self, times)[1]

    def improved(self, times: Array, steps: int) -> "Branches":
        """Return the branches after at most `steps` Baum-Welch steps on B sequences, (L, B)."""
        now, before = self, -np.inf
        for _ in range(steps):
            now, likelihood = _step(now, times)
            if likelihood - before < GAIN:
                break
            before = likelihood
        return now


def first_guess(shapes: Array, times: Array) -> Branches:
    """Return branches whose means are spread evenly over the logarithms of the service times."""
    low, high = np.log(np.quantile(times, [0.02, 0.998]))
    places = (np.arange(len(shapes)) + 0.5) / len(shapes)
    means = np.exp(low + places * (high - low))
    size = len(shapes)
    change = 0.5 * np.eye(size) + 0.5 / size
    return Branches(shapes, shapes / means, change)


def _densities(branches: Branches, times: Array) -> tuple[Array, Array]:
    """Return each branch's density at each service time (L, B, K), and logarithms (L, B).

    The densities at each service time are divided by the largest of them, whose logarithm is also
    returned.
    """
    shapes, rates = branches.shapes, branches.rates
    logs = (
        shapes * np.log(rates)
        - gammaln(shapes)
        + np.log(times)[..., None] * (shapes - 1)
        - times[..., None] * rates
    )
    largest = logs.max(axis=-1)
    return np.exp(logs - largest[..., None]), largest


def _forward(branches: Branches, times: Array) -> tuple[Array, float]:
    """Return the filtered probabilities (L, B, K), and the log-likelihood per service time.

    The filtered probabilities are those of the branches, given the service times until now.  Before
    the first service time of a sequence, the branches have their stationary probabilities.
    """
    density, largest = _densities(branches, times)
    filtered = np.empty_like(density)
    scales = np.empty_like(times)
    row = np.broadcast_to(branches.weights, density.shape[1:])
    for place in range(len(times)):
        row = row * density[place]
        scales[place] = row.sum(axis=1)
        filtered[place] = row / scales[place][:, None]
        row = filtered[place] @ branches.change
    return filtered, float(np.mean(np.log(scales) + largest))


def _step(branches: Branches, times: Array) -> tuple[Branches, float]:
    """Return the branches after one Baum-Welch step, and the log-likelihood per service time before
    the step."""
    filtered, likelihood = _forward(branches, times)
    smoothed, ratios = filtered.copy(), np.empty_like(filtered)
    for place in range(len(times) - 2, -1, -1):
        foreseen = filtered[place] @ branches.change
        ratios[place] = smoothed[place + 1] / foreseen  # above 0: any branch may follow
        smoothed[place] = filtered[place] * (ratios[place] @ branches.change.T)
    size = len(branches.shapes)
    changes = branches.change * (filtered[:-1].reshape(-1, size).T @ ratios[:-1].reshape(-1, size))
    shares = smoothed.sum(axis=(0, 1)) + 1e-9
    lasted = np.einsum("lbk,lb->k", smoothed, times) + 1e-9 * branches.shapes / branches.rates
    change = changes / np.maximum(changes.sum(axis=1, keepdims=True), 1e-300) + RARE
    change /= change.sum(axis=1, keepdims=True)
    return Branches(branches.shapes, branches.shapes * shares / lasted, change), likelihood
