# SPDX-License-Identifier: MIT
"""The open queue of consolidated VMs (ICPE 2011, section 4).  It is compared to the nanosecond
with a naive simulation (naive_consolidation.py), with the engine and a table, and with closed
forms."""

import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import naive_consolidation as naive
import numpy as np
import pytest
from open_queues import MS, ONE_NS, Given, Write, erlang, exponential, queue, writer
from test_closed_forms import agrees, erlang_c
from test_service_times import PROCESSES

from understudy_devices.native.open_queue import (
    ClassFigures,
    QueueFigures,
    simulate,
)
from understudy_devices.native.service_times import ServiceTimes
from understudy_devices.native.simulation import Array, Rows, Simulation
from understudy_devices.native.simulator import run

pytestmark = pytest.mark.thorough

OMEGAS = (1, 2, 2.5, 7, math.inf)


@pytest.fixture
def write(tmp_path: Path) -> Write:
    return writer(tmp_path)


# Against the naive simulation.


def naive_jobs(classes: list[Given], servers: int, seed: int) -> list[naive.Job]:
    jobs = []
    for k, one in enumerate(classes):
        times = iter(one.service.draw(int(np.sum(one.pieces)), seed, k).tolist())
        for request, (at, pieces) in enumerate(zip(one.at, one.pieces, strict=True)):
            jobs += [naive.Job(k, int(at), next(times), request) for _ in range(pieces)]
    omega = [Fraction(min(one.merge, len(jobs))) for one in classes]
    return naive.simulated(jobs, [one.weight for one in classes], servers, omega, seed)


