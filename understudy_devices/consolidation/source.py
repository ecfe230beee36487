# SPDX-License-Identifier: MIT
"""Choose where a simulation takes a VM's service times from: the fitted process, or the trace.

The process is used if it fits.  Otherwise a simulation takes whole requests from the trace, each
with its own service time, in their recorded order from a random request on (sim/arrivals.h).  This
keeps the distribution of the service times, their autocorrelation at every lag, and which service
times follow which arrivals.

A process does not know reads from writes.  So requests are also taken from the trace if reads and
writes take differently long.
"""

import math
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from understudy_devices.consolidation.fit import FEWEST, Array, Fitted, checked, fit
from understudy_devices.consolidation.fit_report import compare
from understudy_devices.consolidation.map import MarkovianArrivalProcess

UNLIKE = 0.1  # as for a poor fit
CHANCE = 1.63  # in the limit, the distance times sqrt(nm / (n + m)) exceeds it once in 100
LEAST = 20  # with fewer service times not even an interval means anything


def chosen(times: ArrayLike, accept_poor: bool = False) -> Fitted:
    """Return the process fitted to a sample (N,) of service times, and whether it is to be used.

    The process is not used if it is fitted poorly, unless `accept_poor`.  Between LEAST and FEWEST
    service times, it is the exponential process of the sample's mean, which is not used.  Raises
    ValueError for an impossible sample.
    """
    sample = checked(times, LEAST)
    if len(sample) < FEWEST:
        return _not_fitted(sample)
    fitted = fit(sample)
    if not fitted.report.poor or accept_poor:
        return fitted
    return replace(fitted, recorded=f"no process fits: {'; '.join(fitted.report.poor)}")


def _not_fitted(sample: Array) -> Fitted:
    rate = 1 / float(sample.mean())
    process = MarkovianArrivalProcess([[-rate]], [[rate]])
    few = f"{len(sample)} are too few to fit a process, which takes {FEWEST}"
    return Fitted(process, compare(sample, process, {}), few)


def by_direction(fitted: Fitted, service_ns: NDArray[np.int64], write: NDArray[np.bool_]) -> Fitted:
    """Return the same fit, not to be used if the service times of reads and writes differ.

    service_ns, write: (N,), of requests of the VM, whether each is a write.
    """
    if fitted.recorded:
        return fitted
    distance = _distance(service_ns[~write], service_ns[write])
    if distance <= UNLIKE:
        return fitted
    why = f"reads and writes take differently long (Kolmogorov-Smirnov distance {distance:.2f})"
    return replace(fitted, recorded=why)


def _distance(reads: NDArray[np.int64], writes: NDArray[np.int64]) -> float:
    """Return the Kolmogorov-Smirnov distance of two samples, less what chance explains; 0 if one of
    them is too small."""
    if min(len(reads), len(writes)) < LEAST:
        return 0.0
    at = np.concatenate([reads, writes])
    shares = [np.searchsorted(np.sort(one), at, side="right") / len(one) for one in (reads, writes)]
    chance = CHANCE * math.sqrt(1 / len(reads) + 1 / len(writes))
    return max(0.0, float(np.abs(shares[0] - shares[1]).max()) - chance)
