# SPDX-License-Identifier: MIT
"""The queue of consolidated VMs (ICPE 2011, sections 4.1 and 4.3.1) on the engine.

Order and times against a naive simulation (naive_consolidation.py), to the nanosecond; the
promise of SFQ(D); closed forms without merging and with all merged; figures of each class.
"""

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import naive_consolidation as naive
import numpy as np
import pytest
from test_closed_forms import agrees, erlang_c, means, pollaczek_khinchine, wait_ms

from understudy.base.errors import RunFailed, Unstable
from understudy.native.arrays import Columns
from understudy.native.drive import Drive
from understudy.native.simulation import Array, Rows, Simulation
from understudy.native.simulator import replicate, run

MS = 1_000_000
CAPACITY = 1000
REQUESTS = 300_000
OMEGAS = (1, 2, 2.5, 7, math.inf)


def table(arrivals: list[Any], costs: list[Any]) -> Rows:
    """A process for each class: its arrival times and its service times."""
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
    asked = Simulation(
        workload="rows-open",
        scheduler="sfq",
        device=Array(servers),
        capacity_sectors=CAPACITY,
        requests=len(rows.think_ns),
        processes=len(rows.first) - 1,
        rows=rows,
        tunables={"depth": servers},
    )
    return replace(asked, **changes)


# Against the naive simulation.


def random_classes(draw: np.random.Generator, classes: int) -> tuple[list[Any], list[Any]]:
    """Bursts, ties and pauses; costs are multiples of 300, so that tags are exact."""
    counts = draw.integers(1, 40, classes)
    scale = draw.choice([25, 125, 1000])
    arrivals = [np.cumsum(draw.integers(0, 4, n) * scale) for n in counts]
    costs = [300 * draw.integers(1, draw.choice([2, 10]), n) for n in counts]
    return arrivals, costs


def naive_rows(rows: Rows, weights: list[int], asked: Simulation) -> list[tuple[int, ...]]:
    """In order of arrival; at one instant in that of the classes."""
    jobs = []
    for k, (first, end) in enumerate(zip(rows.first, rows.first[1:], strict=False)):
        for at, cost in zip(
            np.cumsum(rows.think_ns[first:end]), rows.cost_ns[first:end], strict=True
        ):
            jobs.append(naive.Job(k, int(at), int(cost)))
    omega = Fraction(min(asked.merge, len(jobs)))
    assert isinstance(asked.device, Array)
    return [
        (job.k, job.arrival, job.dispatch, job.completion)
        for job in naive.simulated(jobs, weights, asked.device.servers, omega, asked.seed)
    ]


def engine_rows(rows: Columns) -> list[tuple[int, ...]]:
    names = ("owner", "arrival_ns", "dispatch_ns", "completion_ns")
    return list(zip(*(rows[name].tolist() for name in names), strict=True))


@pytest.mark.parametrize("omega", OMEGAS)
@pytest.mark.parametrize("servers", [1, 2, 3, 4])
def test_order_and_times_are_those_of_the_paper(servers: int, omega: float) -> None:
    """With equal weights and with others."""
    together = 0
    for seed in range(12):
        draw = np.random.default_rng([seed, servers])
        classes = int(draw.integers(1, 5))
        weights = (
            [100] * classes if seed % 2 else draw.choice([1, 2, 3, 4, 6, 100], classes).tolist()
        )
        rows = table(*random_classes(draw, classes))
        asked = queue(rows, servers, weights=weights, merge=omega, seed=seed)
        answer = run(asked)
        found = engine_rows(answer.rows)
        assert found == naive_rows(rows, weights, asked), f"seed {seed}"
        assert answer.figures.dispatched == len(set(answer.rows["request_id"].tolist()))
        together += answer.figures.completed - answer.figures.dispatched
    assert (together > 50) == (omega > 1)


# SFQ(D)'s promise (Jin, Chase and Kaur, SIGMETRICS 2004).


