# SPDX-License-Identifier: MIT
"""Runs as bytes for the page's views: what is in them is what was recorded."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest
from sample_runs import experiment, frame, outcome

from understudy_devices.show import views

TYPES = {"u1": np.uint8, "u2": np.uint16, "u4": np.uint32, "f8": np.float64}


def unpacked(raw: bytes) -> dict[str, Any]:
    """Return the document, with columns as lists."""
    begin = 4 + int.from_bytes(raw[:4], "little")
    document: dict[str, Any] = json.loads(raw[4:begin])
    assert begin % 8 == 0

    def column(place: tuple[str, int, int]) -> list[float]:
        kind, at, length = place
        assert at % 8 == 0
        values: list[float] = np.frombuffer(raw, TYPES[kind], length, begin + at).tolist()
        return values

    for run in document["runs"]:
        run["columns"] = {name: column(place) for name, place in run["columns"].items()}
        run["responses"] = run["responses"] and column(run["responses"])
    return document


def shown(requests: pl.DataFrame, slowdown: float = 1) -> dict[str, list[float]]:
    """Return the columns of one run."""
    rows = views.timed(requests, slowdown)
    raw = views.packed([views.Run("cats", rows, rows.height)], 1000, None)
    (run,) = unpacked(raw)["runs"]
    columns: dict[str, list[float]] = run["columns"]
    return columns


def test_times_are_of_the_disk_and_add_up() -> None:
    """Two requests at once in a drive: the second begins when the first is done."""
    rows = frame(
        [
            {"arrival_ns": 0, "dispatch_ns": 40, "completion_ns": 200_000, "due_ns": 200_000,
             "model_service_ns": 100, "sector": 2**33, "sectors": 300, "op": "write",
             "owner": 70_000, "reason": "waited"},
            {"arrival_ns": 8, "dispatch_ns": 60, "completion_ns": 2000 * 2**31,
             "due_ns": 400_000, "model_service_ns": 100, "hit": True},
        ]
    )  # fmt: skip
    columns = shown(rows, slowdown=2000)
    assert columns["arrival_ns"] == [0, 0]
    columns = shown(rows)
    assert columns["arrival_ns"] == [0, 8]
    assert columns["wait_ns"] == [40, 52]
    assert columns["delay_ns"] == [199_860, 399_840]
    assert columns["service_ns"] == [100, 2000 * 2**31 - 399_900]
    assert columns["sector"] == [2**33, 0]
    assert columns["sectors"] == [300, 8]
    assert columns["owner"] == [70_000, 1]
    assert columns["op"] == [1, 0]
    assert columns["reason"] == [4, 0]
    assert columns["hit"] == [0, 1]


def test_what_a_platform_does_not_know_is_left_out() -> None:
    """Requests that did not complete, and the times of a model on a real disk."""
    rows = frame([{"arrival_ns": at, "dispatch_ns": 40, "completion_ns": 90} for at in (20, -7, 9)])
    unknown = {name: pl.lit(None, kind) for name, kind in rows.schema.items()}
    known = rows.with_columns(
        completion_ns=pl.when(pl.col("arrival_ns") == 9).then(None).otherwise(90),
        **{name: unknown[name] for name in ("due_ns", "model_service_ns", "hit", "reason", "op")},
    )
    columns = shown(known)
    assert columns["arrival_ns"] == [0, 27]  # in their order, and from 0
    assert columns["wait_ns"] == [47, 20]
    assert columns["delay_ns"] == [0, 0]
    assert (columns["hit"], columns["reason"], columns["op"]) == ([0, 0], [255, 255], [2, 2])


def test_quantiles_of_all_stay_exact_when_requests_are_left_out() -> None:
    rows = views.timed(outcome(experiment()).requests, 1)
    responses = np.random.default_rng(1).permutation(123_457)
    raw = views.packed([views.Run("cats", rows.head(3), rows.height, responses)], 1000, None)
    (run,) = unpacked(raw)["runs"]
    assert (run["requests"], len(run["columns"]["sector"])) == (rows.height, 3)
    assert len(run["responses"]) == views.RANKS
    for permille in (500, 950, 990, 999, 1000):
        rank = -(-123_457 * permille // 1000) - 1
        assert run["responses"][views.RANKS * permille // 1000 - 1] == rank


@pytest.mark.parametrize(("disk", "known"), [("cheetah-15k4", True), ("array-32", False)])
def test_the_disk_s_curves_are_there(disk: str, known: bool) -> None:
    one = experiment(disk=disk)
    capacity = one.device.virtual_bytes // 512
    document = unpacked(views.packed([], capacity, one.device))
    assert (document["disk"] is not None) == known
    if known:
        timing = one.device.timing(capacity)
        assert document["disk"]["seek"] == [list(point) for point in timing.seek]
        assert document["capacity"] == capacity
    assert unpacked(views.packed([], 7, None))["disk"] is None
    assert replace(one.device, virtual_bytes=64 * 2**10)  # the smallest has curves, too
    views.packed([], 128, replace(one.device, virtual_bytes=64 * 2**10))
