# SPDX-License-Identifier: MIT
"""SFQ(D) in the engine (ICPE 2011, section 4.1), request by request.

Order and times must equal a naive simulation's (naive_consolidation.py), to the nanosecond, and
SFQ(D)'s fairness must hold.  test_open_queue.py covers merging, splitting and random service times.
"""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import naive_consolidation as naive
import numpy as np
import pytest

from understudy_devices.native.arrays import Columns
from understudy_devices.native.simulation import Array, Rows, Simulation
from understudy_devices.native.simulator import run

MS = 1_000_000
CAPACITY = 1000


def table(arrivals: list[Any], costs: list[Any]) -> Rows:
    """Return a table with one process for each class, from its arrival times and service times."""
    counts = [len(times) for times in arrivals]
    total = sum(counts)
    return Rows(
        first=np.concatenate([[0], np.cumsum(counts)]),
        think_ns=np.concatenate([np.diff(times, prepend=0) for times in arrivals]),
        sector=np.zeros(total, np.uint64),
        sectors=np.ones(total, np.uint32),
        op=np.arange(total) % 2,
        owner=np.repeat(np.arange(len(counts)), counts),
        cost_ns=np.concatenate(costs),
    )


def queue(rows: Rows, servers: int, **changes: Any) -> Simulation:
    simulation = Simulation(
        workload="rows-open",
        scheduler="sfq",
        device=Array(servers),
        capacity_sectors=CAPACITY,
        requests=len(rows.think_ns),
        processes=len(rows.first) - 1,
        rows=rows,
        tunables={"depth": servers},
    )
    return replace(simulation, **changes)


# Against the naive simulation.


def random_classes(draw: np.random.Generator, classes: int) -> tuple[list[Any], list[Any]]:
    """Return arrivals with bursts, ties and pauses; costs are multiples of 300, so that tags are
    exact."""
    counts = draw.integers(1, 40, classes)
    scale = draw.choice([25, 125, 1000])
    arrivals = [np.cumsum(draw.integers(0, 4, n) * scale) for n in counts]
    costs = [300 * draw.integers(1, draw.choice([2, 10]), n) for n in counts]
    return arrivals, costs


def naive_rows(rows: Rows, weights: list[int], simulation: Simulation) -> list[tuple[int, ...]]:
    """Return rows in order of arrival; at one instant, in the order of the classes."""
    jobs = []
    for k, (first, end) in enumerate(zip(rows.first, rows.first[1:], strict=False)):
        for at, cost in zip(
            np.cumsum(rows.think_ns[first:end]), rows.cost_ns[first:end], strict=True
        ):
            jobs.append(naive.Job(k, int(at), int(cost)))
    assert isinstance(simulation.device, Array)
    ones = [Fraction(1)] * len(weights)
    return [
        (job.k, job.arrival, job.dispatch, job.completion)
        for job in naive.simulated(jobs, weights, simulation.device.servers, ones, 0)
    ]


def engine_rows(rows: Columns) -> list[tuple[int, ...]]:
    names = ("owner", "arrival_ns", "dispatch_ns", "completion_ns")
    return list(zip(*(rows[name].tolist() for name in names), strict=True))


@pytest.mark.parametrize("servers", [1, 2, 3, 4])
def test_order_and_times_are_those_of_the_paper(servers: int) -> None:
    """The weights are equal for odd seeds, and random otherwise."""
    for seed in range(50):
        draw = np.random.default_rng([seed, servers])
        classes = int(draw.integers(1, 5))
        weights = (
            [100] * classes if seed % 2 else draw.choice([1, 2, 3, 4, 6, 100], classes).tolist()
        )
        rows = table(*random_classes(draw, classes))
        simulation = queue(rows, servers, weights=weights)
        rows_served = engine_rows(run(simulation).rows)
        assert rows_served == naive_rows(rows, weights, simulation), f"seed {seed}"


# The fairness guarantee of SFQ(D) (Jin, Chase and Kaur, SIGMETRICS 2004).


@pytest.mark.parametrize("servers", [1, 4])
def test_two_that_are_always_backlogged_get_their_shares(servers: int) -> None:
    """In any interval, the service begun for each class, divided by its weight, differs by a
    bounded amount."""
    weights = (1, 2)
    draw = np.random.default_rng(1)
    count = 2000
    costs = [draw.integers(1, longest, count) for longest in (9 * MS, 3 * MS)]
    at_once = np.zeros(count, int)
    rows = table([at_once, at_once], costs)
    simulation = queue(rows, servers, weights=weights)
    rows_served = run(simulation).rows
    order = np.lexsort((rows_served["request_id"], rows_served["dispatch_ns"]))
    cost = np.empty(2 * count)
    for k in (0, 1):
        cost[rows_served["owner"] == k] = costs[k]
    owner = rows_served["owner"][order]
    served = np.where(owner == 0, 1 / weights[0], -1 / weights[1]) * cost[order]
    one_is_done = min(np.flatnonzero(owner == k)[-1] for k in (0, 1))
    ahead = np.cumsum(served[:one_is_done])
    assert len(ahead) > count
    longest = sum(each.max() / weight for each, weight in zip(costs, weights, strict=True))
    assert ahead.max() - ahead.min() <= (servers + 1) * longest