def is_of(figures: ClassFigures, jobs: list[naive.Job], k: int, span: int) -> None:
    responses = sorted(naive.responses(jobs, k))
    count, total = len(responses), sum(responses)
    assert (figures.requests, figures.pieces) == (count, sum(job.k == k for job in jobs))
    assert figures.response.mean == total / count
    assert figures.response.variance == pytest.approx(np.var(responses), rel=1e-9, abs=1e-6)
    assert figures.longest_response_ns == responses[-1]
    assert figures.in_system == pytest.approx(total / span, rel=1e-12)
    for percent, value in figures.response_percentiles.items():
        exact = responses[-(-round(10 * percent) * count // 1000) - 1]
        assert exact * (1 - 1 / 256) <= value <= exact
        assert value == figures.distribution_ns[round(10 * percent) - 1]
    assert (np.diff(figures.distribution_ns) >= 0).all()


def are_of(figures: QueueFigures, jobs: list[naive.Job], servers: int) -> None:
    """Check all figures; the requests of a bundle are dispatched at one instant and complete at
    one instant."""
    span = max(job.completion for job in jobs) - min(job.arrival for job in jobs)
    assert figures.span_ns == span
    for k, each in enumerate(figures.each):
        is_of(each, jobs, k, span)
    assert figures.in_system == pytest.approx(sum(each.in_system for each in figures.each))


def random_class(draw: np.random.Generator, merge: float) -> Given:
    """Return arrivals with bursts, ties and pauses, and service times from 1 ns to some ms from
    any process."""
    count = int(draw.integers(1, 40))
    if draw.integers(3) == 0:
        scale, service = 1, ONE_NS
    else:
        scale = int(draw.choice([20_000, MS]))
        service = ServiceTimes.of(PROCESSES[str(draw.choice(sorted(PROCESSES)))].tables())
    at = np.cumsum(draw.integers(0, 4, count) * scale)
    pieces = 1 + draw.integers(0, 6, count) * draw.integers(0, 2, count)
    return Given(at, pieces, service, int(draw.choice([1, 2, 4, 128])), merge)


@pytest.mark.parametrize("omega", OMEGAS)
@pytest.mark.parametrize("servers", [1, 2, 3, 4])
def test_figures_are_those_of_the_paper(write: Write, servers: int, omega: float) -> None:
    """One merge value applies to all classes, or each class has its own."""
    for seed in range(10):
        draw = np.random.default_rng([seed, servers])
        classes = [
            random_class(draw, omega if seed % 2 else float(draw.choice([1, omega])))
            for _ in range(draw.integers(1, 5))
        ]
        figures = simulate(queue(write, classes, servers), seed)
        jobs = naive_jobs(classes, servers, seed)
        are_of(figures, jobs, servers)
        if omega == 1:
            busy = sum(job.completion - job.dispatch for job in jobs)
            assert figures.utilisation == pytest.approx(busy / servers / figures.span_ns)


def test_a_class_that_merges_does_not_merge_others(write: Write) -> None:
    at, ones = np.zeros(60, int), np.ones(60, int)
    classes = [Given(at, ones, exponential(1)), Given(at, ones, exponential(1), 64, 3.0)]
    figures = simulate(queue(write, classes, 1), 1)
    are_of(figures, naive_jobs(classes, 1, 1), 1)
    alone = simulate(queue(write, [replace(one, merge=1) for one in classes], 1), 1)
    assert figures.span_ns < 0.7 * alone.span_ns
    assert figures.each[1] != alone.each[1]


def test_requests_before_an_instant_are_as_if_no_others_came(write: Write) -> None:
    draw = np.random.default_rng(3)
    classes = [random_class(draw, 2.5) for _ in range(3)]
    until = int(np.median(classes[0].at)) + 1
    short = [
        replace(one, at=one.at[one.at < until], pieces=one.pieces[one.at < until])
        for one in classes
    ]
    assert any(len(one.at) < len(whole.at) for one, whole in zip(short, classes, strict=True))
    cut = simulate(queue(write, classes, 2, until_ns=until), 1)
    assert cut == simulate(queue(write, short, 2), 1)
    last = max(int(one.at[-1]) for one in classes)
    whole = simulate(queue(write, classes, 2), 1)
    assert whole == simulate(queue(write, classes, 2, until_ns=last + 1), 1) != cut


def test_a_class_of_which_no_request_comes_in_time_has_no_figures(write: Write) -> None:
    classes = [Given([0], [1], ONE_NS), Given([10], [1], ONE_NS)]
    figures = simulate(queue(write, classes, 1, until_ns=10), 1)
    assert (figures.each[1].requests, figures.each[1].pieces, figures.each[1].in_system) == (
        0,
        0,
        0,
    )
    assert (figures.span_ns, figures.in_system, figures.utilisation) == (1, 1, 1)


# The open queue compared with the engine and a table.


@pytest.mark.parametrize("servers", [1, 3, 32])
def test_without_splitting_and_merging_it_is_a_table(write: Write, servers: int) -> None:
    draw = np.random.default_rng(servers)
    count, weights = 4000, (1, 3, 7)
    processes = ("poisson", "mmpp", "branches")
    services = [ServiceTimes.of(PROCESSES[name].tables()) for name in processes]
    gap_ns = sum(PROCESSES[name].mean for name in processes) / servers / 0.8
    at = [np.cumsum(draw.exponential(gap_ns, count).astype(int)) for _ in weights]
    rows = Rows(
        first=np.arange(4) * count,
        think_ns=np.concatenate([np.diff(times, prepend=0) for times in at]),
        sector=np.zeros(3 * count, int),
        sectors=np.ones(3 * count, int),
        op=np.zeros(3 * count, int),
        owner=np.repeat(np.arange(3), count),
        cost_ns=np.concatenate([one.draw(count, 9, k) for k, one in enumerate(services)]),
    )
    answer = run(
        Simulation(
            workload="rows-open",
            scheduler="sfq",
            device=Array(servers),
            capacity_sectors=1,
            requests=3 * count,
            processes=3,
            rows=rows,
            weights=weights,
            tunables={"depth": servers},
        )
    )
    response = answer.rows["completion_ns"] - answer.rows["arrival_ns"]
    ones = np.ones(count, int)
    classes = [
        Given(arrivals, ones, service, weight)
        for arrivals, service, weight in zip(at, services, weights, strict=True)
    ]
    figures = simulate(queue(write, classes, servers), 9)
    for k, each in enumerate(figures.each):
        own = np.sort(response[answer.rows["owner"] == k])
        assert each.response.mean == own.sum() / count
        assert each.response.variance == pytest.approx(own.var(), rel=1e-9)
        assert each.longest_response_ns == own[-1]
    assert figures.span_ns == answer.rows["completion_ns"].max() - answer.rows["arrival_ns"].min()
    busy = answer.rows["model_service_ns"].sum() / servers / figures.span_ns
    assert figures.utilisation == pytest.approx(busy, rel=1e-12)


# Closed forms.


def mean_responses(
    write: Write, service: ServiceTimes, gap_ms: float, servers: int, merge: float, seeds: int = 20
) -> Any:
    """Return mean response times of independent replications in ms; each is long enough for a
    steady state."""
    means = []
    for seed in range(seeds):
        draw = np.random.default_rng(seed)
        at = np.cumsum(np.round(draw.exponential(gap_ms * MS, 50_000)).astype(int))
        model = queue(write, [Given(at, np.ones(50_000, int), service, 1, merge)], servers)
        means.append(simulate(model, seed).each[0].response.mean / MS)
    return np.array(means)


def test_mean_response_of_one_class_on_one_server(write: Write) -> None:
    """Pollaczek-Khinchine: four stages have a mean square of 1.25."""
    load = 0.6
    wait = 1.25 * load / (2 * (1 - load))
    agrees(mean_responses(write, erlang(4, 1), 1 / load, 1, 1), 1 + wait)


def test_mean_response_of_one_class_on_four_servers(write: Write) -> None:
    load, servers = 0.7, 4
    wait = erlang_c(servers, servers * load) / (servers * (1 - load))
    agrees(mean_responses(write, exponential(1), 1 / load / servers, servers, 1), 1 + wait)


@pytest.mark.parametrize("offered", [0.5, 3.0])
def test_mean_response_if_a_server_takes_all_that_wait(write: Write, offered: float) -> None:
    """Service takes a constant time s, and `offered` requests arrive at random during one service.
    A request that arrives during a service waits s / 2 on average and takes s; a request that finds
    the server idle takes s.  After a service, the server is idle with probability e^-offered, until
    the next arrival.  900 stages are nearly constant.
    """
    idle = math.exp(-offered) / (offered + math.exp(-offered))
    means = mean_responses(write, erlang(900, 1), 1 / offered, 1, math.inf, seeds=8)
    agrees(means, 1.5 - idle / 2)


def test_pieces_of_a_request_are_served_side_by_side(write: Write) -> None:
    """A request has two pieces on two servers, and its response is the mean of both, not the
    later one."""
    at = np.arange(20_000) * 100 * MS
    figures = simulate(queue(write, [Given(at, np.full(20_000, 2), exponential(1))], 2), 1)
    assert figures.each[0].response.mean / MS == pytest.approx(1.0, abs=0.02)
    assert figures.each[0].response.variance / MS**2 == pytest.approx(0.5, abs=0.03)


# Replications.


def test_a_seed_says_all_and_threads_nothing(write: Write) -> None:
    draw = np.random.default_rng(5)
    model = queue(write, [random_class(draw, 2.5) for _ in range(3)], 2)
    alone = [simulate(model, seed) for seed in range(6)]
    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(lambda seed: simulate(model, seed), range(6))) == alone
    assert len({one.in_system for one in alone}) == 6


def test_progress_is_told_and_may_end_it(write: Write) -> None:
    at = np.arange(60_000) * 100 * MS
    model = queue(write, [Given(at, np.full(60_000, 200), exponential(0.4))], 1)

    def enough(done: int) -> None:
        raise KeyboardInterrupt(done)

    with pytest.raises(KeyboardInterrupt):
        simulate(model, 1, look=enough)
