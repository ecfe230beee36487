# SPDX-License-Identifier: MIT
"""Repeated simulations of a scenario (ICPE 2011, the inner loops of Algorithm 2).

Replication i chooses one run of each VM at random, and samples service times; these random numbers
depend only on the seed and i.  So all merge values are tried with the same random numbers.  A
replication ends at the end of the shortest chosen run, since after that the device would serve
fewer VMs.
"""

import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from understudy_devices.base import threads
from understudy_devices.base.errors import RunFailed
from understudy_devices.consolidation.scenario import Scenario
from understudy_devices.consolidation.vm import Run
from understudy_devices.native.open_queue import CustomerClass, OpenQueue, QueueFigures, simulate

Merge = tuple[float, ...]


@dataclass(frozen=True)
class Drawn:
    """The runs of one replication, one run per VM; requests after until_ns do not count."""

    runs: tuple[Run, ...]

    @property
    def until_ns(self) -> int:
        """Return the time just after the last arrival of the shortest run, in ns."""
        return min(run.arrivals.last_ns for run in self.runs) + 1

    @property
    def expected(self) -> list[float]:
        """Return N_iso of each run (Eq. 7), computed from the requests that count."""
        return [run.in_system(self.until_ns) for run in self.runs]


@dataclass(frozen=True)
class Replications:
    """Replications of one scenario from a seed; `jobs` of them run in parallel."""

    scenario: Scenario
    seed: int = 1
    jobs: int = field(default_factory=lambda: len(os.sched_getaffinity(0)))

    def drawn(self, replication: int) -> Drawn:
        """Return the runs of a replication, one for each VM, chosen at random."""
        random = np.random.default_rng([self.seed, replication])
        vms = [tenant.vm for tenant in self.scenario.tenants]
        return Drawn(tuple(vm.runs[int(random.integers(len(vm.runs)))] for vm in vms))

    def run(
        self, numbers: Sequence[int], merge: Merge, done: Callable[[], None] = lambda: None
    ) -> list[QueueFigures]:
        """Simulate the replications with these numbers; call `done` after each replication.

        Raises the same errors as `simulate`.
        """
        stop = threading.Event()

        def one(number: int) -> QueueFigures:
            return self._one(number, merge, stop)

        return threads.run_all([partial(one, number) for number in numbers], self.jobs, stop, done)

    def _one(self, number: int, merge: Merge, stop: threading.Event) -> QueueFigures:
        sample = self.drawn(number)
        classes = tuple(
            CustomerClass(run.arrivals, tenant.service, tenant.weight, omega)
            for tenant, run, omega in zip(self.scenario.tenants, sample.runs, merge, strict=True)
        )

        def look(_: int) -> None:
            if stop.is_set():
                raise RunFailed("stopped because another replication failed")

        queue = OpenQueue(classes, self.scenario.servers, sample.until_ns)
        return simulate(queue, _seed(self.seed, number), look=look)


def _seed(seed: int, replication: int) -> int:
    """Return a different seed for each replication."""
    return int(np.random.default_rng([seed, replication, 1]).integers(2**63))
