# SPDX-License-Identifier: MIT
"""Choose where a simulation takes a VM's service times from: the fitted process, or the trace.

The process is used if it fits.  Otherwise a simulation takes whole requests from the trace, each
with its own service time, in their recorded order from a random request on (sim/arrivals.h).  This
keeps the distribution of the service times, their autocorrelation at every lag, and which service
times follow which arrivals.
"""

from dataclasses import replace

from numpy.typing import ArrayLike

from understudy_devices.consolidation.fit import FEWEST, Array, Fitted, checked, fit
from understudy_devices.consolidation.fit_report import compare
from understudy_devices.consolidation.map import MarkovianArrivalProcess

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
