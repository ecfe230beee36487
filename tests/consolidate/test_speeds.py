# SPDX-License-Identifier: MIT
"""Devices that are faster or slower than the traced one.  The oracle is a trace whose service times
were divided by hand."""

from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from test_consolidate import SERVICE_MS, write
from test_placement import PLENTY, sets, small

from understudy_devices.api.consolidate import consolidate
from understudy_devices.api.depth import Depth
from understudy_devices.api.place import place as place_traces
from understudy_devices.api.place_devices import numbered, parsed, speeds
from understudy_devices.base.errors import UserError
from understudy_devices.consolidation.placement.problem import P95, Device, Problem, Verdict
from understudy_devices.consolidation.placement.search import FOUND, IMPOSSIBLE, place
from understudy_devices.consolidation.placement.simulation import Simulated
from understudy_devices.consolidation.placement.speeds import sped_up
from understudy_devices.consolidation.scenario import Tenant
from understudy_devices.consolidation.source import chosen
from understudy_devices.consolidation.vm import Reduction, read
from understudy_devices.engine.local import Local

EASY_MS = 1000.0


def by_hand(trace: Path, speed: float, file: Path) -> Path:
    """Write a trace in which no request waits again, with service times divided by the speed."""
    rows = pl.read_parquet(trace)
    service = (pl.col("completion_ns") - pl.col("arrival_ns")) / speed
    faster = pl.col("arrival_ns") + service.round().cast(pl.Int64)
    rows.with_columns(completion_ns=faster).write_parquet(file)
    return file


@pytest.mark.parametrize("speed", [0.5, 1.5, 4.0])
def test_a_vm_is_as_a_trace_that_was_divided_by_hand(speed: float, tmp_path: Path) -> None:
    """With few requests, service times are those of the trace, and both simulations are equal."""
    pair: list[list[Tenant]] = [[], []]
    for seed, gap_ms in enumerate((5.0, 8.0)):
        trace = write(tmp_path / f"vm{seed}.parquet", seed, 250, gap_ms)
        divided = by_hand(trace, speed, tmp_path / f"divided{seed}.parquet")
        for tenants, file in zip(pair, (trace, divided), strict=True):
            machine = read(file.stem, file, tmp_path / file.stem, Reduction())
            times = machine.runs[0].service_ns
            tenants.append(Tenant(machine, chosen(times)))
        pair[0][-1] = sped_up(pair[0][-1], speed, tmp_path / f"{seed}")
    device = Device("a", 6, speed)
    targets = [EASY_MS, EASY_MS]
    ours, oracle = (Simulated(tenants, targets, 1, 1, Local(2)) for tenants in pair)
    verdicts = ours(device, (0, 1)), oracle(Device("a", 6), (0, 1))
    for vm, figure in verdicts[0].items():
        assert figure.mean_ms == pytest.approx(verdicts[1][vm].mean_ms, rel=1e-6)
        assert figure.most_ms == pytest.approx(verdicts[1][vm].most_ms, rel=1e-6)
    for one, other in zip(*pair, strict=True):
        # The traces end at different times, so their rates differ a little.
        assert one.erlangs == pytest.approx(other.erlangs, rel=0.02)


@pytest.mark.thorough
def test_place_is_as_consolidate_with_traces_that_were_divided_by_hand(tmp_path: Path) -> None:
    """Service times are drawn from processes that are fitted to each trace."""
    names = {"web": 2.6, "mail": 2.8}
    vms = {
        name: write(tmp_path / f"{name}.parquet", seed, 3000, gap_ms)
        for seed, (name, gap_ms) in enumerate(names.items())
    }
    placed = place_traces(
        vms, queue_depths="fast=6", speeds={"fast": 2}, p95_ms=60, accept_poor_fit=True
    )
    divided = {name: by_hand(file, 2, tmp_path / f"{name}2.parquet") for name, file in vms.items()}
    together = consolidate(divided, queue_depth=6, replications=16, accept_poor_fit=True, seed=7)
    busy = SERVICE_MS / 2 * (1 / 2.6 + 1 / 2.8)
    assert placed.document["offered_load"] == pytest.approx(busy / 6, rel=0.05)
    assert placed.document["devices"][0]["speed"] == 2
    assert placed.document["inputs"]["speeds"] == {"fast": 2}
    expected = {one["name"]: one["together"] for one in together.document["vms"]}
    for one in placed.document["devices"][0]["vms"]:
        assert one["p95_response_ms"] == pytest.approx(
            expected[one["name"]]["p95_response_ms"], rel=0.06
        )
    assert "6 x 2" in placed.text
    assert "as fast as given" in placed.text