@pytest.mark.parametrize("omega", [1, 2.5, 7])
@pytest.mark.parametrize("servers", [1, 4])
def test_two_that_are_always_backlogged_get_their_shares(servers: int, omega: float) -> None:
    """Of what begins to be served, in any interval, differences by weight are bounded.

    The bound is for single requests; merging does not change their order, so it holds at
    each of them.
    """
    weights = (1, 2)
    draw = np.random.default_rng(1)
    count = 2000
    costs = [draw.integers(1, longest, count) for longest in (9 * MS, 3 * MS)]
    at_once = np.zeros(count, int)
    rows = table([at_once, at_once], costs)
    asked = queue(rows, servers, merge=omega, weights=weights)
    found = run(asked).rows
    order = np.lexsort((found["request_id"], found["dispatch_ns"]))
    cost = np.empty(2 * count)
    for k in (0, 1):
        cost[found["owner"] == k] = costs[k]
    owner = found["owner"][order]
    served = np.where(owner == 0, 1 / weights[0], -1 / weights[1]) * cost[order]
    one_is_done = min(np.flatnonzero(owner == k)[-1] for k in (0, 1))
    ahead = np.cumsum(served[:one_is_done])
    assert len(ahead) > count
    longest = sum(each.max() / weight for each, weight in zip(costs, weights, strict=True))
    assert ahead.max() - ahead.min() <= (servers + 1) * longest


# Closed forms.


def poisson(gap_ms: float, service_ms: Any, seed: int) -> Rows:
    """One class."""
    draw = np.random.default_rng(seed)
    arrivals = np.cumsum(np.round(draw.exponential(gap_ms * MS, len(service_ms))).astype(int))
    return table([arrivals], [np.maximum(1, np.round(service_ms * MS)).astype(int)])


def test_mean_wait_of_one_class_on_one_server() -> None:
    """Pollaczek and Khinchine, with service times of a gamma law."""
    load = 0.6
    service = np.random.default_rng(1).gamma(0.5, 2.0, REQUESTS)
    rows = run(queue(poisson(1 / load, service, 2), 1)).rows
    agrees(means(wait_ms(rows)), pollaczek_khinchine(1 / load, 1.0, 3.0), within=0.1)


def test_mean_wait_of_one_class_on_four_servers() -> None:
    load, servers = 0.7, 4
    service = np.random.default_rng(3).exponential(1.0, REQUESTS)
    rows = run(queue(poisson(1 / load / servers, service, 4), servers)).rows
    waiting = erlang_c(servers, servers * load)
    agrees(means(wait_ms(rows)), waiting / (servers * (1 - load)), within=0.1)


@pytest.mark.parametrize("offered", [0.5, 3.0])
def test_mean_response_if_a_server_takes_all_that_wait(offered: float) -> None:
    """Constant service s, arrivals at random, `offered` during a service: who comes while it
    works waits half of s and takes s; who finds it idle takes s.  It is idle after a service
    with the chance e^-offered, until the next arrival.
    """
    idle = math.exp(-offered) / (offered + math.exp(-offered))
    rows = run(queue(poisson(1 / offered, np.ones(REQUESTS), 5), 1, merge=math.inf)).rows
    response_ms = (rows["completion_ns"] - rows["arrival_ns"]) / MS
    agrees(means(response_ms), 1.5 - idle / 2)


# Figures of each class.


def two_classes(count: int = 3000) -> Rows:
    draw = np.random.default_rng(6)
    arrivals = [np.cumsum(draw.integers(0, 4 * MS, count)) for _ in range(2)]
    return table(arrivals, [draw.integers(1, longest * MS, count) for longest in (2, 6)])


