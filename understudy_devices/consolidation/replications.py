# SPDX-License-Identifier: MIT
"""Repeated simulations of a scenario (ICPE 2011, the inner loops of Algorithm 2).

Replication i chooses one run of each VM at random, and samples service times.  For a VM whose
service times are recorded ones, it takes all of the run's requests from a random one on, and goes
on with the first one after the last; not if the runs are of the same time (alignment.py).  These
random numbers depend only on the seed and i.  So all merge values are tried with the same random
numbers.  A replication ends at the end of the shortest chosen run, since after that the device
would serve fewer VMs.
"""

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from math import ceil
from typing import NamedTuple

import numpy as np

from understudy_devices.base.cache import digest
from understudy_devices.base.errors import RunFailed, Unstable
from understudy_devices.consolidation.scenario import Scenario, Tenant
from understudy_devices.consolidation.vm import Run
from understudy_devices.engine import Answer, Engine
from understudy_devices.engine.local import Local
from understudy_devices.native.open_queue import (
    ROTATED,
    CustomerClass,
    OpenQueue,
    QueueFigures,
    simulate,
)

Merge = tuple[float, ...]
Done = Callable[[], None]
"""Called after each replication."""


def _silent() -> None:
    """Ignore that a replication is done."""


@dataclass(frozen=True)
class Drawn:
    """The runs of one replication, one run per VM; requests after until_ns do not count.

    aligned: the runs are of the same time, so all of their requests count.
    """

    runs: tuple[Run, ...]
    aligned: bool = False

    @property
    def until_ns(self) -> int:
        """Return the time just after the last arrival of the shortest run, in ns."""
        end = max if self.aligned else min
        return end(run.arrivals.last_ns for run in self.runs) + 1

    @property
    def expected(self) -> list[float]:
        """Return N_iso of each run (Eq. 7), computed from the requests that count."""
        return [run.in_system(self.until_ns) for run in self.runs]


class Simulation(NamedTuple):
    """What an engine carries out: one replication."""

    queue: OpenQueue
    seed: int


