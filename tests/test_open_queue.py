# SPDX-License-Identifier: MIT
"""The open queue of consolidated VMs (ICPE 2011, section 4): against a naive simulation
(naive_consolidation.py) to the nanosecond, against the engine with a table, and closed forms."""

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import naive_consolidation as naive
import numpy as np
import pytest
from test_closed_forms import agrees, erlang_c
from test_service_times import PROCESSES

from understudy.base.errors import Unstable
from understudy.consolidate.map import MarkovianArrivalProcess
from understudy.native.arrivals import Arrivals, write_arrivals
from understudy.native.open_queue import (
    ClassFigures,
    CustomerClass,
    OpenQueue,
    QueueFigures,
    simulate,
)
from understudy.native.service_times import ServiceTimes
from understudy.native.simulation import Array, Rows, Simulation
from understudy.native.simulator import run

MS = 1_000_000
OMEGAS = (1, 2, 2.5, 7, math.inf)
ONE_NS = ServiceTimes.of(MarkovianArrivalProcess([[-65536.0]], [[65536.0]]).tables())


def erlang(stages: int, mean_ms: float) -> ServiceTimes:
    rate = stages / (mean_ms * MS)
    stay = np.eye(stages, k=1) - np.eye(stages)
    ends = np.zeros((stages, stages))
    ends[-1, 0] = 1
    return ServiceTimes.of(MarkovianArrivalProcess(stay * rate, ends * rate).tables())


def exponential(mean_ms: float) -> ServiceTimes:
    return erlang(1, mean_ms)


@dataclass
class Given:
    """One class in numbers."""

    at: Any
    pieces: Any
    service: ServiceTimes
    weight: int = 1
    merge: float = 1


@pytest.fixture
def write(tmp_path: Path) -> Callable[[Any, Any], Arrivals]:
    """Each in a folder of its own."""

    def written(at: Any, pieces: Any) -> Arrivals:
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        folder.mkdir()
        return write_arrivals(folder, at, pieces)

    return written


Write = Callable[[Any, Any], Arrivals]


