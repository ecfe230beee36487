# SPDX-License-Identifier: MIT
"""Predict the response times of VMs that share one simulated disk under one scheduler.

The caller gives the simulation of the disk.  Replications and intervals are as for an array
(prediction.py, intervals.py), with recorded requests instead of sampled service times.
"""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import numpy.typing as npt

from understudy_devices.base.progress import Report, silent
from understudy_devices.consolidation import shared_disk
from understudy_devices.consolidation.directions import (
    Times,
    averaged,
    distribution_ms,
    of_directions,
    times,
)
from understudy_devices.consolidation.intervals import (
    MOST_REQUESTS,
    RESAMPLES,
    Spread,
    limits_of,
    spread_of,
)
from understudy_devices.consolidation.prediction import BATCH, MOST, Effort, is_narrow
from understudy_devices.consolidation.sampling import Sample, judge
from understudy_devices.consolidation.shared_disk import Guest, Requests
from understudy_devices.engine import Engine
from understudy_devices.measure.comparison import Estimate, estimate
from understudy_devices.traces.trace import Trace

Ints = npt.NDArray[np.int64]

SHORTEST_BLOCK = 100  # requests: the first one of a block follows no neighbour of its own


@dataclass(frozen=True)
class Served:
    """A simulated trace: columns (N,) in order of arrival.

    service_ns: the time that the disk worked on the request. offered_load: above 1, the requests
    arrive faster than the disk serves them.
    """

    owner: Ints
    op: Ints
    response_ns: Ints
    service_ns: Ints
    offered_load: float


Simulate = Callable[[Trace, int, threading.Event], Served]
"""Simulate a trace with a seed; end soon, with RunFailed, once the event is set."""


@dataclass(frozen=True)
class Figures:
    """A VM in one simulation; distribution_ms: (1000,), the response time at each permille."""

    all: Times
    directions: dict[str, Times]
    distribution_ms: npt.NDArray[np.float64]


@dataclass(frozen=True)
class Beside:
    """A VM beside the others: the means of its figures over all replications.

    mean: in ms; its interval is for the replications alone. limits_ms: the 95 % interval for the
    mean of the process that the traces are samples of; the upper limit may be infinite.
    """

    mean: Estimate
    limits_ms: tuple[float, float] | None
    all: Times
    directions: dict[str, Times]
    distribution_ms: npt.NDArray[np.float64]


@dataclass(frozen=True)
class DiskPrediction:
    """The answer for one scheduler.

    alone: each VM alone on this disk, over all its runs. offered_load: of replication 0.
    """

    scheduler: str
    guests: tuple[Guest, ...]
    effort: Effort
    alone: tuple[Figures, ...]
    replications: tuple[tuple[Figures, ...], ...]
    spread: tuple[Spread, ...]
    offered_load: float

    @property
    def together(self) -> list[Beside]:
        """Return the figures of each VM beside the others."""
        return [self._of(k) for k in range(len(self.guests))]

    @property
    def converged(self) -> bool:
        """Return whether each mean's interval over the replications is as narrow as asked for."""
        return _is_narrow(self.replications, self.effort.precision)

    def _of(self, k: int) -> Beside:
        each = [one[k] for one in self.replications]
        mean = estimate([one.all.mean_ms for one in each])
        names = [name for name in each[0].directions if all(name in one.directions for one in each)]
        return Beside(
            mean,
            self.spread[k].limits(mean) if self.spread else limits_of(mean),
            averaged([one.all for one in each]),
            {name: averaged([one.directions[name] for one in each]) for name in names},
            np.mean([one.distribution_ms for one in each], axis=0),
        )


def predict(
    scheduler: str,
    guests: Sequence[Guest],
    simulate: Simulate,
    engine: Engine,
    effort: Effort,
    seed: int,
    report: Report = silent,
) -> DiskPrediction:
    """Simulate the VMs alone, together in replications, and in resamples of their traces.

    Runs of the same time are not resampled.
    """
    runner = _Runner(tuple(guests), simulate, engine, seed)
    report(f"{scheduler}: each VM alone", 0)
    alone, samples = runner.alone()
    replications: list[tuple[Figures, ...]] = []
    load = 0.0
    most = effort.replications or MOST
    for first in range(0, most, BATCH):
        numbers = range(first, min(first + BATCH, most))
        report(f"{scheduler}: replications {first + 1} to {numbers[-1] + 1} of at most {most}", 0)
        figures, loads = runner.replicated(numbers)
        load = load or loads[0]
        replications += figures
        if not effort.replications and _is_narrow(replications, effort.precision):
            break
    spread: tuple[Spread, ...] = ()
    if not runner.guests[0].aligned:
        report(f"{scheduler}: resamples of the traces", 0)
        spread = runner.spread(samples)
    return DiskPrediction(
        scheduler, runner.guests, effort, alone, tuple(replications), spread, load
    )