@dataclass(frozen=True)
class Replications:
    """Replications of one scenario from a seed.

    The engine carries out `at_once` of them at a time.
    """

    scenario: Scenario
    seed: int = 1
    engine: Engine = field(default_factory=lambda: Local(len(os.sched_getaffinity(0))))
    at_once: int = 1

    def drawn(self, replication: int) -> Drawn:
        """Return the runs of a replication, one for each VM, chosen at random."""
        random = np.random.default_rng([self.seed, replication])
        vms = [tenant.vm for tenant in self.scenario.tenants]
        runs = tuple(vm.runs[int(random.integers(len(vm.runs)))] for vm in vms)
        return Drawn(runs, self.scenario.aligned)

    def run(self, numbers: Sequence[int], merge: Merge, done: Done = _silent) -> list[QueueFigures]:
        """Simulate the replications with these numbers; call `done` after each replication.

        Raises the same errors as `simulate`; Unstable is that of the first number.
        """
        return _stable(self._outcomes(numbers, merge, done))

    def batches(
        self,
        size: int,
        most: int,
        merge: Merge,
        begin: Callable[[range], Done] = lambda numbers: _silent,
    ) -> Iterator[list[QueueFigures]]:
        """Simulate replications 0, 1 ... and yield their figures, `size` at a time, up to `most`.

        So many batches are carried out together that the engine is busy; a caller that needs no
        more batches has the same figures with each engine.  `begin` is called with the numbers that
        are carried out together.
        """
        together = ceil(self.at_once / size) * size
        for first in range(0, most, together):
            numbers = range(first, min(first + together, most))
            outcomes = self._outcomes(numbers, merge, begin(numbers))
            for place in range(0, len(outcomes), size):
                yield _stable(outcomes[place : place + size])

    def resampled(self, count: int, merge: Merge, part: float) -> list[QueueFigures | Unstable]:
        """Simulate `count` resamples of the traces (sampling.py), for a part of their length.

        part: above 0, at most 1. The list ends with the first resample that is unstable.
        """
        return self._outcomes(range(count), merge, _silent, part)

    def first(self, merge: Merge) -> tuple[str, Simulation]:
        """Return replication 0 for an engine, with its key."""
        return self._key(0, merge, None), self._item(0, merge, None)

    def _outcomes(
        self, numbers: Sequence[int], merge: Merge, done: Done, part: float | None = None
    ) -> list[QueueFigures | Unstable]:
        """Return the figures in the order of the numbers, up to the first that is unstable."""
        keys = {self._key(number, merge, part): place for place, number in enumerate(numbers)}
        items = {key: self._item(numbers[place], merge, part) for key, place in keys.items()}
        outcomes: dict[int, QueueFigures | Unstable] = {}
        needed = len(numbers)
        with closing(self.engine.run(simulated, items)) as answers:
            for key, answer in answers:
                place = keys[key]
                outcomes[place] = figures = outcome(answer)
                done()
                if isinstance(figures, Unstable):
                    needed = min(needed, place + 1)
                if all(place in outcomes for place in range(needed)):
                    break
        return [outcomes[place] for place in range(needed)]

    def _item(self, number: int, merge: Merge, part: float | None) -> Simulation:
        """Return a replication; if `part` is given, that part of a resample."""
        sample = self.drawn(number)
        until_ns = sample.until_ns
        if part is not None:
            until_ns = max(1, int(part * until_ns))
        classes = tuple(
            CustomerClass(
                # A copy without the times that a run has already read from its file.
                replace(run.arrivals),
                tenant.service,
                tenant.weight,
                omega,
                recorded=tenant.recorded,
                block=0 if self.scenario.aligned else _block(tenant, run, part is not None),
                pool_ns=sample.until_ns,
            )
            for tenant, run, omega in zip(self.scenario.tenants, sample.runs, merge, strict=True)
        )
        queue = OpenQueue(classes, self.scenario.servers, until_ns)
        return Simulation(queue, _seed(self.seed, number))

    def _key(self, number: int, merge: Merge, part: float | None) -> str:
        """Return a digest of all but the code that decides a replication's figures."""
        aligned = self.scenario.aligned
        numbers = [self.seed, number, self.scenario.servers, aligned, *merge, part]
        weights = [tenant.weight for tenant in self.scenario.tenants]
        contents = [tenant.content.encode() for tenant in self.scenario.tenants]
        return digest([repr((numbers, weights)).encode(), *contents])


def _block(tenant: Tenant, run: Run, resampled: bool) -> int:
    """Return the number of requests in a block; 0 if requests are taken as recorded."""
    if resampled:
        return run.sample.block
    return ROTATED if tenant.recorded else 0


def simulated(item: Simulation, stop: threading.Event) -> Answer:
    """Carry out a replication, in this process or on a node of a cluster."""

    def look(_: int) -> None:
        if stop.is_set():
            raise RunFailed("stopped because another replication failed")

    try:
        return simulate(item.queue, item.seed, look=look).as_json()
    except Unstable as error:
        return {"unstable": str(error), "load": error.load}


def outcome(answer: Answer) -> QueueFigures | Unstable:
    """Return the figures of a replication from what `simulated` returned."""
    if "unstable" in answer:
        return Unstable(answer["unstable"], answer["load"])
    return QueueFigures.of_json(answer)


def _stable(outcomes: Sequence[QueueFigures | Unstable]) -> list[QueueFigures]:
    """Return the figures; raise the first Unstable."""
    figures = []
    for outcome in outcomes:
        if isinstance(outcome, Unstable):
            raise outcome
        figures.append(outcome)
    return figures


def _seed(seed: int, replication: int) -> int:
    """Return a different seed for each replication."""
    return int(np.random.default_rng([seed, replication, 1]).integers(2**63))
