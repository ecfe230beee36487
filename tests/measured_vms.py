# SPDX-License-Identifier: MIT
"""VMs that were measured alone, and what was simulated of them, made from a few numbers."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from understudy_devices.consolidation.fit import Fitted
from understudy_devices.consolidation.fit_report import compare
from understudy_devices.consolidation.map import MarkovianArrivalProcess
from understudy_devices.consolidation.scenario import Tenant
from understudy_devices.consolidation.vm import Run, VirtualMachine
from understudy_devices.native.arrivals import write_arrivals
from understudy_devices.native.figures import Moments
from understudy_devices.native.open_queue import ClassFigures, QueueFigures

MS = 10**6


def run(
    folder: Path,
    at_ms: Sequence[float],
    response_ms: Sequence[float],
    pieces: Sequence[int] | None = None,
    contradiction: str | None = None,
) -> Run:
    """Return a run named after its folder.  A request's service takes half of its response time."""
    of_each = np.array(pieces or [1] * len(at_ms))
    folder.mkdir(parents=True)
    arrival_ns = (np.array(at_ms) * MS).astype(np.int64)
    response_ns = (np.array(response_ms) * MS).astype(np.int64)
    return Run(
        name=folder.name,
        arrivals=write_arrivals(folder, arrival_ns, of_each, np.maximum(1, response_ns // 2)),
        response_ns=response_ns,
        sectors=np.full(len(at_ms), 8),
        splitting_ratio=float(of_each.mean()),
        sizes=[len(at_ms), 1, 0],
        interarrival_ms=np.diff(at_ms),
        notes=(),
        contradiction=contradiction,
    )


def fitted(mean_ms: float, off: float = 1.0) -> Fitted:
    """Return the exponential process of this mean, and the report on a sample whose mean is
    `off` times as large."""
    rate = 1 / (mean_ms * MS)
    process = MarkovianArrivalProcess([[-rate]], [[rate]])
    sample = -np.log1p(-(np.arange(2000) + 0.5) / 2000) / rate * off
    return Fitted(process, compare(np.random.default_rng(1).permutation(sample), process, {}))


def tenant(name: str, *runs: Run, mean_ms: float = 5.0, weight: int = 1) -> Tenant:
    return Tenant(VirtualMachine(name, runs), fitted(mean_ms), weight)


def class_figures(mean_ms: float, in_system: float = 1.0, p95_ms: float = 0.0) -> ClassFigures:
    """Return the figures of a class in a simulation of 1000 requests."""
    return ClassFigures(
        requests=1000,
        pieces=1500,
        response=Moments(mean_ms * MS, 0.0),
        response_percentiles={50: int(mean_ms * MS), 95: int(p95_ms * MS)},
        distribution_ns=np.full(1000, int(mean_ms * MS)),
        longest_response_ns=int(9 * mean_ms * MS),
        in_system=in_system,
    )


def queue_figures(*each: ClassFigures) -> QueueFigures:
    return QueueFigures(each, sum(one.in_system for one in each), 10**9, 0.5)
