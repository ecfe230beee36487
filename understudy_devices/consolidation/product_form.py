# SPDX-License-Identifier: MIT
"""Compute response times by a product-form queueing network (ICPE 2011, section 5.3.2), and the
error of predictions.

The product form is a reference with which the simulation is compared: classes share n servers,
without merging, splitting or bursts.  The unit of rates is the inverse of the unit of demands;
results have the unit of demands.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

FULL = 0.99  # utilisation that replaces any utilisation of 1 or more


def response_times(demands: ArrayLike, rates: ArrayLike, servers: int) -> Array:
    """Return each class's mean response time (K,), by Eq. 11, from its service demand and arrival
    rate.

    A utilisation of 1 or more counts as 0.99, as in the paper.  ValueError names a wrong argument.
    """
    demand, rate = _positive("demand", demands), _positive("rate", rates)
    if len(demand) != len(rate):
        raise ValueError(f"{len(demand)} demands and {len(rate)} rates: give one of each per class")
    if servers < 1:
        raise ValueError(f"{servers} servers: must be 1 or more")
    load = float(rate @ demand) / servers
    result: Array = demand / (1 - (load if load < 1 else FULL))
    return result


def mean_relative_error(estimated: ArrayLike, measured: ArrayLike) -> float:
    """Return the mean relative error over all classes (Eq. 13), relative to the measured times.

    The paper prints the estimate in the denominator, but computed its Table 5 with the measured
    response time there.
    """
    estimate, measurement = _positive("estimate", estimated), _positive("measurement", measured)
    if len(estimate) != len(measurement):
        raise ValueError(
            f"{len(estimate)} estimates and {len(measurement)} measurements: give one per class"
        )
    return float(np.mean(np.abs(estimate - measurement) / measurement))


def expected_queue_length(isolated: ArrayLike) -> float:
    """Return the mean number of requests in the system when all classes run (Eq. 7): the sum of the
    numbers measured when each class ran alone."""
    return float(_positive("queue length", isolated).sum())


def _positive(name: str, sequence: ArrayLike) -> Array:
    values = np.asarray(sequence, dtype=np.float64)
    if values.ndim != 1 or not len(values):
        raise ValueError(f"{name}s of shape {values.shape}: give a list with one per class")
    wrong = np.flatnonzero(~(np.isfinite(values) & (values > 0)))
    if len(wrong):
        place = int(wrong[0])
        raise ValueError(
            f"{name} of class {place} is {values[place]:.6g}: must be finite and above 0"
        )
    return values
