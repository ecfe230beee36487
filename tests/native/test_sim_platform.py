# SPDX-License-Identifier: MIT
"""The simulator as a platform: real files, random draws, and records that meet their
definitions."""

import threading
from typing import Any

import numpy as np
import polars as pl
import pytest
from sample_runs import experiment

from understudy_devices.ask import schedulers
from understudy_devices.ask.experiment import Experiment, Outcome
from understudy_devices.ask.workloads import WORKLOADS
from understudy_devices.base.errors import RunFailed, UserError
from understudy_devices.campaign import parallel
from understudy_devices.device import profile
from understudy_devices.measure import metrics, records
from understudy_devices.native.draw import Draw
from understudy_devices.native.drive import Drive
from understudy_devices.platforms.sim import in_simulator
from understudy_devices.traces.trace import Trace

SIZE = 256 * 2**20


def asked(workload: str = "random", **changes: Any) -> Experiment:
    """Return a short experiment on a small disk."""
    ordinary: dict[str, Any] = {"platform": "sim", "requests": 400, "virtual_bytes": SIZE}
    return experiment(workload=workload, **(ordinary | changes))


def run(one: Experiment) -> Outcome:
    """Run it through the campaign, which checks the records."""
    outcomes, failures = parallel.run_all(in_simulator, [one], 1, lambda *_: None)
    if failures:
        raise RunFailed(failures[one.scheduler.name])
    return outcomes[0]


EXTRA: dict[str, dict[str, Any]] = {
    "poisson": {"rate": 100.0},
    "trace": {"trace": None},
}
OF_A_FILE = ("trace", "own", "fio")
NAMES = [
    name for name, one in WORKLOADS.items() if name not in OF_A_FILE and "sim" in one.platforms()
]


@pytest.mark.parametrize("scheduler", schedulers.core())
@pytest.mark.parametrize("workload", NAMES)
def test_every_scheduler_serves_every_workload(workload: str, scheduler: str) -> None:
    rows = run(asked(workload, scheduler=scheduler, **EXTRA.get(workload, {}))).requests
    assert rows.height == 400
    assert rows.schema == pl.Schema(records.SCHEMA)
    oldest = rows["request_id"].to_numpy()
    row = np.arange(1, 401)
    assert (oldest <= row).all()
    assert (oldest[oldest - 1] == oldest).all()  # the row that a request is named after
    assert ("surge" in workload) == (oldest != row).any()


def test_without_a_scheduler_nothing_is_merged() -> None:
    """`none` never merges, as in the kernel; fcfs serves in the same order but merges."""
    merged = {
        name: metrics.summarise(run(asked("surge-direct", scheduler=name))).merged
        for name in ("none", "fcfs")
    }
    assert merged["none"] == 0
    assert merged["fcfs"] > 0


@pytest.mark.parametrize("workload", NAMES)
def test_the_same_seed_gives_the_same_records_and_another_one_others(workload: str) -> None:
    one = asked(workload, **EXTRA.get(workload, {}))
    assert run(one).requests.equals(run(one).requests)
    if workload != "sequential":  # which draws nothing
        other = asked(workload, seed=2, **EXTRA.get(workload, {}))
        assert not run(one).requests.equals(run(other).requests)


