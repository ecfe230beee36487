# SPDX-License-Identifier: MIT
"""How far the 95th percentiles of an assignment may be off, since each trace is only a sample.

The same resamples of the traces as for a prediction of `consolidate` (intervals.py), but of the
95th percentiles instead of the means.  It takes many simulations, so only the final assignment is
examined.
"""

from collections.abc import Mapping
from dataclasses import replace
from math import isfinite

from understudy_devices.base.errors import Unstable
from understudy_devices.base.progress import Report, silent
from understudy_devices.consolidation.intervals import spreads
from understudy_devices.consolidation.placement.problem import Problem
from understudy_devices.consolidation.placement.search import Outcome
from understudy_devices.consolidation.placement.simulation import CELL, Simulated
from understudy_devices.consolidation.replications import Merge, Replications
from understudy_devices.measure.comparison import Estimate
from understudy_devices.native.open_queue import ClassFigures, QueueFigures

Limits = Mapping[int, tuple[float, float]]
"""The 95 % interval of each VM's 95th percentile, in ms; the upper limit may be infinite."""


class _Percentiles(Replications):
    """Replications of which each response time's mean is replaced by its 95th percentile."""

    def resampled(self, count: int, merge: Merge, part: float) -> list[QueueFigures | Unstable]:
        return [
            one
            if isinstance(one, Unstable)
            else replace(one, each=tuple(map(_of_percentile, one.each)))
            for one in super().resampled(count, merge, part)
        ]


def _of_percentile(figures: ClassFigures) -> ClassFigures:
    p95_ns = float(figures.response_percentiles[95])
    return replace(figures, response=replace(figures.response, mean=p95_ns))


def limits_ms(
    judge: Simulated, problem: Problem, outcome: Outcome, report: Report = silent
) -> Limits:
    """Simulate resamples of the traces; return the interval of each VM of the assignment.

    A VM has none if its device's requests pile up.
    """
    limits: dict[int, tuple[float, float]] = {}
    devices = list(zip(problem.devices, outcome.verdicts, strict=True))
    for rank, (device, verdict) in enumerate(devices):
        report("resamples of the traces", rank / len(devices))
        vms = tuple(verdict)
        if not all(isfinite(one.most_ms) for one in verdict.values()):
            continue
        scenario = judge.scenario(device, vms)
        replications = _Percentiles(scenario, judge.seed, judge.engine, judge.at_once)
        each = spreads(replications, (judge.merge,) * len(vms)) if vms else ()
        for vm, spread in zip(vms, each, strict=True):
            p95 = verdict[vm]
            half = max(0.0, p95.most_ms / (1 + CELL) - p95.mean_ms)
            limits[vm] = spread.limits(Estimate(p95.mean_ms, half))
    return limits
