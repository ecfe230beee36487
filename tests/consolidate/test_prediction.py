# SPDX-License-Identifier: MIT
"""How a prediction is made: how many replications, which merge value, and what is reported.  What
the replications return is given here."""

import math
import time
from collections.abc import Callable, Sequence
from itertools import count
from math import inf
from pathlib import Path
from typing import Any

import pytest
from measured_vms import class_figures, queue_figures, run, tenant

from understudy_devices.base.errors import RunFailed, Unstable
from understudy_devices.consolidation import prediction, replications
from understudy_devices.consolidation.prediction import Effort, Prediction, predict
from understudy_devices.consolidation.replications import Drawn, Merge, Replications
from understudy_devices.consolidation.scenario import Scenario
from understudy_devices.engine.local import Local
from understudy_devices.native.open_queue import QueueFigures

Figures = Callable[[int, Merge], QueueFigures]


class Given(Replications):
    """Replications whose figures a function returns; `ran` is appended to for each call."""

    def __init__(self, scenario: Scenario, figures: Figures) -> None:
        super().__init__(scenario)
        object.__setattr__(self, "figures", figures)
        object.__setattr__(self, "ran", [])

    def _outcomes(
        self,
        numbers: Sequence[int],
        merge: Merge,
        done: Callable[[], None],
        part: float | None = None,
    ) -> list[QueueFigures | Unstable]:
        if part is not None:
            return [steady(number, merge) for number in numbers]
        self.__dict__["ran"].append((list(numbers), merge))
        each: list[QueueFigures | Unstable] = []
        for number in numbers:
            try:
                each.append(self.__dict__["figures"](number, merge))
            except Unstable as error:
                return [*each, error]
            done()
        return each


@pytest.fixture
def scenario(tmp_path: Path) -> Scenario:
    """Return two VMs on four servers, with 1 and 3 requests in the system when they are alone."""
    web = tenant("web", run(tmp_path / "web", [0, 10, 20], [10, 10, 10]), mean_ms=20)
    mail = tenant("mail", run(tmp_path / "mail", [0, 0, 0, 20], [30, 30, 30, 0]), weight=2)
    return Scenario((web, mail), 4)


def steady(_: int, merge: Merge) -> QueueFigures:
    return queue_figures(*(class_figures(10, in_system=8 / one) for one in merge))


def spread(by: float) -> Figures:
    """Return figures whose means are 100 ms and, in every second replication, `by` more or less."""
    return lambda number, _: queue_figures(
        class_figures(100 + by * (-1) ** number), class_figures(10)
    )


@pytest.mark.parametrize(
    ("effort", "by", "batches"),
    [
        (Effort(), 0, [10]),
        (Effort(), 6, [10]),
        (Effort(), 8, [10, 10]),
        (Effort(precision=0.02), 8, [10] * 7),
        (Effort(), 100, [10] * 20),
        (Effort(replications=3), 100, [3]),
        (Effort(replications=25), 0, [10, 10, 5]),
    ],
)
def test_batches_continue_until_each_mean_is_known(
    scenario: Scenario, effort: Effort, by: float, batches: list[int]
) -> None:
    """The half width of a mean's interval is at most 5 % of the mean, unless a number is given."""
    given = Given(scenario, spread(by))
    found = predict(given, effort)
    ran = given.__dict__["ran"]
    assert [len(numbers) for numbers, _ in ran] == batches
    assert [number for numbers, _ in ran for number in numbers] == list(range(sum(batches)))
    assert {merge for _, merge in ran} == {(1.0, 1.0)}
    assert len(found.replications) == sum(batches)
    assert found.searches == ()
    assert found.converged is (by < 100)


def test_a_single_replication_has_no_interval(scenario: Scenario) -> None:
    found = predict(Given(scenario, steady), Effort(replications=1))
    assert [one.mean.half_width for one in found.together] == [None, None]
    assert not found.converged
    assert found.together[0].limits_ms is not None
    alone = Prediction(scenario, Effort(replications=1), (1, 1), (), found.replications, 0)
    assert alone.together[0].limits_ms is None