def queue(write: Write, classes: list[Given], servers: int, **more: Any) -> OpenQueue:
    given = (
        CustomerClass(write(one.at, one.pieces), one.service, one.weight, one.merge)
        for one in classes
    )
    return OpenQueue(tuple(given), servers, **more)


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
    for percent, found in figures.response_percentiles.items():
        exact = responses[-(-round(10 * percent) * count // 1000) - 1]
        assert exact * (1 - 1 / 256) <= found <= exact
        assert found == figures.distribution_ns[round(10 * percent) - 1]
    assert (np.diff(figures.distribution_ns) >= 0).all()


def are_of(figures: QueueFigures, jobs: list[naive.Job], servers: int) -> None:
    """Those of a bundle are dispatched, and complete, at one instant."""
    span = max(job.completion for job in jobs) - min(job.arrival for job in jobs)
    assert figures.span_ns == span
    for k, each in enumerate(figures.each):
        is_of(each, jobs, k, span)
    assert figures.in_system == pytest.approx(sum(each.in_system for each in figures.each))


def random_class(draw: np.random.Generator, merge: float) -> Given:
    """Bursts, ties and pauses; times from a ns to some ms, and from any process."""
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
    """With one merge value for all, and with one for each class."""
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
    found = simulate(queue(write, classes, 1), 1)
    are_of(found, naive_jobs(classes, 1, 1), 1)
    alone = simulate(queue(write, [replace(one, merge=1) for one in classes], 1), 1)
    assert found.span_ns < 0.7 * alone.span_ns
    assert found.each[1] != alone.each[1]


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
    found = simulate(queue(write, classes, 1, until_ns=10), 1)
    assert (found.each[1].requests, found.each[1].pieces, found.each[1].in_system) == (0, 0, 0)
    assert (found.span_ns, found.in_system, found.utilisation) == (1, 1, 1)


# Against the engine with a table.


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
    found = simulate(queue(write, classes, servers), 9)
    for k, each in enumerate(found.each):
        own = np.sort(response[answer.rows["owner"] == k])
        assert each.response.mean == own.sum() / count
        assert each.response.variance == pytest.approx(own.var(), rel=1e-9)
        assert each.longest_response_ns == own[-1]
    assert found.span_ns == answer.rows["completion_ns"].max() - answer.rows["arrival_ns"].min()
    busy = answer.rows["model_service_ns"].sum() / servers / found.span_ns
    assert found.utilisation == pytest.approx(busy, rel=1e-12)


# Closed forms.


def mean_responses(
    write: Write, service: ServiceTimes, gap_ms: float, servers: int, merge: float, seeds: int = 20
) -> Any:
    """Of independent replications, ms; as long as needed for a queue to be what it will be."""
    found = []
    for seed in range(seeds):
        draw = np.random.default_rng(seed)
        at = np.cumsum(np.round(draw.exponential(gap_ms * MS, 50_000)).astype(int))
        asked = queue(write, [Given(at, np.ones(50_000, int), service, 1, merge)], servers)
        found.append(simulate(asked, seed).each[0].response.mean / MS)
    return np.array(found)


def test_mean_response_of_one_class_on_one_server(write: Write) -> None:
    """Pollaczek and Khinchine: four stages have a mean square of 1.25."""
    load = 0.6
    wait = 1.25 * load / (2 * (1 - load))
    agrees(mean_responses(write, erlang(4, 1), 1 / load, 1, 1), 1 + wait)


def test_mean_response_of_one_class_on_four_servers(write: Write) -> None:
    load, servers = 0.7, 4
    wait = erlang_c(servers, servers * load) / (servers * (1 - load))
    agrees(mean_responses(write, exponential(1), 1 / load / servers, servers, 1), 1 + wait)


@pytest.mark.parametrize("offered", [0.5, 3.0])
def test_mean_response_if_a_server_takes_all_that_wait(write: Write, offered: float) -> None:
    """Constant service s, arrivals at random, `offered` during a service: who comes while it
    works waits half of s and takes s; who finds it idle takes s.  It is idle after a service
    with the chance e^-offered, until the next arrival.  900 stages are nearly constant.
    """
    idle = math.exp(-offered) / (offered + math.exp(-offered))
    found = mean_responses(write, erlang(900, 1), 1 / offered, 1, math.inf, seeds=8)
    agrees(found, 1.5 - idle / 2)


def test_pieces_of_a_request_are_served_side_by_side(write: Write) -> None:
    """Two pieces on two servers, one request at a time: the mean of both, not the later."""
    at = np.arange(20_000) * 100 * MS
    found = simulate(queue(write, [Given(at, np.full(20_000, 2), exponential(1))], 2), 1)
    assert found.each[0].response.mean / MS == pytest.approx(1.0, abs=0.02)
    assert found.each[0].response.variance / MS**2 == pytest.approx(0.5, abs=0.03)


# Replications.


def test_a_seed_says_all_and_threads_nothing(write: Write) -> None:
    draw = np.random.default_rng(5)
    asked = queue(write, [random_class(draw, 2.5) for _ in range(3)], 2)
    alone = [simulate(asked, seed) for seed in range(6)]
    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(lambda seed: simulate(asked, seed), range(6))) == alone
    assert len({one.in_system for one in alone}) == 6


def test_progress_is_told_and_may_end_it(write: Write) -> None:
    at = np.arange(60_000) * 100 * MS
    asked = queue(write, [Given(at, np.full(60_000, 200), exponential(0.4))], 1)

    def enough(done: int) -> None:
        raise KeyboardInterrupt(done)

    with pytest.raises(KeyboardInterrupt):
        simulate(asked, 1, look=enough)


# What cannot be.


def small(write: Write) -> OpenQueue:
    return queue(write, [Given([0, 5, 5], [1, 2, 1], exponential(1), 2, 1.5)] * 2, 2)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"classes": ()}, "no classes: give at least one"),
        ({"servers": 0}, "servers is 0: has to be from 1 to 1,024"),
        ({"servers": 1025}, "servers is 1,025: has to be from 1 to 1,024"),
        ({"max_pending": 0}, "max_pending is 0: has to be from 1 to 1,048,576"),
        ({"until_ns": 0}, "until_ns is 0: has to be from 1"),
        ({"until_ns": 2**62 + 1}, "until_ns is .*: has to be from 1 to 4,611,686,018,427,387,904"),
    ],
)
def test_an_impossible_queue_is_refused(
    write: Write, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        simulate(replace(small(write), **changes), 1)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"weight": 0}, "class 1: weight is 0: has to be from 1"),
        ({"weight": 2**32}, "class 1: weight is 4,294,967,296: has to be from 1"),
        ({"merge": 0.5}, "class 1: merge is 0.5: a server takes at least one request; 1 merges"),
        ({"merge": -math.inf}, "class 1: merge is -inf: a server takes at least one"),
        ({"merge": math.nan}, "class 1: merge is nan: a server takes at least one"),
    ],
)
def test_an_impossible_class_is_refused(
    write: Write, changes: dict[str, Any], message: str
) -> None:
    asked = small(write)
    wrong = (asked.classes[0], replace(asked.classes[1], **changes))
    with pytest.raises(ValueError, match=message):
        simulate(replace(asked, classes=wrong), 1)


