# SPDX-License-Identifier: MIT
"""Service times drawn by the simulator, compared draw by draw with a naive walk
(naive_consolidation.py), and with closed forms."""

from typing import Any, NamedTuple

import naive_consolidation as naive
import numpy as np
import pytest

from understudy_devices.consolidation.branches import Branches
from understudy_devices.consolidation.map import MarkovianArrivalProcess
from understudy_devices.native.service_times import ServiceTimes

MANY = 1_000_000


def poisson() -> MarkovianArrivalProcess:
    return MarkovianArrivalProcess([[-1e-6]], [[1e-6]])


def erlang() -> MarkovianArrivalProcess:
    """Sixteen stages of 100 us."""
    stay = -np.eye(16) + np.eye(16, k=1)
    ends = np.zeros((16, 16))
    ends[-1, 0] = 1
    return MarkovianArrivalProcess(stay * 1e-5, ends * 1e-5)


def hyperexponential() -> MarkovianArrivalProcess:
    rates = np.array([1e-7, 1e-5])
    return MarkovianArrivalProcess(-np.diag(rates), np.outer(rates, [0.1, 0.9]))


def mmpp() -> MarkovianArrivalProcess:
    """Return a process with two phases of Poisson arrivals; each phase lasts for some tens of
    arrivals."""
    return MarkovianArrivalProcess([[-1.02e-5, 2e-7], [1e-8, -5.1e-7]], [[1e-5, 0], [0, 5e-7]])


def random_process(order: int, seed: int) -> MarkovianArrivalProcess:
    rates = np.exp(np.random.default_rng(seed).normal(0, 1.5, (2, order, order))) * 1e-6
    np.fill_diagonal(rates[0], 0)
    return MarkovianArrivalProcess(rates[0] - np.diag(rates.sum(axis=(0, 2))), rates[1])


def branches() -> MarkovianArrivalProcess:
    """Return a process like a fitted one: Erlang branches of 1, 4 and 11 stages."""
    change = np.array([[0.8, 0.15, 0.05], [0.1, 0.7, 0.2], [0.02, 0.08, 0.9]])
    shapes, rates = np.array([1.0, 4.0, 11.0]), np.array([0.3, 4.0, 30.0])
    return Branches(shapes, rates, change).process(1e6)


PROCESSES = {
    "poisson": poisson(),
    "erlang": erlang(),
    "hyperexponential": hyperexponential(),
    "mmpp": mmpp(),
    "four": random_process(4, 3),
    "branches": branches(),
}


@pytest.mark.parametrize("name", PROCESSES)
def test_times_are_those_of_a_naive_walk(name: str) -> None:
    """Thousands of draws agree up to rounding of 1 ns and of logarithms (2^-32)."""
    tables = PROCESSES[name].tables()
    for seed, stream in ((0, 0), (7, 3), (2**64 - 1, 999)):
        times = ServiceTimes.of(tables).draw(3000, seed, stream)
        expected = naive.service_times(
            tables.rates.tolist(),
            tables.cumulative.tolist(),
            tables.start.tolist(),
            3000,
            naive.SplitMix64(seed, stream),
        )
        mean_stays = 1 / tables.rates.min()
        assert np.abs(times - np.maximum(1, expected)).max() <= 1 + 2e-8 * mean_stays


@pytest.mark.parametrize("name", PROCESSES)
def test_mean_variation_and_autocorrelation_are_those_of_the_process(name: str) -> None:
    process = PROCESSES[name]
    times = ServiceTimes.of(process.tables()).draw(MANY, seed=5).astype(float)
    assert times.min() >= 1
    assert times.mean() == pytest.approx(process.mean, rel=0.01)
    assert times.std() / times.mean() == pytest.approx(process.cv, rel=0.02)
    around = times - times.mean()
    correlations = [np.mean(around[lag:] * around[:-lag]) / around.var() for lag in range(1, 11)]
    assert correlations == pytest.approx(process.autocorrelation(10), abs=0.01)


def test_the_longest_stays_and_the_shortest_are_no_bias() -> None:
    """The means are 100 ns and one minute."""
    for mean in (100.0, 6e10):
        process = MarkovianArrivalProcess([[-1 / mean]], [[1 / mean]])
        times = ServiceTimes.of(process.tables()).draw(MANY, seed=1)
        assert times.mean() == pytest.approx(mean, rel=0.005)


def test_no_time_is_nothing() -> None:
    """A mean of 2^-16 ns would round to 0, but the shortest time is 1 ns."""
    fastest = MarkovianArrivalProcess([[-65536.0]], [[65536.0]])
    assert set(ServiceTimes.of(fastest.tables()).draw(1000, seed=1).tolist()) == {1}


def test_streams_differ_and_seeds_too() -> None:
    times = ServiceTimes.of(poisson().tables())
    samples = [times.draw(100, seed, stream).tolist() for seed, stream in ((1, 0), (1, 1), (2, 0))]
    assert samples[0] == times.draw(100, 1).tolist()
    assert len({tuple(one) for one in samples}) == 3


class Tables(NamedTuple):
    rates: Any
    cumulative: Any
    start: Any


GOOD = Tables([1.0, 1.0], [[0, 0.5, 1, 1], [0, 0, 0.5, 1]], [0.5, 1])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rates": []}, r"rates \(0,\): has to be \(n,\), n from 1 to 1,000"),
        ({"rates": [[1.0]]}, r"rates \(1, 1\): has to be \(n,\)"),
        ({"rates": [1.0]}, r"cumulative is \(2, 4\): has to be \(1, 2\), as there are 1 rates"),
        ({"start": [1.0]}, r"start is \(1,\): has to be \(2,\)"),
        ({"rates": [1.0, 0.0]}, r"rates\[1\] is 0.0: has to be above 0"),
        ({"rates": [-1.0, 1.0]}, r"rates\[0\] is -1.0: has to be above 0"),
        ({"rates": [1.0, np.nan]}, r"rates\[1\] is nan: has to be above 0"),
        ({"rates": [np.inf, 1.0]}, r"rates\[0\] is inf: has to be above 0, and at most 65,536"),
        ({"rates": [1.0, 1e-13]}, r"rates\[1\] is 1e-13: a stay of 1e\+13 ns is far too long"),
        ({"start": [0.5, 0.9]}, r"start ends in 0.9: has to be 1"),
        ({"start": [np.nan, 1]}, r"start\[0\] is nan: has to be from 0, the one before it, to 1"),
        ({"start": [0.6, 0.5]}, r"start\[1\] is 0.5: has to be from 0.6"),
        (
            {"cumulative": [[0, 0.5, 1, 1], [0, 0, 0.5, 0.999]]},
            r"cumulative\[1\] ends in 0.999: has to be 1",
        ),
        (
            {"cumulative": [[0, 0.5, 1, 1.5], [0, 0, 0.5, 1]]},
            r"cumulative\[0\]\[3\] is 1.5: has to be from 1, the one before it, to 1",
        ),
        ({"cumulative": [[0, 1, 1, 1], [1, 1, 1, 1]]}, "from some phase a time never ends"),
        (
            {"cumulative": [[0, 1 - 1e-5, 1, 1], [1, 1, 1, 1]]},
            "phase 1 goes through more than 10,000 phases, or never ends",
        ),
    ],
)
def test_impossible_tables_are_refused(changes: dict[str, Any], message: str) -> None:
    ServiceTimes.of(GOOD)
    with pytest.raises(ValueError, match=message):
        ServiceTimes.of(GOOD._replace(**changes))
