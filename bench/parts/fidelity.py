# SPDX-License-Identifier: MIT
"""Whether a profile predicts the drive's service and response times."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from bench.part import Column, Row, Rows
from bench.predictions import Means, compared, ranked
from understudy_devices.ask.experiment import asked
from understudy_devices.ask.schedulers import Choice
from understudy_devices.ask.workloads import WORKLOADS
from understudy_devices.base.paths import ROOT
from understudy_devices.base.progress import silent
from understudy_devices.device import profile
from understudy_devices.device.profile import DiskProfile
from understudy_devices.measure.metrics import Summary
from understudy_devices.native.drive import Drive
from understudy_devices.native.request import READ, WRITE
from understudy_devices.platforms.sim import in_simulator
from understudy_devices.profiler.checks import demerit

TITLE = "How well a profile keeps a drive's time"
TEXT = """
Profiles are compared with measured drives (`bench/drives/README.md`). The first table is about a
trace of requests that were timed on the drive, one at a time with pauses between them. The demerit
is the root mean square of the horizontal distance between the two distributions of service time
(Ruemmler and Wilkes, "An introduction to disk drive modeling", IEEE Computer 1994).

{{ trace }}

One write on the Cheetah took 12.3 ms, three times as long as the next longest write. Without this
write, the demerit of the writes is 8.6 % ([note 33](notes/0033-buffer.md)).

The next tables compare schedulers: the simulator runs the same workloads and seeds with the
profile, and with a detailed model of the drive. The first of them has the scheduler with the
largest error in each workload. It also has the number of pairs of schedulers whose mean response
times on the drive differ by more than 3 %, and the number of these pairs that the profile ranks
right.

{{ workloads }}

With sfq, nearly equal sums of service times decide which of ten threads is served twice in a row,
and the second request is then a hit. So if a hit takes 0.1 us more or less, the run is different.
This was tried with hits from 0.3 us shorter to 0.5 us longer, with ten seeds each. Over these runs,
the mean service time is 4.9 ms with a standard deviation of 0.65 ms; over the drive's five runs, it
is 4.1 ms with 0.77 ms.

Farthest from the drive:

{{ farthest }}
"""
TABLES = {
    "trace": (
        Column("drive", "{drive}"),
        Column("requests", "{requests}"),
        Column("number", "{number:,}"),
        Column("drive: mean (ms)", "{drive_ms:.3f}"),
        Column("profile (ms)", "{profile_ms:.3f}"),
        Column("difference (%)", "{difference_percent:+.1f}"),
        Column("demerit (ms)", "{demerit_ms:.3f}"),
        Column("demerit (%)", "{demerit_percent:.1f}"),
    ),
    "workloads": (
        Column("drive", "{drive}"),
        Column("workload", "{workload}"),
        Column("worst", "{worst}"),
        Column("its response (%)", "{worst_percent:+.1f}"),
        Column("pairs that differ", "{pairs}"),
        Column("ranked right", "{ranked_right}"),
        Column("best on the drive", "{best}"),
        Column("by the profile", "{best_by_profile}"),
    ),
    "farthest": (
        Column("drive", "{drive}"),
        Column("workload", "{workload}"),
        Column("scheduler", "{scheduler}"),
        Column("service on the drive (ms)", "{service_ms:.3f}"),
        Column("by the profile (%)", "{service_percent:+.1f}"),
        Column("response on the drive (ms)", "{response_ms:.2f}"),
        Column("by the profile (%)", "{response_percent:+.1f}"),
        Column("± (%)", "{interval_percent:.1f}"),
    ),
}
SIZES = {
    "full": {"workloads": ["all"], "seeds": 5},
    "quick": {"workloads": ["all"], "seeds": 2},
    "tiny": {"workloads": ["random1"], "seeds": 2},
}
IN_VM = False
DRIVES = ROOT / "bench" / "drives"
FARTHEST = 20

Times = npt.NDArray[np.float64]


def measure(workloads: list[str], seeds: int) -> Rows:
    """Yield the rows of all drives, then the schedulers with the largest errors."""
    errors: list[Row] = []
    for folder in sorted(path for path in DRIVES.iterdir() if path.is_dir()):
        disk = profile.load(folder.name)
        yield from (("trace", row) for row in _on_trace(folder, disk))
        known = json.loads((folder / "schedulers.json").read_text())
        for name in known if workloads == ["all"] else workloads:
            rows = [_compared(disk, name, known[name], s, seeds) for s in _schedulers(known[name])]
            yield "workloads", ranked(disk.name, name, rows)
            errors += rows
    errors.sort(key=lambda row: abs(row["response_percent"]), reverse=True)
    yield from (("farthest", row) for row in errors[:FARTHEST])


def _on_trace(folder: Path, disk: DiskProfile) -> list[Row]:
    trace = pl.read_parquet(folder / "trace.parquet")
    op = np.where(trace["op"].to_numpy() == "write", WRITE, READ).astype(np.uint8)
    pauses_us = trace["idle_before_next_us"].shift(1, fill_value=0).to_numpy()
    assert disk.facts
    drive = Drive(disk.timing(disk.facts.capacity_sectors), seed=1)
    sector, sectors = trace["sector"].to_numpy(), trace["sectors"].to_numpy()
    service_ns, _ = drive.serve(op, sector, sectors, (pauses_us * 1000).astype(np.uint64))
    ours, theirs = service_ns / 1e6, trace["service_us"].to_numpy() / 1e3
    parts = {"all": op >= 0, "reads": op == READ, "writes": op == WRITE}
    return [
        {"drive": disk.name, "requests": name, **_distance(ours[chosen], theirs[chosen])}
        for name, chosen in parts.items()
    ]


def _distance(ours: Times, theirs: Times) -> Row:
    off = demerit(ours, theirs)
    return {
        "number": len(ours),
        "drive_ms": float(theirs.mean()),
        "profile_ms": float(ours.mean()),
        "difference_percent": 100 * float(ours.mean() / theirs.mean() - 1),
        "demerit_ms": off,
        "demerit_percent": 100 * off / float(theirs.mean()),
    }


def _schedulers(known: Mapping[str, Any]) -> list[str]:
    return sorted({run["scheduler"] for run in known["runs"]})


def _compared(
    disk: DiskProfile, name: str, known: Mapping[str, Any], scheduler: str, seeds: int
) -> Row:
    """Compare predictions with measurements, seed by seed."""
    runs = [run for run in known["runs"] if run["scheduler"] == scheduler][:seeds]
    summaries = [_simulated(disk, known["inputs"], scheduler, run["seed"]) for run in runs]
    ours = [Means(one.mean_service_ms, one.mean_response_ms) for one in summaries]
    theirs = [Means(run["mean_service_ms"], run["mean_response_ms"]) for run in runs]
    return compared(disk.name, name, scheduler, ours, theirs)


def _simulated(disk: DiskProfile, inputs: Mapping[str, Any], scheduler: str, seed: int) -> Summary:
    parameters = {name: v for name, v in inputs.items() if name not in ("workload", "seeds")}
    workload = WORKLOADS[inputs["workload"]]
    run = asked(workload, Choice(scheduler, ()), disk, "sim", seed=seed, **parameters)
    return in_simulator.summarise(run, silent)
