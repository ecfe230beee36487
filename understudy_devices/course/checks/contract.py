# SPDX-License-Identifier: MIT
"""The scheduler keeps the rules of core/scheduler.h under loads that bring out mistakes."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from understudy_devices.course.check import Check
from understudy_devices.course.draws import Draws
from understudy_devices.course.result import Found, NoPoints
from understudy_devices.course.work import Work
from understudy_devices.native import descriptions, replay
from understudy_devices.native.drive import Drive
from understudy_devices.native.simulation import Rows, Simulation

CAPACITY = 2**18
EACH = 60
NEAR = 64
PICK_NS = 100_000_000
LOADS: dict[str, dict[str, Any]] = {
    "a queue that is never empty": {"processes": 32, "depth": 2, "busy": True},
    "two requests in service": {"processes": 6, "depth": 2},
    "one process": {"processes": 1, "depth": 1},
    "many processes": {"processes": 24, "depth": 1},
    "neighbours that are merged": {"processes": 8, "depth": 1, "merge": 64},
}
"""Each load, and what it consists of."""

MEANING = {
    "has_work says no while": "the request was forgotten, or has_work is wrong",
    "never chooses": "the request was forgotten, or it starves",
}
"""What the words of some broken rules mean to the author."""


class Kind(Check):
    """No request is forgotten, returned twice, invented or changed; nothing crashes or hangs."""

    file: str

    def files(self) -> Sequence[str]:
        """Return the file."""
        return (self.file,)

    def run(self, work: Work) -> Found:
        """Run the scheduler under each load; the first broken rule costs all points."""
        name = work.scheduler(self.file)
        draws = work.draws(self.name, hidden=self.hidden)
        served = 0
        for simulation in _simulations(draws, name):
            try:
                served += work.simulate(simulation, self.file).figures.completed
            except NoPoints as why:
                more = next(
                    (f": {said}" for words, said in MEANING.items() if words in str(why)), ""
                )
                raise NoPoints(f"{why}{more}") from None
        if not descriptions.scheduler(name).needs_model:
            work.attempt(lambda: _empty(name), self.file)
        return Found(1.0, (f"{served:,} requests served under {len(LOADS)} loads: no rule broken",))


def _empty(scheduler: str) -> None:
    """Ask the scheduler for requests until it has none, and again: has_work must not say yes."""
    count = 8
    replay.replay(
        scheduler,
        replay.Arrivals(
            time_ns=np.arange(count),
            id=np.arange(1, count + 1),
            sector=8 * np.arange(count),
            sectors=np.full(count, 8),
            owner=np.zeros(count, np.uint32),
            op=np.zeros(count, np.uint8),
        ),
        pick_ns=PICK_NS * np.arange(1, 4 * count),
    )


def _simulations(draws: Draws, scheduler: str) -> Iterator[Simulation]:
    for load, how in LOADS.items():
        yield _closed(draws.child(load), scheduler, **how)


def _closed(
    draws: Draws,
    scheduler: str,
    processes: int,
    depth: int,
    merge: int = 0,
    busy: bool = False,
) -> Simulation:
    """Return a load of processes that wait for each request, most of which lie near others."""
    count = processes * EACH
    bases = [draws.below(f"base {each}", CAPACITY - 4 * NEAR) for each in range(processes)]
    places = [
        bases[draws.below(f"near {each}", processes)] + 8 * draws.below(f"place {each}", NEAR // 8)
        if each % 4
        else draws.below(f"far {each}", CAPACITY - NEAR)
        for each in range(count)
    ]
    think = [
        0 if busy else draws.choice(f"think {each}", (0, 0, 500_000, 20_000_000))
        for each in range(count)
    ]
    rows = Rows(
        first=np.arange(processes + 1) * EACH,
        think_ns=np.array(think),
        sector=np.array(places),
        sectors=np.full(count, 8),
        op=np.array([int(draws.below(f"write {each}", 3) == 0) for each in range(count)]),
        owner=np.repeat(np.arange(processes), EACH),
    )
    return Simulation(
        workload="rows-closed",
        scheduler=scheduler,
        device=Drive.linear(CAPACITY, 1_000_000, 5_000_000),
        capacity_sectors=CAPACITY,
        requests=count,
        processes=processes,
        rows=rows,
        depth=depth,
        merge_sectors=merge,
    )
