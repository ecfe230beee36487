# SPDX-License-Identifier: MIT
"""Invented runs: a small queue in plain Python, and a platform that returns such runs.

The times obey the definitions (one request at a time, due before completion), so they pass
records.check. The speed of each scheduler is invented.
"""

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from understudy_devices.ask.experiment import Experiment, Outcome, asked
from understudy_devices.ask.schedulers import Choice, Tunables
from understudy_devices.ask.workloads import WORKLOADS
from understudy_devices.base.errors import RunFailed
from understudy_devices.device import profile
from understudy_devices.device.profile import DiskProfile
from understudy_devices.measure.metrics import Summary, summarise
from understudy_devices.measure.records import SCHEMA

SPEED = {"cats": 1.0, "mq-deadline": 1.6, "bfq": 2.4, "none": 3.0}


def experiment(
    scheduler: str = "cats",
    workload: str = "surge-direct",
    disk: str | DiskProfile = "cheetah-15k4",
    tunables: Tunables = (),
    platform: str = "vm",
    **changes: Any,
) -> Experiment:
    """Return the default prediction with cats, with changes."""
    own = {"requests": 200, "virtual_bytes": 1_500_000_256} | changes
    device_profile = profile.load(disk) if isinstance(disk, str) else disk
    return asked(WORKLOADS[workload], Choice(scheduler, tunables), device_profile, platform, **own)


def frame(rows: Sequence[dict[str, Any]]) -> pl.DataFrame:
    """Return records with these rows; missing columns get usual values."""
    ordinary = {
        "sector": 0,
        "sectors": 8,
        "op": "read",
        "owner": 1,
        "hit": False,
        "late": False,
        "stale": False,
        "meta": False,
        "reason": "order",
        "error": 0,
        "idle_ns": 0,
    }
    full = [
        ordinary
        | {"request_id": number, "pick_ns": row["dispatch_ns"], "due_ns": row["completion_ns"]}
        | {"model_service_ns": row["completion_ns"] - row["dispatch_ns"]}
        | row
        for number, row in enumerate(rows, start=1)
    ]
    return pl.DataFrame([{name: row[name] for name in SCHEMA} for row in full], schema=SCHEMA)


def facts(**changes: Any) -> dict[str, Any]:
    """Return facts that a platform might report about a run."""
    return {
        "capacity_sectors": 2_929_687,
        "virtual_seconds": 12.5,
        "wall_seconds": 3.25,
        "boot_wall_seconds": 1.25,
        "measure_wall_seconds": 2.0,
        "qemu": ["qemu-system-x86_64", "-append", "console=ttyS0 quiet"],
        "qemu_version": "7.2",
        "kernel_version": "6.1",
    } | changes


def outcome(run: Experiment) -> Outcome:
    """Return a first-come-first-served queue at the scheduler's invented speed."""
    random = np.random.default_rng([run.seed, len(run.scheduler.name)])
    arrivals = np.cumsum(random.exponential(3e6, run.requests)).astype(int)
    hits = random.random(run.requests) < 0.4
    rows, free = [], 0
    for arrival, hit in zip(arrivals - arrivals[0], hits, strict=True):
        seek = random.uniform(4.25e6, 9.5e6) / 4 * SPEED.get(run.scheduler.name, 2.0)
        service = 250_000 if hit else int(seek)
        dispatch = max(int(arrival), free)
        free = dispatch + service + 1000
        reason = "hit" if hit and run.scheduler.name == "cats" else "order"
        rows.append(
            {
                "arrival_ns": int(arrival),
                "dispatch_ns": dispatch,
                "due_ns": dispatch + service,
                "completion_ns": free,
                "model_service_ns": service,
                "hit": bool(hit),
                "reason": reason,
            }
        )
    return Outcome(run, frame(rows), facts())


class FakePlatform:
    """A platform that answers at once.

    The run of the scheduler `broken` fails. If `stuck`, a run ends only when it is stopped. If
    `early`, all records are marked stale.
    """

    def __init__(self, broken: str | None = None) -> None:
        self.broken = broken
        self.early = False
        self.stuck = False
        self.prepared: list[Experiment] = []

    def check(self, experiments: Sequence[Experiment]) -> None:
        """Accept any experiment."""

    def prepare(
        self, experiments: Sequence[Experiment], report: Callable[[str, float], None]
    ) -> None:
        """Record the experiments and report that all is ready."""
        self.prepared = list(experiments)
        report("ready", 1.0)

    def run(
        self,
        experiment: Experiment,
        report: Callable[[str, float], None],
        *,
        stop: threading.Event,
    ) -> Outcome:
        """Return an outcome, fail, or wait until the run is stopped."""
        report("measuring", 0.5)
        if experiment.scheduler.name == self.broken:
            raise RunFailed(f"the guest of {experiment.scheduler.name} panicked")
        if self.stuck:
            assert stop.wait(300), "nobody stopped this run"
            raise RunFailed("stopped")
        answer = outcome(experiment)
        requests = answer.requests.with_columns(stale=pl.lit(value=self.early))
        return replace(answer, requests=requests)

    def summarise(
        self,
        experiment: Experiment,
        report: Callable[[str, float], None],
        *,
        stop: threading.Event,
    ) -> Summary:
        """Return the summary of the outcome that run() returns."""
        return summarise(self.run(experiment, report, stop=stop))

    def dry_run(self, experiment: Experiment) -> list[str]:
        """Return a command line with a word that needs quotes."""
        return ["qemu-system-x86_64", "-append", f"scheduler {experiment.scheduler.name}"]
