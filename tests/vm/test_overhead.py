# SPDX-License-Identifier: MIT
"""The time that kernel and throttle need is not part of a service.

In wall clock a service begins when it could have begun. The oracle is the chain of due times: with
a queue, each request is due one service time after the request before, however late its dispatch
was. If the elevator has kept a request back, its service begins at the pick.
tests/vm/test_scaling.py tests how k is found.
"""

import polars as pl
from guests import experiment, group, once

from understudy_devices.ask.experiment import Outcome
from understudy_devices.measure import metrics, records
from understudy_devices.platforms.vm import in_vm

SCALE = 2


@once
def measured(scheduler: str, scale: float | None) -> Outcome:
    """Run eight processes that read at random, without think time."""
    run = experiment("random", scheduler, requests=200, processes=8, scale=scale, clock="wall")
    answer = in_vm.run(run, lambda *_: None)
    records.check(answer.requests)
    return answer


def chain(answer: Outcome) -> pl.DataFrame:
    """Return when each service began and when it could have begun, in order of dispatch.

    Only requests right after another recorded request are included.
    """
    begun = pl.col("due_ns") - SCALE * pl.col("model_service_ns")
    rows = metrics.carried_requests(answer.requests).select(
        "request_id", "due_ns", "dispatch_ns", "late"
    )
    more = answer.requests.select("request_id", "arrival_ns", "pick_ns", "model_service_ns")
    return (
        rows.join(more, on="request_id")
        .sort("dispatch_ns", "request_id")
        .with_columns(begun_ns=begun, free_ns=pl.col("due_ns").shift(1))
        .filter(pl.col("request_id") == pl.col("request_id").shift(1) + 1)
        .drop_nulls()
    )


@group("overhead-none")
def test_a_queue_is_served_without_a_gap() -> None:
    """Each service begins when the previous one is due, although its dispatch is later."""
    rows = chain(measured("none", SCALE))
    waited = rows.filter((pl.col("arrival_ns") < pl.col("free_ns")) & ~pl.col("late"))
    assert len(waited) > 100
    assert (waited["begun_ns"] == waited["free_ns"]).all()
    assert (waited["dispatch_ns"] > waited["begun_ns"]).all()


@group("overhead-none")
def test_no_service_begins_before_its_request() -> None:
    """A service begins neither before its request arrives nor before the previous
    service is over.
    """
    rows = chain(measured("none", SCALE))
    assert (rows["begun_ns"] >= rows["free_ns"]).all()
    assert (rows["begun_ns"] >= rows["arrival_ns"]).all()


@group("overhead-none")
def test_what_was_subtracted_is_told() -> None:
    answer = measured("none", SCALE)
    rows = chain(answer)
    subtracted = (rows["dispatch_ns"] - rows["begun_ns"]).mean()
    assert isinstance(subtracted, float)
    assert 0.3 * subtracted < answer.facts["subtracted_mean_ns"] < 3 * subtracted


@group("overhead-anticipatory")
def test_the_elevator_may_wait() -> None:
    """A request that was kept back while the disk was free begins when it is picked."""
    rows = chain(measured("anticipatory", SCALE))
    waited = rows.filter((pl.col("arrival_ns") < pl.col("free_ns")) & ~pl.col("late"))
    kept_back = waited.filter(pl.col("begun_ns") != pl.col("free_ns"))
    assert len(kept_back) > 10
    assert (kept_back["begun_ns"] == kept_back["pick_ns"]).all()


@group("overhead-found")
def test_k_is_found_and_held() -> None:
    """A first machine only warms up to find k; the second one measures, and its run counts."""
    answer = measured("sstf", None)
    setting = answer.experiment.platform
    assert setting.scale == setting.think_scale == int(setting.scale) >= 1
    assert answer.facts["late_permille"] <= 10
    assert answer.requests.height == 200
