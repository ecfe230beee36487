# SPDX-License-Identifier: MIT
"""Every figure of a run against its records.  These are made-up records of any shape, and
simulated ones with several requests at the device, arrays, merges and open workloads."""

from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest
from naive_figures import carried, figures, idle_ns
from sample_runs import experiment, facts, frame

from understudy_devices.ask.experiment import Experiment, Outcome
from understudy_devices.device import profile
from understudy_devices.measure import metrics, records
from understudy_devices.platforms.sim import in_simulator

REASONS = list(records.REASONS.categories)
ARRAY = profile.load("array-32")
CONSTANT = profile.DiskProfile(
    name="constant", array=profile.Servers(servers=3, service_ms=4.0, distribution="constant")
)
QUEUEING = profile.load("vesper-zoned").model_copy(
    update={"queue": profile.CommandQueue(depth=8, age_limit_ms=100.0)}
)


def made_up(seed: int) -> pl.DataFrame:
    """Return records of a disk with several requests at once.  Some bios were merged into
    another request, and some rows are flushes without a due time.  The modelled times differ
    from the measured ones."""
    random = np.random.default_rng(seed)
    rows: list[dict[str, Any]] = []
    gap_ns = (3e6, 2e7)[seed % 2]  # a disk that is busy, and one that is idle
    end = 0
    arrival = int(random.integers(0, 10**6))
    for request in range(1, int(random.integers(2, 60))):
        arrival += int(random.exponential(gap_ns))
        dispatch = arrival + int(random.integers(0, 5 * 10**6))
        end = max(end, dispatch) + int(random.integers(1, 10**7))
        flush = bool(random.random() < 0.1)
        common = {
            "request_id": request,
            "pick_ns": dispatch - int(random.integers(0, dispatch - arrival + 1)),
            "dispatch_ns": dispatch,
            "due_ns": None if flush else end - int(random.integers(0, min(end - dispatch, 10**5))),
            "completion_ns": end,
            "model_service_ns": int(random.integers(1, 10**7)),
            "op": "other" if flush else str(random.choice(["read", "write"])),
            **{flag: bool(random.random() < 0.3) for flag in ("hit", "late", "stale", "meta")},
            "reason": str(random.choice(REASONS)),
        }
        for _ in range(1 + int(random.random() < 0.3) * int(random.integers(1, 4))):
            came = arrival - int(random.integers(0, 10**6))
            rows.append(common | {"arrival_ns": came, "sectors": int(random.integers(1, 300))})
    random.shuffle(rows)
    return frame(rows)


def agree(summary: metrics.Summary, expected: dict[str, Any]) -> None:
    for name, value in expected.items():
        close = pytest.approx(value, rel=1e-9, abs=1e-12) if isinstance(value, float) else value
        assert getattr(summary, name) == close, name


@pytest.mark.parametrize("seed", range(40))
def test_figures_are_those_of_the_definitions(seed: int) -> None:
    table = made_up(seed)
    scale = (1.0, 2.5, 8.0)[seed % 3]
    clock = "virtual" if scale == 1 else "wall"
    run = experiment("none", scale=scale, clock=clock)
    summary = metrics.summarise(Outcome(run, table, facts(capacity_sectors=77)))
    agree(summary, figures(table.to_dicts(), scale, parallel=False))
    assert (summary.platform, summary.scheduler, summary.seed) == ("vm", "none", 1)
    assert (summary.scale, summary.clock, summary.capacity_sectors) == (scale, clock, 77)
    seconds = (summary.virtual_seconds, summary.wall_seconds)
    assert (*seconds, summary.boot_wall_seconds, summary.measure_wall_seconds) == (
        12.5,
        3.25,
        1.25,
        2.0,
    )


@pytest.mark.parametrize("seed", range(10))
def test_on_an_array_a_service_is_what_its_server_took(seed: int) -> None:
    table, scale = made_up(seed), (1.0, 8.0)[seed % 2]
    setting = {"platform": "sim"} if scale == 1 else {"clock": "wall", "scale": scale}
    summary = metrics.summarise(Outcome(experiment(disk=ARRAY, **setting), table, facts()))
    agree(summary, figures(table.to_dicts(), scale, parallel=True))


@pytest.mark.parametrize("seed", range(10))
def test_carried_requests_are_in_the_order_of_dispatch(seed: int) -> None:
    table = made_up(seed)
    requests = metrics.carried_requests(table)
    expected = [row["request_id"] for row in carried(table.to_dicts())]
    assert requests["request_id"].to_list() == expected
    assert requests.columns == list(metrics.OF_REQUESTS)