def test_an_unstable_resample_leaves_no_upper_limit(scenario: Scenario) -> None:
    class Endless(Given):
        def resampled(self, count: int, merge: Merge, part: float) -> list[QueueFigures | Unstable]:
            return [steady(0, merge), Unstable("unstable", 1.2)]

    [one, other] = predict(Endless(scenario, steady), Effort(replications=2)).together
    assert one.limits_ms
    assert other.limits_ms
    assert (one.limits_ms[1], other.limits_ms[1]) == (inf, inf)


def test_an_interval_just_as_narrow_as_asked_is_narrow(scenario: Scenario) -> None:
    found = predict(Given(scenario, spread(8)), Effort(replications=10))
    half = found.together[0].mean.half_width
    assert half is not None
    for share, narrow in ((half / 100, True), (half / 100.001, False)):
        effort = Effort(replications=10, precision=share)
        assert Prediction(scenario, effort, (1, 1), (), found.replications, 0).converged is narrow


def test_the_figures_of_each_vm_are_means_of_its_own(scenario: Scenario) -> None:
    def figures(number: int, _: Merge) -> QueueFigures:
        return queue_figures(
            class_figures(10 + number, 3 + number, p95_ms=20 + 4 * number), class_figures(50)
        )

    found = predict(Given(scenario, figures), Effort(merge=2.0, replications=2))
    web, mail = found.together
    assert (web.mean.mean, mail.mean.mean) == (10.5, 50)
    assert web.percentiles == {50: 10.5, 95: 22}
    assert web.distribution.tolist() == [10.5] * 1000
    assert (web.requests, web.in_system, web.merge) == (1000, 3.5, 2)
    assert found.expected == 4
    assert found.load == pytest.approx(scenario.offered_load / 2)
    apart = Prediction(scenario, Effort(), (1, math.inf), (), found.replications, 4)
    assert apart.load == pytest.approx(scenario.tenants[0].erlangs / 4)


@pytest.mark.parametrize(
    ("how", "merge", "tries"),
    [
        ("common", (2.0, 2.0), [(1, 1), (2, 2)]),
        ("per-vm", (8**0.5, (8 / 3) ** 0.5), None),
        (2.5, (2.5, 2.5), []),
        ("2.5", (2.5, 2.5), []),
    ],
)
def test_the_merge_value_is_searched_for_as_asked(
    scenario: Scenario, how: str | float, merge: Merge, tries: list[Merge] | None
) -> None:
    """Merging divides each queue's length, so 16 requests without merging become 4 in a corrected
    queue if two are merged."""
    given = Given(scenario, steady)
    told: list[tuple[str, float]] = []
    found = predict(given, Effort(merge=how, replications=2), lambda *words: told.append(words))
    assert found.merge == pytest.approx(merge, rel=0.03)
    searches = [one for numbers, one in given.__dict__["ran"] if len(numbers) == 10]
    assert tries is None or searches == tries
    assert [one.merge for one in found.searches] == list(found.merge[: len(found.searches)])
    assert len(found.searches) == {"common": 1, "per-vm": 2}.get(str(how), 0)
    assert given.__dict__["ran"][-1] == ([0, 1], found.merge)
    if how == "common":
        assert told[:2] == [("merge value 1", 0), ("merge value 2", 0)]
        assert found.searches[0].expected == 4
    assert told[-3:-1] == [("replications 1 to 2 of at most 2", share) for share in (0.5, 1)]
    assert told[-1] == ("resamples of the traces", 0)


def test_a_queue_without_an_end_is_infinitely_long_in_a_search(scenario: Scenario) -> None:
    def figures(number: int, merge: Merge) -> QueueFigures:
        if min(merge) < 1.5:
            raise Unstable("unstable", 2.0)
        return steady(number, merge)

    found = predict(Given(scenario, figures), Effort(merge="common", replications=1))
    assert [one.queue_length for one in found.searches[0].tried] == [math.inf, 8]
    found = predict(Given(scenario, figures), Effort(merge="per-vm", replications=1))
    assert all(search.within for search in found.searches)
    with pytest.raises(Unstable):
        predict(Given(scenario, figures), Effort(replications=1))