def test_the_drive_gives_the_records_service_times() -> None:
    rows = run(asked(processes=8, scheduler="cats", writes_percent=30)).requests
    measured_only = rows.filter(pl.col("dispatch_ns") <= pl.col("arrival_ns").max())
    served = measured_only.sort("dispatch_ns")
    drive = Drive(asked().device.disk.timing(SIZE // 512))
    service_ns, hit = drive.serve(
        served["op"].to_physical().to_numpy(), served["sector"], served["sectors"]
    )
    assert served["model_service_ns"].to_list() == service_ns.tolist()
    assert served["hit"].to_list() == hit.tolist()
    assert served.height > 350
    assert set(served["op"]) == {"read", "write"}


def test_random_draws_what_the_guest_draws() -> None:
    draw = Draw(1, 0)
    expected = []
    for _ in range(400):
        draw.below(100)
        expected.append(draw.below(SIZE // 4096) * 8)
    assert run(asked()).requests["sector"].to_list() == expected


PAGES = {"virtual_bytes": 128 * 1024, "page_cache_bytes": 32 * 1024, "read_ahead_kib": 4}


@pytest.mark.parametrize(
    ("workload", "changes"), [("surge-direct", {"requests": 2000}), ("concurrent-read", PAGES)]
)
def test_figures_alone_say_the_same_as_the_records(workload: str, changes: dict[str, Any]) -> None:
    one = asked(workload, scheduler="cats", **changes)
    summary = metrics.summarise(run(one))
    summed = in_simulator.summarise(one, lambda *_: None).as_json()
    assert (summed["pages_per_ms"] is not None) == ("page_cache_bytes" in changes)
    for name, value in summary.as_json().items():
        other = summed[name]
        if name.startswith("p") and name.endswith("_response_ms"):
            assert other <= value <= other * (1 + 1 / 128)
        elif isinstance(value, float) and "seconds" not in name:
            assert other == pytest.approx(value, rel=1e-9), name
        elif "seconds" not in name:
            assert other == value, name


def test_read_ahead_pays_on_the_vesper_programme() -> None:
    spans = [
        run(
            asked(
                "concurrent-read",
                virtual_bytes=128 * 1024,
                page_cache_bytes=128 * 1024,
                read_ahead_kib=kib,
                requests=20_000,
            )
        ).requests
        for kib in (0, 1, 2, 4)
    ]
    ends = [int(frame["completion_ns"].to_numpy().max()) for frame in spans]
    assert ends == sorted(ends, reverse=True)
    assert len(set(ends)) == len(ends)
    assert [frame["sectors"].sum() for frame in spans] == [200] * 4  # each sector once


def test_idle_time_is_between_one_request_and_the_next() -> None:
    rows = run(asked("poisson", rate=50.0)).requests.sort("dispatch_ns")
    idle = rows["dispatch_ns"].to_numpy()[1:] - rows["completion_ns"].to_numpy()[:-1]
    assert rows["idle_ns"].to_list()[1:] == np.maximum(idle, 0).tolist()
    assert rows["idle_ns"].max() > 0  # type: ignore[operator]


def test_a_gap_delays_the_next_dispatch() -> None:
    rows = run(asked(processes=4, scheduler="fcfs", gap_us=25.0)).requests.sort("dispatch_ns")
    waited = rows["dispatch_ns"].to_numpy()[1:] - rows["completion_ns"].to_numpy()[:-1]
    assert set(waited.tolist()) == {25_000}


def recorded(rows: pl.DataFrame) -> Trace:
    """Return a run's records as a trace."""
    return Trace(
        name="test",
        arrival_ns=rows["arrival_ns"].to_numpy(),
        sector=rows["sector"].to_numpy(),
        sectors=rows["sectors"].to_numpy(),
        op=rows["op"].to_physical().to_numpy().astype(np.int64),
        owner=rows["owner"].to_numpy(),
        completion_ns=rows["completion_ns"].to_numpy(),
    )


@pytest.mark.parametrize("replay", ["open", "closed"])
def test_a_replay_on_the_same_device_gives_the_same_times(replay: str) -> None:
    first = run(asked(processes=8, scheduler="fcfs", think_ms=3.0)).requests
    again = run(asked("trace", scheduler="fcfs", trace=recorded(first), replay=replay)).requests
    for name in ("arrival_ns", "completion_ns", "sector"):
        assert first[name].sort().to_list() == again[name].sort().to_list()


def test_a_closed_replay_adapts_to_a_faster_disk() -> None:
    first = run(asked(processes=8, scheduler="fcfs")).requests
    again = run(asked("trace", scheduler="clook", trace=recorded(first), replay="closed")).requests
    assert again["completion_ns"].max() < first["completion_ns"].max()  # type: ignore[operator]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"scheduler": "bfq"}, "bfq is the kernel's own, only in the VM; add --on vm"),
    ],
)
def test_what_cannot_be_simulated_is_refused_before_any_run(
    change: dict[str, Any], message: str
) -> None:
    with pytest.raises(UserError, match=message):
        in_simulator.check([asked(**change)])


def test_an_array_serves_as_many_at_once_as_it_has_servers() -> None:
    array = profile.load("array-32")
    rows = run(asked(disk=array, processes=64, scheduler="fcfs", requests=2000)).requests
    starts = np.sort(rows["dispatch_ns"].to_numpy())
    ends = np.sort(rows["completion_ns"].to_numpy())
    busy = np.arange(1, 2001) - np.searchsorted(ends, starts, side="right")
    assert busy.max() == 32
    narrow = run(asked(disk=array, processes=64, scheduler="fcfs", requests=2000, queue_depth=8))
    assert narrow.requests["completion_ns"].max() > ends[-1]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"weights": (1, 2)}, "--weights: 2 for 3 processes"),
        ({"weights": (1, 0, 2)}, "--weights: 0 is outside 1 to 10000"),
        ({"weights": (1, 10**20, 2)}, f"--weights: {10**20} is outside 1 to 10000"),
        ({"queue_depth": 0}, "--queue-depth: 0 is outside 1 to 4096"),
        ({"gap_us": -1.0}, r"--gap-us: -1\.0 is outside 0 to"),
        ({"gap_us": float("nan")}, "--gap-us: nan is outside 0 to"),
    ],
)
def test_impossible_parameters_name_the_option(change: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        asked(processes=3, **change)


@pytest.mark.parametrize("replay", ["open", "closed"])
def test_weights_of_a_trace_are_its_owners(replay: str) -> None:
    """Of two owners with requests always pending, the one with three times the weight gets three
    times the service."""
    count = 400
    crowd = Trace(
        name="crowd",
        arrival_ns=np.zeros(count, np.int64),
        sector=np.arange(count) * 64,
        sectors=np.full(count, 8),
        op=np.zeros(count, np.int64),
        owner=np.arange(count) % 2,
        completion_ns=np.full(count, 10**9),
    )
    constant = profile.DiskProfile(
        name="constant", array=profile.Servers(servers=1, service_ms=1.0, distribution="constant")
    )
    one = asked("trace", disk=constant, trace=crowd, replay=replay, scheduler="sfq", weights=(3, 1))
    first = run(one).requests.sort("completion_ns")[: count // 4]
    assert (first["owner"] == 0).mean() == pytest.approx(0.75, abs=0.05)
    with pytest.raises(UserError, match="--weights: 3 for 2 owners in the trace"):
        asked("trace", trace=crowd, weights=(3, 1, 1))


def test_a_tunable_that_the_simulated_scheduler_does_not_have_is_refused_first() -> None:
    one = asked(scheduler="mq-deadline", tunables=(("read_expire", 3),))
    with pytest.raises(UserError, match=r'^--set: unknown tunable of deadline "read_expire": did'):
        in_simulator.check([one])


def test_what_differs_by_seed_alone_is_checked_once() -> None:
    """A sweep checks thousands of runs before the first one, and shows progress meanwhile."""
    runs = [
        experiment(name, platform="sim", seed=seed)
        for name in ("cats", "fcfs")
        for seed in range(50)
    ]
    reports: list[tuple[str, float]] = []
    in_simulator.prepare(runs, lambda phase, done: reports.append((phase, done)))
    checks = [report for report in reports if report[0] == "checking"]  # others: a cold cache
    assert checks == [("checking", 0.5), ("checking", 1.0)]
    assert runs[0].device.timing(10**6) is runs[-1].device.timing(10**6)


def test_what_the_engine_refuses_is_refused_first() -> None:
    each, one = np.arange(100_001), np.ones(100_001, int)
    crowd = Trace("many", each, each, one, one, each, each)
    with pytest.raises(UserError, match="rows-closed with cats: the processes are not from 1 to"):
        in_simulator.prepare([asked("trace", trace=crowd, replay="closed")], lambda *_: None)


def test_files_that_do_not_fit_are_refused() -> None:
    with pytest.raises(UserError, match="20 files of 10 KB do not fit"):
        in_simulator.prepare(
            [asked("concurrent-read", processes=20, virtual_bytes=2**17)], lambda *_: None
        )


def test_a_trace_past_the_end_of_the_disk_names_the_size() -> None:
    nothing, end = np.array([0]), np.array([2**20])
    one = Trace("t", nothing, end, np.array([8]), nothing, nothing, None)
    with pytest.raises(UserError, match="--virtual-size: the trace reaches past it; take 1048584s"):
        in_simulator.check([asked("trace", trace=one)])


def test_too_high_a_rate_is_unstable_and_says_by_how_much() -> None:
    with pytest.raises(RunFailed, match=r"unstable: requests arrive 1\.\d\d times as fast"):
        run(asked("poisson", rate=200.0, scheduler="fcfs", requests=3000))
    with pytest.raises(RunFailed, match=r"more than 4,097 requests .* 1\d\d\.\d\d times as fast"):
        run(asked("poisson", rate=20_000.0, scheduler="fcfs", requests=100_000))
    with pytest.raises(RunFailed, match="not one is served yet; take a lower rate"):
        run(asked("poisson", rate=1e9, requests=1000))


def test_few_requests_prove_no_overload() -> None:
    """One request says nothing about the mean rate, and ten say little."""
    assert run(asked("poisson", rate=1.0, requests=1)).facts["offered_load"] < 0.01
    for seed in range(20):
        run(asked("poisson", rate=140.0, requests=10, seed=seed))


def test_many_servers_are_no_queue() -> None:
    """On average 5,000 requests are in service, and none waits."""
    array = profile.DiskProfile(name="wide", array=profile.Servers(servers=8192, service_ms=50.0))
    outcome = run(asked("poisson", disk=array, rate=1e5, requests=20_000, scheduler="fcfs"))
    assert (outcome.requests["dispatch_ns"] == outcome.requests["arrival_ns"]).all()
    assert outcome.facts["offered_load"] == pytest.approx(0.61, abs=0.02)


def crowd(gap_ns: int) -> Trace:
    """5,000 writes, one after another."""
    count = 5000
    pages = np.arange(count) * 8
    zeros = np.zeros(count, np.int64)
    return Trace("crowd", np.arange(count) * gap_ns, pages, zeros + 8, zeros + 1, zeros, None)


@pytest.mark.parametrize(("gap_ns", "load"), [(0, None), (10**6, 4.25), (10**7, 0.43)])
def test_a_trace_is_replayed_whole_however_long_its_queue(gap_ns: int, load: float | None) -> None:
    outcome = run(asked("trace", trace=crowd(gap_ns), scheduler="none"))
    assert outcome.requests.height == 5000
    assert outcome.facts["offered_load"] == (load and pytest.approx(load, rel=0.02))


def test_on_a_curve_that_falls_the_way_to_the_edge_takes_no_time() -> None:
    seek = profile.SeekCurve(ms=(5.0, 2.0))
    falling = profile.DiskProfile(name="falling", seek=seek)
    assert run(asked(disk=falling, scheduler="scan")).facts["tunables"]["full_seek_ns"] == 0


def test_a_stopped_run_ends_soon() -> None:
    stop = threading.Event()
    stop.set()
    with pytest.raises(RunFailed, match="stopped"):
        in_simulator.run(asked(requests=10**8, processes=50), lambda *_: None, stop=stop)


def test_names_of_the_kernel_stand_for_ours_that_decide_alike() -> None:
    kernels = run(asked(scheduler="mq-deadline", processes=8))
    ours = run(asked(scheduler="deadline", processes=8))
    assert kernels.facts["scheduler_simulated"] == "deadline"
    assert kernels.requests.equals(ours.requests)


def test_a_trace_has_a_digest() -> None:
    frame = run(asked()).requests
    assert recorded(frame).digest == recorded(frame).digest
    assert recorded(frame).digest != recorded(frame[:-1]).digest