@pytest.mark.parametrize("seed", range(10))
def test_idle_time_is_what_lies_between_requests(seed: int) -> None:
    """The throttle's bytes contain no idle times, so these are calculated."""
    table = made_up(seed).filter(pl.col("op") != "other")
    raw = np.zeros(table.height, records.RECORD)
    for name in records.RECORD.names or ():
        if name in table.columns and table[name].dtype == pl.Int64:
            raw[name] = table[name].to_numpy() + (10**9 if name in records.INSTANTS else 0)
    rows = records.from_bytes(raw.tobytes()).to_dicts()
    expected = {row["request_id"]: idle for row, idle in _with_idle(rows)}
    assert [row["idle_ns"] for row in rows] == [expected[row["request_id"]] for row in rows]
    assert any(expected.values()) or seed % 2 == 0


def _with_idle(rows: list[dict[str, Any]]) -> list[tuple[dict[str, Any], int]]:
    requests = carried(rows)
    return list(zip(requests, idle_ns(requests), strict=True))


SIMULATED: dict[str, dict[str, Any]] = {
    "one at a time": {"workload": "random", "processes": 8, "writes_percent": 30},
    "a queue": {
        "workload": "random",
        "processes": 20,
        "scheduler": "sfq",
        "disk": QUEUEING,
        "queue_depth": 4,
    },
    "merges": {"workload": "surge-direct", "processes": 50},
    "an open workload": {"workload": "poisson", "rate": 100.0, "scheduler": "deadline"},
    "an array": {"workload": "random", "processes": 50, "disk": ARRAY, "scheduler": "sfq"},
    "an array, open": {"workload": "poisson", "rate": 500.0, "disk": CONSTANT, "scheduler": "fcfs"},
    "a gap": {"workload": "random", "processes": 3, "gap_us": 300.0, "ask_us": 50.0},
}


def simulated(name: str) -> Experiment:
    ordinary: dict[str, Any] = {
        "platform": "sim",
        "requests": 600,
        "seed": 3,
        "virtual_bytes": 2**28,
    }
    return experiment(**(ordinary | SIMULATED[name]))


@pytest.mark.parametrize("name", SIMULATED)
def test_simulated_figures_are_those_of_the_records(name: str) -> None:
    """Figures are equal with rows and without, where the engine only keeps sums."""
    one = simulated(name)
    outcome = in_simulator.run(one, lambda *_: None)
    records.check(outcome.requests)
    rows = outcome.requests.to_dicts()
    is_queue = one.device.queue_depth is not None
    expected = figures(rows, 1.0, parallel=one.device.disk.array is not None, queued=is_queue)
    if is_queue:
        assert expected["mean_device_ms"] > 1.5 * expected["mean_service_ms"]
    agree(metrics.summarise(outcome), expected)
    summed = in_simulator.summarise(one, lambda *_: None)
    for percent in ("50", "95", "99", "999"):
        key = f"p{percent}_response_ms"
        assert getattr(summed, key) <= expected.pop(key) <= getattr(summed, key) * (1 + 1 / 128)
    agree(summed, expected | {"late": 0, "stale": 0, "metadata": 0, "mean_lateness_ms": 0.0})
    assert (summed.platform, summed.scheduler, summed.seed) == ("sim", one.scheduler.name, 3)
    assert summed.capacity_sectors == 2**19


@pytest.mark.parametrize("name", ["one at a time", "a queue", "merges", "a gap"])
def test_simulated_idle_time_is_what_lies_between_requests(name: str) -> None:
    """The first request's idle time starts at the beginning of the run.  After the last measured
    arrival, unmeasured requests are served as well, so later rows are left out."""
    table = in_simulator.run(simulated(name), lambda *_: None).requests
    last = table["arrival_ns"].max()
    expected = [
        (row, idle) for row, idle in _with_idle(table.to_dicts()) if row["dispatch_ns"] < last
    ]
    assert len(expected) > 300
    for row, idle in expected[1:]:
        assert row["idle_ns"] == idle


def test_a_figure_belongs_to_its_own_measure() -> None:
    """Every displayed measure has a distinct value, so that swapped fields would show."""
    summary = metrics.summarise(Outcome(experiment(), made_up(5), facts()))
    numbered = replace(summary, p99_response_ms=-1.0, p999_response_ms=-2.0)  # of few rows the last
    values = [numbered.value(one) for one in (*metrics.PAPER_MEASURES, *metrics.MORE_MEASURES)]
    assert len(set(values)) == len(values)
    other = replace(summary, var_service_ms2=123.0)
    assert other.value(metrics.PAPER_MEASURES[1]) == 123.0
