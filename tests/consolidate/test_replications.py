# SPDX-License-Identifier: MIT
"""Replications on an engine: the same figures, however many run at a time and in which order."""

import json
import threading
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import Any

import pytest
from measured_vms import run, tenant

from understudy_devices.base.errors import Unstable
from understudy_devices.consolidation.prediction import Effort, predict
from understudy_devices.consolidation.replications import Replications, Simulation
from understudy_devices.consolidation.scenario import Scenario
from understudy_devices.engine import Answer, T, Work
from understudy_devices.native.open_queue import QueueFigures


class Text:
    """An engine that answers in reverse order, and passes answers on as text.

    The replications whose places in the run are in `unstable` are unstable.
    """

    notice = ""

    def __init__(self, *unstable: int) -> None:
        self.unstable = unstable
        self.items: list[dict[str, Any]] = []
        self.answered = 0

    def run(
        self, work: Work[T], items: Mapping[str, T]
    ) -> Generator[tuple[str, Answer], None, None]:
        self.items.append(dict(items))
        for place, (key, item) in reversed(list(enumerate(items.items()))):
            answer = work(item, threading.Event())
            if place in self.unstable:
                answer = {"unstable": f"number {place}", "load": place / 2}
            self.answered += 1
            yield key, json.loads(json.dumps(answer))


@pytest.fixture
def scenario(tmp_path: Path) -> Scenario:
    runs = [run(tmp_path / f"{i}", [0, 10, 20, 30 + i], [5, 6, 7, 8]) for i in range(3)]
    return Scenario((tenant("vm", *runs), tenant("other", runs[0], weight=3)), 2)


def test_figures_are_carried_as_text_without_a_loss(scenario: Scenario) -> None:
    here = Replications(scenario).run(range(3), (1, 1.5))
    there = Replications(scenario, engine=Text()).run(range(3), (1, 1.5))
    assert there == here
    for one, other in zip(here, there, strict=True):
        for ours, theirs in zip(one.each, other.each, strict=True):
            assert (ours.distribution_ns == theirs.distribution_ns).all()
            assert ours.distribution_ns.dtype == theirs.distribution_ns.dtype
            assert list(ours.response_percentiles) == list(theirs.response_percentiles)


@pytest.mark.parametrize("at_once", [1, 10, 11, 35, 1000])
def test_a_prediction_is_the_same_with_more_at_once(scenario: Scenario, at_once: int) -> None:
    for effort in (Effort(precision=0.2), Effort(replications=13)):
        here = predict(Replications(scenario), effort)
        engine = Text()
        there = predict(Replications(scenario, 1, engine, at_once), effort)
        assert there.replications == here.replications
        most = min(-(-at_once // 10) * 10, effort.replications or 200)
        assert len(engine.items[0]) == most


def test_what_is_unstable_beyond_the_last_batch_does_not_count(scenario: Scenario) -> None:
    def batches(*unstable: int) -> list[list[QueueFigures]]:
        many = Replications(scenario, 1, Text(*unstable), at_once=40).batches(10, 40, (1, 1))
        return [next(many), next(many)]

    assert batches(39, 20) == batches()
    with pytest.raises(Unstable, match="number 12") as raised:
        batches(39, 12, 19)
    assert raised.value.load == 6
    with pytest.raises(Unstable, match="number 3"):
        Replications(scenario, engine=Text(8, 3, 5)).run(range(10), (1, 1))


def test_an_unstable_one_ends_those_behind_it(scenario: Scenario) -> None:
    class Forward(Text):
        def run(
            self, work: Work[T], items: Mapping[str, T]
        ) -> Generator[tuple[str, Answer], None, None]:
            yield from super().run(work, dict(reversed(list(items.items()))))

    engine = Forward(37)  # of the reversed items, so number 2
    with pytest.raises(Unstable):
        Replications(scenario, engine=engine).run(range(40), (1, 1))
    assert engine.answered == 3


def test_keys_are_of_the_content(scenario: Scenario, tmp_path: Path) -> None:
    """The same files in another folder have the same keys; any other input has others."""

    def keys(scenario: Scenario, seed: int = 1, merge: float = 1.0) -> set[str]:
        engine = Text()
        Replications(scenario, seed, engine).run(range(4), (merge, 1))
        return set(engine.items[0])

    first, other = scenario.tenants
    runs = [run(tmp_path / "b" / f"{i}", [0, 10, 20, 30 + i], [5, 6, 7, 8]) for i in range(3)]
    moved = Scenario((tenant("vm", *runs), tenant("other", runs[0], weight=3)), 2)
    assert keys(moved) == keys(scenario)
    later = tenant("other", run(tmp_path / "c", [0, 11, 20, 30], [5, 6, 7, 8]), weight=3)
    slower = tenant("other", runs[0], weight=3, mean_ms=6)
    heavier = tenant("other", runs[0], weight=4)
    kinds = [
        keys(scenario),
        keys(scenario, seed=2),
        keys(scenario, merge=1.5),
        keys(Scenario((first, other), 3)),
        *(keys(Scenario((first, one), 2)) for one in (later, slower, heavier)),
    ]
    assert len(set().union(*kinds)) == 4 * len(kinds)


def test_an_item_does_not_carry_the_requests(scenario: Scenario) -> None:
    """Arrivals that were read stay in their file."""
    for one in scenario.tenants:
        assert one.vm.runs[0].arrivals.arrival_ns.size
    engine = Text()
    Replications(scenario, engine=engine).run(range(2), (1, 1))
    for item in engine.items[0].values():
        assert isinstance(item, Simulation)
        assert all("arrival_ns" not in vars(one.arrivals) for one in item.queue.classes)