@pytest.mark.parametrize("seed", [-1, 2**64])
def test_an_impossible_seed_is_refused(write: Write, seed: int) -> None:
    with pytest.raises(ValueError, match=r"seed is .*: has to be from 0"):
        simulate(small(write), seed)


def test_a_thousand_classes_and_no_more(write: Write) -> None:
    one = queue(write, [Given([0, MS], [2, 1], exponential(1), 1, 2.5)], 8).classes[0]
    found = simulate(OpenQueue((one,) * 1000, 8), 1)
    assert [(each.requests, each.pieces) for each in found.each] == [(2, 3)] * 1000
    assert len({each.response.mean for each in found.each}) > 990
    with pytest.raises(ValueError, match="classes is 1,001: has to be from 1 to 1,000"):
        simulate(OpenQueue((one,) * 1001, 8), 1)


def test_a_queue_without_requests_is_refused(write: Write) -> None:
    late = queue(write, [Given([7], [1], ONE_NS)], 1, until_ns=7)
    with pytest.raises(ValueError, match="no request arrives before 7 ns, which is until_ns"):
        simulate(late, 1)


def test_overload_is_unstable_unless_it_ends_soon(write: Write) -> None:
    """Two servers do 200 a second; a burst of 100,000 pieces is served all the same."""
    at = np.arange(3000) * 10**9 // 300
    classes = [Given(at, np.ones(3000, int), erlang(16, 10))]
    with pytest.raises(Unstable, match=r"more than 50 pieces .* arrive 1\.\d\d times as") as raised:
        simulate(queue(write, classes, 2, max_pending=50), 1)
    assert raised.value.load == pytest.approx(1.5, abs=0.2)
    merged = [replace(classes[0], merge=2)]
    assert simulate(queue(write, merged, 2, max_pending=50), 1).each[0].requests == 3000
    burst = queue(write, [Given([0, 0], [60_000, 40_000], erlang(16, 10))], 2)
    assert simulate(burst, 1).each[0].pieces == 100_000
    with pytest.raises(Unstable, match="not one is served yet") as at_once:
        simulate(replace(burst, max_pending=99_999), 1)
    assert at_once.value.load is None


# Files that are not what they were.


def spoiled(write: Write, begin: int, value: bytes) -> OpenQueue:
    """Six requests of two classes; the second file has other bytes from there on."""
    asked = small(write)
    file = asked.classes[1].arrivals.path
    held = bytearray(file.read_bytes())
    held[begin : begin + len(value)] = value
    file.write_bytes(held)
    return asked


FIRST_NS, PIECES = 16, 16 + 3 * 8


@pytest.mark.parametrize(
    ("begin", "value", "message"),
    [
        (FIRST_NS, (6).to_bytes(8, "little"), "request 1 arrives at 5 ns, before .* at 6 ns"),
        (FIRST_NS, (2**62).to_bytes(8, "little"), "request 0 arrives at .*below 2"),
        (FIRST_NS + 16, (2**64 - 1).to_bytes(8, "little"), "request 2 arrives at -1 ns"),
        (PIECES, bytes(2), "request 0 has 0 pieces"),
        (PIECES + 4, bytes(2), "request 2 has 0 pieces"),
        (0, b"x", "no file of arrivals: begins with b'xrrivals'"),
        (8, b"\4", "46 bytes, not the 56 of 4 requests"),
        (8, bytes(8), "46 bytes, not the 16 of 0 requests"),
        (46, b"\0", "47 bytes, not the 46 of 3 requests"),
        (46, bytes(10), "56 bytes, not the 46 of 3 requests"),
    ],
)
def test_a_spoiled_file_is_refused(write: Write, begin: int, value: bytes, message: str) -> None:
    with pytest.raises(ValueError, match=f"1/arrivals: {message}"):
        simulate(spoiled(write, begin, value), 1)


def test_what_lies_behind_the_end_is_not_looked_at(write: Write) -> None:
    asked = spoiled(write, FIRST_NS + 16, bytes(8))
    with pytest.raises(ValueError, match="request 2 arrives at 0 ns, before"):
        simulate(asked, 1)
    assert simulate(replace(asked, until_ns=5), 1).each[1].requests == 1


@pytest.mark.parametrize("size", [0, 15, 16, 45])
def test_a_file_that_was_cut_off_is_refused(write: Write, size: int) -> None:
    asked = small(write)
    file = asked.classes[1].arrivals.path
    file.write_bytes(file.read_bytes()[:size])
    with pytest.raises(ValueError, match=f"1/arrivals: {size} bytes, no"):
        simulate(asked, 1)


def test_a_file_that_is_gone_is_refused(write: Write) -> None:
    asked = small(write)
    asked.classes[0].arrivals.path.unlink()
    with pytest.raises(ValueError, match="0/arrivals: No such file or directory"):
        simulate(asked, 1)
