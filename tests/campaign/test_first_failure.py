# SPDX-License-Identifier: MIT
"""Which of several failing runs is named does not depend on which fails first."""

import pickle
import threading
from collections.abc import Generator, Mapping
from pathlib import Path

import pytest
from sample_runs import FakePlatform, experiment

from understudy_devices import platforms
from understudy_devices.ask.experiment import Experiment, Outcome
from understudy_devices.base.errors import RunFailed
from understudy_devices.base.progress import Report
from understudy_devices.campaign import parallel, sweep
from understudy_devices.campaign.failures import Failures
from understudy_devices.engine import Answer, T, Work
from understudy_devices.measure.metrics import Summary

LONG = 60


class LastFirst(FakePlatform):
    """Every run of cats fails, the one with seed 3 first and the one with seed 1 last."""

    def __init__(self) -> None:
        super().__init__()
        self.failed = {seed: threading.Event() for seed in (1, 2, 3, 4)}
        self.failed[4].set()

    def run(self, experiment: Experiment, report: Report, *, stop: threading.Event) -> Outcome:
        if experiment.scheduler.name != "cats":
            return super().run(experiment, report, stop=stop)
        seed = experiment.seed
        assert self.failed[seed + 1].wait(LONG)
        try:
            raise RunFailed(f"cats: seed {seed}")
        finally:
            threading.Timer(0.05, self.failed[seed].set).start()


def test_the_first_failing_run_in_order_is_named() -> None:
    runs = [experiment(scheduler="cats", seed=seed) for seed in (1, 2, 3)]
    runs.append(experiment(scheduler="none", requests=20))
    outcomes, failures = parallel.run_all(LastFirst(), runs, 3, lambda *_: None)
    assert failures == {"cats": "cats: seed 1"}
    assert [run.experiment.scheduler.name for run in outcomes] == ["none"]


def test_runs_behind_a_failing_one_are_left_out() -> None:
    begun: list[int] = []

    class Fails(FakePlatform):
        def run(self, experiment: Experiment, report: Report, *, stop: threading.Event) -> Outcome:
            begun.append(experiment.seed)
            raise RunFailed(f"seed {experiment.seed}")

    runs = [experiment(scheduler="cats", seed=seed) for seed in range(1, 50)]
    assert parallel.run_all(Fails(), runs, 1, lambda *_: None)[1] == {"cats": "seed 1"}
    assert begun == [1]


class Reversed:
    """An engine that carries out the last item first."""

    notice = ""

    def run(
        self, work: Work[T], items: Mapping[str, T]
    ) -> Generator[tuple[str, Answer], None, None]:
        for key, item in reversed(list(items.items())):
            yield key, work(item, threading.Event())


def test_a_sweep_names_the_first_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Fails(FakePlatform):
        def summarise(
            self, experiment: Experiment, report: Report, *, stop: threading.Event
        ) -> Summary:
            raise RunFailed(f"{experiment.scheduler.name}: seed {experiment.seed}")

    monkeypatch.setattr(platforms, "load", lambda name: Fails())
    runs = [experiment(scheduler=name, seed=seed) for name in ("cats", "none") for seed in (2, 1)]
    with sweep.opened(tmp_path / "s.parquet") as book:
        frame, failures = sweep.run(runs, book, Reversed(), lambda *_: None)
    assert not frame.height
    assert list(failures.items()) == [("cats", "cats: seed 2"), ("none", "none: seed 2")]


def test_failures_travel_to_other_machines() -> None:
    failures = Failures()
    failures.add("cats", 5, "five")
    copy = pickle.loads(pickle.dumps(failures))
    assert copy.before("cats", 6) == "five"
    assert copy.before("cats", 5) is None
    assert copy.before("none", 6) is None
    copy.add("cats", 2, "two")
    copy.add("aaa", 3, "three")
    assert list(copy.first().items()) == [("cats", "two"), ("aaa", "three")]
    assert failures.first() == {"cats": "five"}
