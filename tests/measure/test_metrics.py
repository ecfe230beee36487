# SPDX-License-Identifier: MIT
"""The measures against examples calculated by hand, and properties that hold for any run."""

import dataclasses
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sample_runs import experiment, facts, frame, outcome

from understudy_devices.ask.experiment import Outcome
from understudy_devices.measure import metrics

MS = 1_000_000

# Two bios merged into request 1, then a request that waits for the disk, then one alone.
BY_HAND = [
    {"request_id": 1, "arrival_ns": 0, "dispatch_ns": 1 * MS, "completion_ns": 5 * MS},
    {"request_id": 1, "arrival_ns": 1 * MS, "dispatch_ns": 1 * MS, "completion_ns": 5 * MS},
    {"request_id": 3, "arrival_ns": 9 * MS, "dispatch_ns": 10 * MS, "completion_ns": 12 * MS},
    {"request_id": 2, "arrival_ns": 2 * MS, "dispatch_ns": 4 * MS, "completion_ns": 8 * MS},
]
LABELS: list[dict[str, Any]] = [
    {"due_ns": 4 * MS, "hit": True, "reason": "hit", "model_service_ns": 3 * MS},
    {"due_ns": 4 * MS, "hit": True, "reason": "hit", "model_service_ns": 3 * MS, "meta": True},
    {"due_ns": 12 * MS, "hit": True, "reason": "table", "model_service_ns": 2 * MS},
    {"due_ns": 8 * MS, "reason": "hit", "model_service_ns": 4 * MS, "late": True, "stale": True},
]


def by_hand(scale: float = 1.0) -> metrics.Summary:
    table = frame([row | label for row, label in zip(BY_HAND, LABELS, strict=True)])
    run = experiment(scale=scale, clock="wall" if scale > 1 else "virtual")
    return metrics.summarise(Outcome(run, table, facts()))


def test_moments_by_hand() -> None:
    summary = by_hand()
    assert summary.mean_service_ms == pytest.approx((4 + 3 + 2) / 3)
    assert summary.var_service_ms2 == pytest.approx(2 / 3)  # population variance
    assert summary.mean_response_ms == pytest.approx((5 + 4 + 3 + 6) / 4)
    assert summary.var_response_ms2 == pytest.approx(1.25)
    assert summary.throughput_sectors_per_ms == pytest.approx(32 / 12)
    assert summary.mean_device_ms == pytest.approx((4 + 4 + 2) / 3)
    assert summary.var_device_ms2 == pytest.approx(8 / 9)
    assert summary.mean_model_service_ms == pytest.approx(3)
    assert summary.mean_lateness_ms == pytest.approx(1 / 3)
    assert summary.device_seconds == pytest.approx(0.012)


def test_counts_by_hand() -> None:
    summary = by_hand()
    assert (summary.requests, summary.dispatched, summary.merged, summary.metadata) == (4, 3, 1, 1)
    assert (summary.late, summary.stale) == (1, 1)
    assert (summary.hits, summary.predicted, summary.predicted_hits) == (2, 2, 1)
    assert summary.predicted_hit_share == 0.5
    assert summary.reasons == {"hit": 2, "table": 1}


def test_percentiles_are_nearest_rank() -> None:
    values = np.array([15.0, 20.0, 35.0, 40.0, 50.0])
    shares = {0: 15.0, 5: 15.0, 20: 15.0, 30: 20.0, 40: 20.0, 50: 35.0, 99: 50.0, 100: 50.0}
    assert {share: metrics.percentile(values, share) for share in shares} == shares


def test_percentiles_need_no_order() -> None:
    values = np.random.default_rng(1).permutation(np.arange(1.0, 1001.0))
    for percent in range(1, 101):
        assert metrics.percentile(values, percent) == 10 * percent


def test_a_measure_is_shown_in_the_unit_that_ends_its_key() -> None:
    units = {
        "_sectors_per_ms": "sectors/ms",
        "pages_per_ms": "pages/ms",
        "_ms2": "ms²",
        "_ms": "ms",
    }
    for measure in (*metrics.PAPER_MEASURES, *metrics.MORE_MEASURES):
        unit = next(unit for end, unit in units.items() if measure.key.endswith(end))
        assert measure.unit == unit
        assert measure.label not in (measure.key, unit)


