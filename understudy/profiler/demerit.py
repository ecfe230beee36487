# SPDX-License-Identifier: MIT
"""How well a fitted model stands in: fresh requests, served by the target and by the model.

The demerit is the rms horizontal distance between the two distributions of service times
(Ruemmler and Wilkes 1994, "Simulating disk drives"), here also as a share of the target's
mean.  No request of the fit is among them.
"""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from understudy.profiler.target import Bench

Request = tuple[str, int, int]
Times = npt.NDArray[np.float64]
REQUESTS = 2000
A_READ = 8
LEAST_MS = 1e-6  # 1 ns
RUN = 16  # requests of a sequential run
LARGEST_POWER = 8  # sectors of a mixed size


@dataclass(frozen=True, eq=False)
class Check:
    """One workload: what each request took on the target and on the model, ms."""

    workload: str
    target_times_ms: Times
    model_times_ms: Times

    @property
    def target_ms(self) -> float:
        """The target's mean."""
        return float(self.target_times_ms.mean())

    @property
    def model_ms(self) -> float:
        """The model's mean."""
        return float(self.model_times_ms.mean())

    @property
    def difference_percent(self) -> float:
        """Of the model's mean from the target's."""
        return 100 * (self.model_ms - self.target_ms) / max(self.target_ms, LEAST_MS)

    @property
    def demerit_ms(self) -> float:
        """How far the two distributions are apart."""
        return demerit(self.target_times_ms, self.model_times_ms)

    @property
    def demerit_percent(self) -> float:
        """Of the target's mean."""
        return 100 * self.demerit_ms / max(self.target_ms, LEAST_MS)

    def as_json(self) -> dict[str, Any]:
        """Its entry with --json."""
        return {
            "workload": self.workload,
            "target_ms": self.target_ms,
            "model_ms": self.model_ms,
            "difference_percent": self.difference_percent,
            "demerit_ms": self.demerit_ms,
            "demerit_percent": self.demerit_percent,
        }


def demerit(one: Times, other: Times) -> float:
    """Root of the mean square distance of equally many times, by rank."""
    return float(np.sqrt(np.mean((np.sort(one) - np.sort(other)) ** 2)))


def compare(target: Bench, model: Bench, seed: int, writing: bool) -> list[Check]:
    """Each workload on both."""
    workloads = {**READS, **WRITES} if writing else READS
    return [
        _compared(name, requests, target, model, random.Random(f"check {name} {seed}"))
        for name, requests in workloads.items()
    ]


def _compared(
    name: str,
    requests: Callable[[random.Random, int], Iterator[Request]],
    target: Bench,
    model: Bench,
    draw: random.Random,
) -> Check:
    times = [both(request, target, model) for request in requests(draw, target.capacity_sectors)]
    one, other = np.array(times).T / 1e6
    return Check(name, one, other)


def both(request: Request, target: Bench, model: Bench) -> tuple[int, int]:
    """The model is asked as long after its last request as the target was."""
    before_ns = target.now_ns
    service_ns = target.serve(*request)
    model.wait(target.sent_ns - before_ns)
    return service_ns, model.serve(*request)


def _random(draw: random.Random, capacity_sectors: int) -> Iterator[Request]:
    for _ in range(REQUESTS):
        yield "read", draw.randrange(capacity_sectors - A_READ), A_READ


def _sequential(draw: random.Random, capacity_sectors: int) -> Iterator[Request]:
    """Runs at random places."""
    for _ in range(REQUESTS // RUN):
        place = draw.randrange(capacity_sectors - RUN * A_READ)
        yield from (("read", place + n * A_READ, A_READ) for n in range(RUN))


def _mixed(draw: random.Random, capacity_sectors: int) -> Iterator[Request]:
    for _ in range(REQUESTS):
        sectors = round(2 ** draw.uniform(0, LARGEST_POWER))
        yield "read", draw.randrange(capacity_sectors - sectors), sectors


def _written(draw: random.Random, capacity_sectors: int) -> Iterator[Request]:
    """A third of random requests."""
    for _, place, sectors in _random(draw, capacity_sectors):
        yield "write" if draw.random() < 1 / 3 else "read", place, sectors


READS = {"random": _random, "sequential": _sequential, "mixed sizes": _mixed}
WRITES = {"random, a third written": _written}
