# SPDX-License-Identifier: MIT
"""Which k a warm-up leads to, and which runs count; no VM is booted here."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest
from sample_runs import experiment, outcome

from understudy_devices.ask.experiment import Experiment, Outcome
from understudy_devices.base.errors import RunFailed
from understudy_devices.campaign.result import Result
from understudy_devices.measure.records import RECORD
from understudy_devices.platforms.vm import self_scaling
from understudy_devices.show import table

SERVICE_NS = 4_000_000


@pytest.fixture(autouse=True)
def nothing_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(self_scaling, "_found", {})


def warmed_up(scale_milli: int, overshoot_ns: int, before: int = 0) -> dict[str, bytes]:
    """Return a warm-up's files: 500 early requests, late by `before` ns more, and 1,000 others."""
    rows = np.zeros(1500, RECORD)
    rows["arrival_ns"] = rows["pick_ns"] = rows["dispatch_ns"] = np.arange(1, 1501) * 10**9
    rows["model_service_ns"], rows["sectors"] = SERVICE_NS, 8
    rows["due_ns"] = rows["dispatch_ns"] + SERVICE_NS
    rows["completion_ns"] = rows["due_ns"] + overshoot_ns
    rows["completion_ns"][:500] += before
    rows["request_id"] = np.arange(1, 1501)
    return {"scale_milli": f"{scale_milli}\n".encode(), "records": rows.tobytes()}


@pytest.mark.parametrize(
    ("scale_milli", "overshoot_ns", "before", "scale"),
    [
        (1000, 8_000, 0, 1.0),  # precise enough already
        (3051, 8_000, 0, 3.051),  # the kernel raised k to this value
        (1000, 180_000, 0, 3.0),  # 180 us are 1.5 % of three times 4 ms
        (1000, 8_000, 10**8, 1.0),  # the early requests do not count
        (1000, 10**9, 0, 100.0),
    ],
)
def test_k(scale_milli: int, overshoot_ns: int, before: int, scale: float) -> None:
    """The result is the kernel's k, or the k at which lateness is a small share of a service."""
    out = warmed_up(scale_milli, overshoot_ns, before)
    assert self_scaling.needed(out) == pytest.approx(scale)


def late(run: Experiment, number: int) -> Outcome:
    """Return the outcome of a run with this number of late requests."""
    answer = outcome(run)
    return replace(
        answer, requests=answer.requests.with_columns(late=pl.int_range(pl.len()) < number)
    )


class Host:
    """A host with a given number of late requests among 1,000, for each run."""

    def __init__(self, *late: int) -> None:
        self._late: Iterator[int] = iter(late)
        self.found = 0
        self.scales: list[float] = []

    def find(self, warm_up: Experiment) -> float:
        assert warm_up.platform.to_find
        self.found += 1
        return 2.1

    def measure(self, held: Experiment) -> Outcome:
        assert not held.platform.to_find
        self.scales.append(held.platform.scale)
        return late(held, next(self._late))

    def measured(self, **changes: Any) -> Outcome:
        run = experiment(clock="wall", requests=1000, **changes)
        return self_scaling.measured(run, self.find, self.measure, lambda *_: None)


def test_a_run_with_too_many_late_is_repeated() -> None:
    """The second run has a larger k, and later runs begin with this k."""
    host = Host(11, 500, 10, 0)
    assert host.measured().experiment.platform.scale == 5
    assert host.scales == [3, 4, 5]
    assert host.measured(scheduler="sstf", seed=2).experiment.platform.think_scale == 5
    assert host.found == 1


def test_another_question_is_warmed_up_for_again() -> None:
    host = Host(0, 0, 0)
    host.measured()
    host.measured(virtual_bytes=2**30)
    host.measured(processes=3)
    assert host.found == 3


def test_a_host_that_is_too_busy() -> None:
    """The run fails."""
    host = Host(300, 200, 100, 50)
    with pytest.raises(RunFailed, match="50 of 1,000 requests were late with k = 7, in 4 runs"):
        host.measured()


def told(*runs: tuple[str, float, int], clock: str = "wall") -> str:
    """Return the lines below the table of runs (scheduler, k, late requests in 1,000)."""
    outcomes = tuple(
        late(experiment(scheduler=name, scale=scale, clock=clock, requests=1000), number)
        for name, scale, number in runs
    )
    return "\n".join(table.sentences(Result("understudy predict", outcomes)))


def test_what_a_table_says_of_k() -> None:
    """The table mentions k only if some runs do not count or have different k."""
    assert "k was" not in told(("cats", 3, 10), ("none", 3, 0))
    assert "late" not in told(("cats", 3, 10), ("none", 3, 0))
    assert "no pick: k was 3 to 4, raised" in told(("cats", 3, 10), ("none", 4, 0))
    sentences = told(("cats", 2, 11), ("none", 2, 10), ("sstf", 2, 300))
    assert "more than 10 were late (cats 11, sstf 300): these runs do not count" in sentences
    assert "pick " not in sentences
    assert "pick " in told(("cats", 2, 10), ("none", 2, 10))
    assert "late" not in told(("cats", 1, 11), clock="virtual")
