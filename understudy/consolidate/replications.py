# SPDX-License-Identifier: MIT
"""A scenario simulated again and again (ICPE 2011, Algorithm 2, its inner loops).

Replication i draws one of each VM's runs, and service times, from the seed and i alone: all
merge values are tried on the same draws.  Runs are cut where the shortest drawn ends, as
the others would else have the device for themselves.
"""

import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from understudy.base import threads
from understudy.base.errors import RunFailed
from understudy.consolidate.scenario import Scenario
from understudy.consolidate.vm import Run
from understudy.native.open_queue import CustomerClass, OpenQueue, QueueFigures, simulate

Merge = tuple[float, ...]


@dataclass(frozen=True)
class Drawn:
    """One replication's runs, a VM each; those after until_ns do not count."""

    runs: tuple[Run, ...]

    @property
    def until_ns(self) -> int:
        """Just after the last arrival of the shortest."""
        return min(run.arrivals.last_ns for run in self.runs) + 1

    @property
    def expected(self) -> list[float]:
        """N_iso of each, Eq. 7, of what counts."""
        return [run.in_system(self.until_ns) for run in self.runs]


@dataclass(frozen=True)
class Replications:
    """Of one scenario, from a seed, so many side by side as there are processors unless told."""

    scenario: Scenario
    seed: int = 1
    jobs: int = field(default_factory=lambda: len(os.sched_getaffinity(0)))

    def drawn(self, replication: int) -> Drawn:
        """Its runs."""
        random = np.random.default_rng([self.seed, replication])
        vms = [tenant.vm for tenant in self.scenario.tenants]
        return Drawn(tuple(vm.runs[int(random.integers(len(vm.runs)))] for vm in vms))

    def run(
        self, numbers: Sequence[int], merge: Merge, done: Callable[[], None] = lambda: None
    ) -> list[QueueFigures]:
        """The replications with these numbers; `done` is told of each.  Raises as `simulate`."""
        stop = threading.Event()

        def one(number: int) -> QueueFigures:
            return self._one(number, merge, stop)

        return threads.run_all([partial(one, number) for number in numbers], self.jobs, stop, done)

    def _one(self, number: int, merge: Merge, stop: threading.Event) -> QueueFigures:
        drawn = self.drawn(number)
        classes = tuple(
            CustomerClass(run.arrivals, tenant.service, tenant.weight, omega)
            for tenant, run, omega in zip(self.scenario.tenants, drawn.runs, merge, strict=True)
        )

        def look(_: int) -> None:
            if stop.is_set():
                raise RunFailed("stopped, as another replication failed")

        queue = OpenQueue(classes, self.scenario.servers, drawn.until_ns)
        return simulate(queue, _seed(self.seed, number), look=look)


def _seed(seed: int, replication: int) -> int:
    """Apart for each."""
    return int(np.random.default_rng([seed, replication, 1]).integers(2**63))
