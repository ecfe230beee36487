# SPDX-License-Identifier: MIT
"""What kernel and throttle cost is no service: in the wall clock one begins when it could have.

The oracle is the chain of due times: with a queue, each request is due its service after the one
before it, however long it took to hand it over; one that the elevator has kept back begins as it is
picked.  k finds itself in tests/vm/test_scaling.py.
"""

import polars as pl
from guests import experiment, group, once

from understudy.ask.experiment import Outcome
from understudy.measure import metrics, records
from understudy.platforms.vm import in_vm

SCALE = 2


@once
def measured(scheduler: str, scale: float | None) -> Outcome:
    """Eight processes that read at random, without thinking."""
    run = experiment("random", scheduler, requests=200, processes=8, scale=scale, clock="wall")
    answer = in_vm.run(run, lambda *_: None)
    records.check(answer.requests)
    return answer


def chain(answer: Outcome) -> pl.DataFrame:
    """When each service began and when it could have, in the order of dispatch; of those that
    follow one that is recorded too."""
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
    """Each begins as the one before is due, though its dispatch comes later."""
    rows = chain(measured("none", SCALE))
    waited = rows.filter((pl.col("arrival_ns") < pl.col("free_ns")) & ~pl.col("late"))
    assert len(waited) > 100
    assert (waited["begun_ns"] == waited["free_ns"]).all()
    assert (waited["dispatch_ns"] > waited["begun_ns"]).all()


@group("overhead-none")
def test_no_service_begins_before_its_request() -> None:
    """Nor before the one before is over."""
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
    """Who was kept back while the disk was free begins as it is picked, and not as it came."""
    rows = chain(measured("anticipatory", SCALE))
    waited = rows.filter((pl.col("arrival_ns") < pl.col("free_ns")) & ~pl.col("late"))
    kept = waited.filter(pl.col("begun_ns") != pl.col("free_ns"))
    assert len(kept) > 10
    assert (kept["begun_ns"] == kept["pick_ns"]).all()


@group("overhead-found")
def test_k_is_found_and_held() -> None:
    """By a machine that only warms up; then one measures, and counts."""
    answer = measured("sstf", None)
    setting = answer.experiment.platform
    assert setting.scale == setting.think_scale == int(setting.scale) >= 1
    assert answer.facts["late_permille"] <= 10
    assert answer.requests.height == 200