@dataclass(frozen=True)
class _Runner:
    """Carries out simulations of these VMs."""

    guests: tuple[Guest, ...]
    simulate: Simulate
    engine: Engine
    seed: int

    def alone(self) -> tuple[tuple[Figures, ...], list[Sample]]:
        """Return each VM's figures alone on the disk, and what its runs are samples of."""
        runs = [(k, run) for k, guest in enumerate(self.guests) for run in guest.runs]
        served = self._carried([partial(self._alone, k, run) for k, run in runs])
        figures, samples = [], []
        for k in range(len(self.guests)):
            own = [(run, one) for (vm, run), one in zip(runs, served, strict=True) if vm == k]
            figures.append(_figures([one for _, one in own]))
            samples.append(_sampled(own))
        return tuple(figures), samples

    def _alone(self, k: int, run: Trace, stop: threading.Event) -> Served:
        begin = shared_disk.begins(self.guests)[k]
        return self.simulate(shared_disk.merged([shared_disk.whole(run)], [begin]), self.seed, stop)

    def replicated(self, numbers: range) -> tuple[list[tuple[Figures, ...]], list[float]]:
        """Return each VM's figures, and the offered load, in each replication."""
        served = self._carried([partial(self._replicated, number) for number in numbers])
        return [self._each(one) for one in served], [one.offered_load for one in served]

    def _replicated(self, number: int, stop: threading.Event) -> Served:
        each = shared_disk.replicated(self.guests, self.seed, number)
        return self._together(each, number, stop)

    def _together(self, each: Sequence[Requests], number: int, stop: threading.Event) -> Served:
        trace = shared_disk.merged(each, shared_disk.begins(self.guests))
        return self.simulate(trace, self.seed + number, stop)

    def spread(self, samples: Sequence[Sample]) -> tuple[Spread, ...]:
        """Return how far each VM's mean may be off, from resamples of the traces."""
        requests = sum(guest.requests / len(guest.runs) for guest in self.guests)
        part = min(1.0, MOST_REQUESTS / requests)
        blocks = [one.block for one in samples]
        served = self._carried(
            [partial(self._resampled, blocks, part, number) for number in range(RESAMPLES)]
        )
        means = [
            [
                float(one.response_ns[one.owner == k].mean())
                for one in served
                if (one.owner == k).any()
            ]
            for k in range(len(self.guests))
        ]
        runs = min(len(guest.runs) for guest in self.guests)
        freedom = runs * min(one.freedom for one in samples)
        stretch = max(one.stretch for one in samples)
        return tuple(spread_of(each, part, runs, freedom, stretch) for each in means)

    def _resampled(
        self, blocks: Sequence[int], part: float, number: int, stop: threading.Event
    ) -> Served:
        each = shared_disk.resampled(self.guests, blocks, self.seed, number, part)
        return self._together(each, number, stop)

    def _each(self, served: Served) -> tuple[Figures, ...]:
        return tuple(_figures([_of_owner(served, k)]) for k in range(len(self.guests)))

    def _carried(self, works: Sequence[Callable[[threading.Event], Served]]) -> list[Served]:
        """Carry out all works; return what they return, in their order."""
        items = {str(number): work for number, work in enumerate(works)}
        answers = dict(self.engine.run(_carry_out, items))
        return [answers[key] for key in items]


def _carry_out(work: Callable[[threading.Event], Served], stop: threading.Event) -> Served:
    return work(stop)


def _of_owner(served: Served, k: int) -> Served:
    own = served.owner == k
    return replace(
        served,
        owner=served.owner[own],
        op=served.op[own],
        response_ns=served.response_ns[own],
        service_ns=served.service_ns[own],
    )


def _figures(served: Sequence[Served]) -> Figures:
    response_ns = np.concatenate([one.response_ns for one in served])
    op = np.concatenate([one.op for one in served])
    every = times(response_ns)
    assert every, "each VM has a request that arrives before the end of the shortest run"
    return Figures(every, of_directions(response_ns, op), distribution_ms(response_ns))


def _sampled(runs: Sequence[tuple[Trace, Served]]) -> Sample:
    each = [judge(run.arrival_ns, served.service_ns, served.response_ns) for run, served in runs]
    shortest = min(len(run) for run, _ in runs)
    longest = max(one.block for one in each)
    block = max(longest, min(SHORTEST_BLOCK, max(1, shortest // 4)))
    stretch = max(one.stretch for one in each)
    return Sample(block, min(one.freedom for one in each), stretch)


def _is_narrow(replications: Sequence[Sequence[Figures]], precision: float) -> bool:
    each = zip(*replications, strict=True)
    return is_narrow([estimate([one.all.mean_ms for one in own]) for own in each], precision)
