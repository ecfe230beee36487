# SPDX-License-Identifier: MIT
"""Intervals for mean response times: how far a mean may be off, since each trace is a sample.

The scenario is simulated for resamples of the traces (sampling.py).  Response times near saturation
are skewed to the right, so the spread is that of the logarithm of the resamples' means, and the
upper limit is raised by the distance from a log-normal median to its mean (Cox's method: Land 1972,
Zhou and Gao 1997).  The spread is stretched if a trace has long-range dependence (sampling.py).
The interval also includes the error of the replications.  Several runs of a VM make it narrower.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from understudy_devices.base.errors import Unstable
from understudy_devices.consolidation.replications import Merge, Replications
from understudy_devices.measure.comparison import Estimate
from understudy_devices.native.open_queue import QueueFigures

RESAMPLES = 40
MOST_REQUESTS = 200_000  # of all VMs in a resample; a longer trace is resampled in part
CONFIDENCE = 0.95
MOST_LOG = math.log(1000)  # from a thousandth to a thousand times the mean: nothing is known


@dataclass(frozen=True)
class Spread:
    """How far a VM's mean may be off.

    deviation: standard deviation of the logarithm of the mean; infinite if a resample is unstable.
    freedom: its degrees of freedom.
    """

    deviation: float
    freedom: float

    def limits(self, mean: Estimate) -> tuple[float, float]:
        """Return the 95 % interval, in the unit of the mean: 0 to infinity if nothing is known."""
        own = (mean.half_width or 0.0) / mean.mean
        most = math.hypot(_quantile(self.freedom) * self.deviation, own)
        if not most <= MOST_LOG:
            return 0.0, math.inf
        above = most + self.deviation**2 / 2
        return mean.mean * math.exp(-most), mean.mean * math.exp(above)


def limits_of(mean: Estimate) -> tuple[float, float] | None:
    """Return the interval for the draws of the replications alone; None if there is one."""
    half = mean.half_width
    return None if half is None else (mean.mean - half, mean.mean + half)


def spreads(replications: Replications, merge: Merge) -> tuple[Spread, ...]:
    """Simulate resamples of the traces; return each VM's spread."""
    tenants = replications.scenario.tenants
    requests = sum(tenant.vm.requests / len(tenant.vm.runs) for tenant in tenants)
    part = min(1.0, MOST_REQUESTS / requests)
    figures = replications.resampled(RESAMPLES, merge, part)
    stable = [one for one in figures if not isinstance(one, Unstable)]
    if len(stable) < len(figures):
        return tuple(Spread(math.inf, 1.0) for _ in tenants)
    runs = min(len({run.name for run in tenant.vm.runs}) for tenant in tenants)
    freedom = runs * min(run.sample.freedom for tenant in tenants for run in tenant.vm.runs)
    stretch = max(run.sample.stretch for tenant in tenants for run in tenant.vm.runs)
    return tuple(
        spread_of(_means(stable, k), part, runs, freedom, stretch) for k in range(len(tenants))
    )


def spread_of(
    means: Sequence[float], part: float, runs: int, freedom: float, stretch: float = 1.0
) -> Spread:
    """Return the spread of a VM's mean from its means in resamples.

    part: the simulated part of a run's length. runs: the number of runs that the VM has. freedom:
    the degrees of freedom of all of them. stretch: that of the traces' samples (sampling.py).
    """
    deviation = float(np.std(np.log(means), ddof=1)) if len(means) > 1 else math.inf
    together = 1 / (1 / freedom + 1 / (RESAMPLES - 1))
    return Spread(deviation * stretch * math.sqrt(part / runs), together)


def _means(figures: Sequence[QueueFigures], k: int) -> list[float]:
    return [one.each[k].response.mean for one in figures if one.each[k].requests]


def _quantile(freedom: float) -> float:
    from scipy.special import stdtrit  # imported here, since the import takes half a second

    return float(stdtrit(freedom, (1 + CONFIDENCE) / 2))
