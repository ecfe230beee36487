# SPDX-License-Identifier: MIT
"""D from traces of devices with a known number of servers."""

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
from independent_consolidation import (
    Draw,
    Floats,
    Requests,
    Row,
    drawn,
    exponential,
    lognormal,
    narrow,
    responses,
)

from understudy_devices.consolidation.parallelism import (
    Trace,
    _agrees,
    _by_throughput,
    consistent,
    contradicts,
    estimated,
    limits,
)
from understudy_devices.consolidation.service_times import served


def trace(requests: Requests, times: Floats) -> Trace:
    return (requests.at * 1e6).astype(np.int64), np.maximum(1, times * 1e6).astype(np.int64)


def in_order(service: Draw, servers: int, load: float, count: int = 3000) -> Trace:
    row = Row("", service, servers=servers, load=load)
    requests = drawn(row, 1.0, count, np.random.default_rng(3))
    return trace(requests, responses([requests], [1], servers)[0])


def at_random(servers: int, load: float, count: int = 6000) -> Trace:
    """A device that takes any of the waiting requests."""
    random = np.random.default_rng(4)
    row = Row("", exponential, servers=servers, load=load)
    requests = drawn(row, 1.0, count, random)
    waiting: list[int] = []
    busy: list[float] = []
    ends = np.zeros(count)
    for i in range(count + 1):
        now = requests.at[i] if i < count else np.inf
        while busy and min(busy) <= now:
            free = min(busy)
            busy.remove(free)
            if waiting:
                take = waiting.pop(int(random.integers(len(waiting))))
                ends[take] = free + requests.service[take]
                busy.append(ends[take])
        if i < count and len(busy) < servers:
            ends[i] = now + requests.service[i]
            busy.append(ends[i])
        elif i < count:
            waiting.append(i)
    return trace(requests, ends - requests.at)


@pytest.mark.parametrize("servers", [1, 4, 8, 32])
@pytest.mark.parametrize("service", [exponential, lognormal, narrow])
def test_a_device_that_serves_in_order(service: Draw, servers: int) -> None:
    known = estimated([in_order(service, servers, 0.9)])
    assert known
    assert abs(known.servers - servers) <= servers // 8
    assert f"waited for one of {known.servers} servers" in known.how


@pytest.mark.parametrize("servers", [2, 4, 8])
def test_a_device_that_serves_in_another_order(servers: int) -> None:
    """The throughput stops growing at D, but the trace contradicts that requests wait in order."""
    traces = [at_random(servers, 0.95), at_random(servers, 0.9)]
    known = _by_throughput(traces)
    assert known
    assert abs(known.servers - servers) <= max(1, servers // 8)
    assert "the throughput does not grow" in known.how
    assert estimated(traces) is None


def test_limits_of_an_unknown_number() -> None:
    """The smallest number is one with which few requests complete too early; with the largest, none
    of any VM waits."""
    traces = [in_order(exponential, 32, 0.2), at_random(4, 0.9)]
    low, high = limits([[traces[0]], [traces[1]]])
    assert all(_agrees(trace, low) for trace in traces)
    assert not all(_agrees(trace, low - 1) for trace in traces)
    alone = [consistent([trace]).servers for trace in traces]
    assert high == sum(alone)
    assert limits([traces])[1] == max(alone)


def test_one_at_a_time_may_be_any_device() -> None:
    trace = np.arange(100) * 1000, np.full(100, 500)
    assert limits([[trace]]) == (1, 1)
    assert limits([[trace], [trace], [trace, trace]]) == (1, 3)


@pytest.mark.parametrize(
    "make", [partial(in_order, exponential, 32, 0.2), partial(at_random, 32, 0.2)]
)
def test_a_device_that_is_never_full_does_not_show_it(make: Callable[[], Trace]) -> None:
    assert estimated([make()]) is None
    assert contradicts([make()], 8) is None


def test_one_at_a_time_shows_nothing() -> None:
    """The next request arrives when the last one has completed: any device does that."""
    service = exponential(np.random.default_rng(1), 1000)
    requests = Requests(np.concatenate([[0], np.cumsum(service)[:-1]]), service)
    assert estimated([trace(requests, service)]) is None
    assert estimated([(np.array([5]), np.array([1]))]) is None


def test_a_number_of_servers_far_from_what_a_trace_shows() -> None:
    full = in_order(exponential, 4, 0.9)
    assert contradicts([full], 4) is None
    assert contradicts([full], 5) is None
    far = contradicts([full], 32)
    assert far
    assert far.servers == 4


def test_a_consistent_number_is_the_estimate_or_the_most_outstanding() -> None:
    """With the second number no request waits.  It is used if nothing else agrees with the trace:
    here since requests are served in another order."""
    assert consistent([in_order(exponential, 8, 0.8)]).servers in range(7, 10)
    arrival_ns, response_ns = at_random(4, 0.9)
    shown = consistent([(arrival_ns, response_ns)])
    assert shown.servers > 8
    assert served(arrival_ns, response_ns, shown.servers).waited == 0
    assert served(arrival_ns, response_ns, shown.servers - 1).waited > 0