def test_only_rates_are_better_when_they_are_higher() -> None:
    measures = (*metrics.PAPER_MEASURES, *metrics.MORE_MEASURES)
    assert [one.label for one in measures if one.higher_is_better] == ["throughput", "pages read"]


@pytest.mark.parametrize("value", [by_hand(), metrics.PAPER_MEASURES[0]])
def test_what_was_measured_cannot_be_changed(value: Any) -> None:
    field = dataclasses.fields(value)[0].name
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(value, field, "other")


def test_at_scale_k_times_are_divided_by_k() -> None:
    one, eight = by_hand(), by_hand(scale=8)
    assert eight.scale == 8
    assert eight.mean_response_ms == pytest.approx(one.mean_response_ms / 8)
    assert eight.var_service_ms2 == pytest.approx(one.var_service_ms2 / 64)
    assert eight.var_device_ms2 == pytest.approx(one.var_device_ms2 / 64)
    assert eight.p99_response_ms == pytest.approx(one.p99_response_ms / 8)
    assert eight.throughput_sectors_per_ms == pytest.approx(8 * one.throughput_sectors_per_ms)
    assert eight.device_seconds == pytest.approx(one.device_seconds / 8)
    assert eight.mean_device_ms == pytest.approx(one.mean_device_ms / 8)
    assert eight.mean_lateness_ms == pytest.approx(one.mean_lateness_ms / 8)
    assert eight.mean_model_service_ms == one.mean_model_service_ms  # was never scaled


def test_without_a_hit_there_is_no_share() -> None:
    table = frame([BY_HAND[2]])
    summary = metrics.summarise(Outcome(experiment(), table, facts()))
    assert summary.predicted_hit_share is None
    assert summary.var_response_ms2 == 0


def test_who_is_never_due_is_never_late() -> None:
    flush = BY_HAND[2] | {"due_ns": None, "op": "other"}
    summary = metrics.summarise(Outcome(experiment(), frame([flush]), facts()))
    assert summary.mean_lateness_ms == 0


def test_json_has_designs_keys() -> None:
    keys = {
        "scheduler",
        "platform",
        "requests",
        "mean_service_ms",
        "var_service_ms2",
        "mean_response_ms",
        "var_response_ms2",
        "p50_response_ms",
        "p95_response_ms",
        "p99_response_ms",
        "throughput_sectors_per_ms",
        "device_seconds",
        "wall_seconds",
        "late",
        "capacity_sectors",
        "seed",
    }
    assert keys <= by_hand().as_json().keys()


runs = st.builds(
    lambda seed, requests: outcome(experiment(seed=seed, requests=requests)),
    st.integers(0, 2**32),
    st.integers(1, 60),
)


@given(runs)
def test_a_busy_disk_never_serves_longer_than_the_measurement(run: Outcome) -> None:
    summary = metrics.summarise(run)
    served_seconds = summary.mean_service_ms * summary.dispatched / 1000
    assert served_seconds <= summary.device_seconds * (1 + 1e-9)


@given(runs)
def test_percentiles_are_ordered_and_were_seen(run: Outcome) -> None:
    summary = metrics.summarise(run)
    assert summary.p50_response_ms <= summary.p95_response_ms <= summary.p99_response_ms
    assert summary.p95_response_ms in metrics.response_times_ms(run)


@given(runs, st.randoms(use_true_random=False))
def test_the_order_of_the_rows_does_not_matter(run: Outcome, random: Any) -> None:
    order = list(range(run.requests.height))
    random.shuffle(order)
    shuffled = dataclasses.replace(run, requests=run.requests[order])
    one = metrics.summarise(run).as_json()
    other = metrics.summarise(shuffled).as_json()
    for key, value in one.items():
        assert other[key] == (pytest.approx(value) if isinstance(value, float) else value), key


def test_a_result_from_before_that_figure_is_read() -> None:
    entry = by_hand().as_json()
    del entry["var_device_ms2"]
    assert math.isnan(metrics.Summary.from_json(entry).var_device_ms2)
    del entry["mean_device_ms"]
    with pytest.raises(KeyError, match="mean_device_ms"):
        metrics.Summary.from_json(entry)