@pytest.mark.parametrize("seed", range(25))
def test_as_every_assignment_tried(seed: int) -> None:
    problem, judge = small(seed)
    random = np.random.default_rng([seed, 3])
    fast = random.choice([0.5, 1.0, 2.0], len(problem.devices))
    devices = tuple(
        replace(device, speed=float(one)) for device, one in zip(problem.devices, fast, strict=True)
    )
    problem = replace(problem, devices=devices)

    def judged(device: Device, on: tuple[int, ...]) -> Verdict:
        times = {vm: judge.p95_ms(vm, on, device.servers) / device.speed for vm in on}
        return {vm: P95(time, time) for vm, time in times.items()}

    def is_right(on: list[list[int]], problem: Problem = problem) -> bool:
        return all(
            sum(problem.vms[vm].erlangs for vm in vms) < device.servers * device.speed
            and all(one.mean_ms <= 20 for one in judged(device, tuple(vms)).values())
            for device, vms in zip(problem.devices, on, strict=True)
        )

    outcome = place(problem, judged, PLENTY)
    count = len(devices)
    possible = any(
        is_right([[vm for vm, d in enumerate(where) if d == device] for device in range(count)])
        for where in product(range(count), repeat=len(problem.vms))
    )
    assert outcome.kind == (FOUND if possible else IMPOSSIBLE), outcome.reason
    assert not possible or is_right(sets(outcome))


def test_a_vm_alone_is_tried_on_the_fastest_and_on_the_largest() -> None:
    problem, _ = small(1)
    one = replace(problem.vms[0], erlangs=1.0, target_ms=10.0)
    devices = (Device("large", 8), Device("fast", 2, 3.0), Device("small", 4))
    problem = Problem((one,), devices)
    assert [device.name for device in problem.best] == ["large", "fast"]

    def judged(device: Device, on: tuple[int, ...]) -> Verdict:
        return dict.fromkeys(on, P95(24 / device.speed, 24 / device.speed))

    outcome = place(problem, judged)
    assert (outcome.kind, outcome.assignment) == (FOUND, (0, 1, 0))
    outcome = place(replace(problem, vms=(replace(one, target_ms=7.0),)), judged)
    assert outcome.kind == IMPOSSIBLE
    assert "even alone on large or fast: " in outcome.reason


def test_a_device_without_a_speed_is_as_fast_as_the_traced_one() -> None:
    devices = parsed("a,b=4")
    fast = speeds("b=1.5", devices)
    traced = Depth(8, "estimated from the traces")
    assert numbered(devices, fast, traced) == (Device("a", 8, 1.0), Device("b", 4, 1.5))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("c=2", "--speeds: no device is called c; there are a, b"),
        ("a", "--speeds: a: write NAME=VALUE"),
        ("a=0", "--speeds: a=0: write NAME=K, from 0.01 to 100"),
        ("a=nan", "a=nan: write NAME=K"),
        ("a=1,a=2", "a is named twice"),
    ],
)
def test_what_is_wrong_is_one_line(text: str, message: str) -> None:
    with pytest.raises(UserError) as error:
        speeds(text, ["a", "b"])
    assert message in str(error.value)
    assert "\n" not in str(error.value)