def test_figures_of_each_class_are_those_of_its_rows() -> None:
    answer = run(queue(two_classes(), 2, merge=1.5), of_each=True)
    rows = answer.rows
    response = rows["completion_ns"] - rows["arrival_ns"]
    assert len(answer.figures.each) == 2
    for k, figures in enumerate(answer.figures.each):
        own = np.sort(response[rows["owner"] == k])
        assert figures.completed == len(own) == 3000
        assert figures.response.mean == pytest.approx(own.mean(), rel=1e-12)
        assert figures.response.variance == pytest.approx(own.var(), rel=1e-9)
        assert figures.longest_response_ns == own[-1]
        for percent, found in figures.response_percentiles.items():
            exact = own[-(-round(10 * percent) * len(own) // 1000) - 1]
            assert exact * (1 - 1 / 256) <= found <= exact
    assert run(queue(two_classes(), 2, merge=1.5)).figures.each == ()


def mean_number(rows: Columns, which: Any, span: tuple[int, int]) -> float:
    """Time average of how many are in the system, from each arrival and completion."""
    steps = sorted(
        [(at, 1) for at in rows["arrival_ns"][which].tolist()]
        + [(at, -1) for at in rows["completion_ns"][which].tolist()]
    )
    area, inside, before = 0, 0, span[0]
    for at, step in steps:
        area += inside * (at - before)
        inside, before = inside + step, at
    return area / (span[1] - span[0])


def test_mean_number_in_the_system_is_a_time_average() -> None:
    answer = run(queue(two_classes(), 2, merge=2), of_each=True)
    rows, figures = answer.rows, answer.figures
    span = int(rows["arrival_ns"].min()), int(rows["completion_ns"].max())
    everybody = np.full(len(rows["owner"]), True)
    assert figures.in_system == pytest.approx(mean_number(rows, everybody, span), rel=1e-12)
    for k, each in enumerate(figures.each):
        own = rows["owner"] == k
        assert each.in_system == pytest.approx(mean_number(rows, own, span), rel=1e-12)
    assert sum(each.in_system for each in figures.each) == pytest.approx(figures.in_system)


def test_nothing_takes_no_time_in_the_system() -> None:
    rows = table([[0]], [[1]])
    assert run(queue(rows, 1)).figures.in_system == 1.0
    no_time = replace(queue(rows, 1), rows=replace(rows, cost_ns=None))
    assert run(no_time).figures.in_system == 0.0


# Replications.


def test_a_replication_is_a_run_of_its_seed() -> None:
    asked = queue(two_classes(), 2, merge=1.3)
    alone = [run(replace(asked, seed=seed), of_each=True).figures for seed in (1, 2, 3)]
    assert list(replicate(asked, (1, 2, 3))) == alone
    assert alone[0].response != alone[1].response


def other_costs(seed: int) -> Any:
    return np.random.default_rng(seed).integers(1, 4 * MS, 6000)


def test_a_replication_may_have_service_times_of_its_own() -> None:
    asked = queue(two_classes(), 2, merge=2)
    found = list(replicate(asked, (7, 8), cost_ns=other_costs))
    assert asked.rows
    for seed, figures in zip((7, 8), found, strict=True):
        given = replace(asked.rows, cost_ns=other_costs(seed))
        assert run(replace(asked, rows=given, seed=seed), of_each=True).figures == figures


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        ([1, 2], "cost_ns has 2 entries, not 6000"),
        (np.full(6000, -1), "cost_ns: not every entry is from 0 to"),
        (np.full(6000, np.nan), "cost_ns: not every entry is from 0 to"),
        (np.full(6000, 2**62), r"seed 5: cost_ns: a time is 2\^62 ns or more"),
    ],
)
def test_impossible_service_times_are_refused(costs: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        next(replicate(queue(two_classes(), 2), (5,), cost_ns=lambda seed: costs))


def test_service_times_need_a_table() -> None:
    asked = replace(queue(two_classes(), 2), workload="poisson", rows=None, device=Array(1, MS))
    with pytest.raises(ValueError, match="for the rows of a table, and there is none"):
        next(replicate(asked, (5,), cost_ns=other_costs))


# What cannot be.


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"merge": 0.5}, "merge is 0.5: a server takes at least one request; 1 merges nothing"),
        ({"merge": 0}, "merge is 0: a server takes at least one"),
        ({"merge": -math.inf}, "merge is -inf: a server takes at least one"),
        ({"merge": math.nan}, "merge is nan: a server takes at least one"),
        (
            {"merge": 2, "device": Drive.linear(CAPACITY, MS, MS)},
            r"merge is 2: only the servers of an array .* take an array, or 1",
        ),
    ],
)
def test_an_impossible_merge_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        run(queue(two_classes(), 2, **changes))


def test_a_scheduler_that_does_not_tell_its_next_is_refused() -> None:
    asked = queue(two_classes(), 2, merge=2, scheduler="fcfs", tunables={})
    with pytest.raises(RunFailed, match=r"fcfs: it does not say .* take sfq, or a merge of 1"):
        run(asked)


def test_figures_of_too_many_are_refused() -> None:
    rows = table([[0]] * 1001, [[1]] * 1001)
    with pytest.raises(ValueError, match="processes is 1,001: figures of each are kept for 1,000"):
        run(queue(rows, 1), of_each=True)


def overload(each_second: int) -> Rows:
    """Of 10 ms each."""
    return poisson(1000 / each_second, np.full(30_000, 10.0), 7)


def test_merging_carries_what_would_be_too_much() -> None:
    """Two servers do 200 a second, and twice that if each takes two."""
    with pytest.raises(Unstable, match=r"they arrive 1\.[45]\d times as fast"):
        run(queue(overload(300), 2))
    assert run(queue(overload(300), 2, merge=2)).figures.completed == 30_000
    with pytest.raises(Unstable, match=r"they arrive 1\.2\d times as fast"):
        run(queue(overload(500), 2, merge=2))