@pytest.mark.parametrize(
    ("requests", "enough"),
    [(40, 10), (50_000, 10), (62_501, 8), (62_500, 8), (200_000, 3), (10**6, 2)],
)
def test_a_search_simulates_enough_requests(
    scenario: Scenario, requests: int, enough: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At least half a million in 2 to 10 replications; of a VM with several runs, a replication
    simulates one."""
    web, _ = scenario.tenants
    [one] = web.vm.runs
    monkeypatch.setattr(type(one), "requests", property(lambda _: requests))
    twice = tenant("web", one, one)
    assert prediction._enough(Scenario((twice,), 4)) == enough


def test_runs_of_a_replication_depend_on_seed_and_number(tmp_path: Path) -> None:
    """The shortest run ends a replication."""
    runs = [run(tmp_path / f"{i}", [0, 10 * (i + 1)], [5, 5]) for i in range(3)]
    scenario = Scenario((tenant("vm", *runs), tenant("other", *runs)), 4)
    drawn = [Replications(scenario, seed).drawn(number) for seed in (1, 2) for number in range(20)]
    assert drawn == [
        Replications(scenario, seed).drawn(number) for seed in (1, 2) for number in range(20)
    ]
    assert {tuple(one.name for one in each.runs) for each in drawn[:20]} != {("0", "0")}
    assert drawn[:20] != drawn[20:]
    assert {one.name for each in drawn for one in each.runs} == {"0", "1", "2"}
    both = Drawn((runs[2], runs[0]))
    assert both.until_ns == 10_000_001
    assert both.expected == pytest.approx([1, 10 / 15])  # the first run's last request is too late


def test_what_is_simulated_is_the_scenario(
    scenario: Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each replication has a seed of its own, which also depends on the seed given."""
    queues: list[Any] = []

    def simulated(queue: Any, seed: int, look: Any) -> QueueFigures:
        look(1)
        queues.append((queue, seed))
        return queue_figures(class_figures(1), class_figures(1))

    monkeypatch.setattr(replications, "simulate", simulated)
    done: list[int] = []
    for seed in (1, 2):
        Replications(scenario, seed, Local(1)).run(range(2), (1.5, 2.5), lambda: done.append(1))
    assert len(done) == 4
    assert len({seed for _, seed in queues}) == 4
    assert all(0 <= seed < 2**63 for _, seed in queues)
    queue = queues[0][0]
    assert [(one.weight, one.merge) for one in queue.classes] == [(1, 1.5), (2, 2.5)]
    assert [one.arrivals for one in queue.classes] == [
        one.vm.runs[0].arrivals for one in scenario.tenants
    ]
    assert [one.service for one in queue.classes] == [one.service for one in scenario.tenants]
    assert (queue.servers, queue.until_ns) == (4, 20_000_001)


def test_one_that_fails_stops_the_others(
    scenario: Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other one looks from time to time whether it is to stop."""
    numbers, until_s = count(), time.monotonic() + 20

    def simulated(_: Any, seed: int, look: Any) -> QueueFigures:
        if next(numbers):
            raise RunFailed("first")
        while time.monotonic() < until_s:
            look(1)
        raise AssertionError("not stopped")

    monkeypatch.setattr(replications, "simulate", simulated)
    with pytest.raises(RunFailed, match=r"first|stopped because another replication failed"):
        Replications(scenario, engine=Local(2)).run(range(2), (1, 1))


def test_the_load_of_a_scenario(tmp_path: Path) -> None:
    """Three requests of two pieces in 30 ms, each piece 5 ms long, keep one server busy."""
    one = tenant("vm", run(tmp_path / "vm", [0, 10, 20], [10, 10, 10], [2, 2, 2]))
    assert one.erlangs == pytest.approx(1)
    for vms, servers, fewest in ((1, 4, 2), (3, 2, 4)):
        both = Scenario((one,) * vms, servers)
        assert both.offered_load == pytest.approx(vms / servers)
        assert both.fewest_servers in (fewest, fewest - 1)  # of 1.0000001 or 0.9999999
    assert Scenario((one,), 4).product_form_ms() == pytest.approx([10 / (1 - 1 / 4)])
