# SPDX-License-Identifier: MIT
"""Whether the verdict warns of a wrong choice, for drives that fit the model and for drives that
don't.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import understudy_devices as us
from bench.part import Column, Row, Rows
from bench.predictions import Means, compared, is_within, may_be_none
from oracle.boxes import BOXES, Box
from oracle.detailed.drive import SECTOR_BYTES, random_drive
from understudy_devices.ask.experiment import Experiment, asked
from understudy_devices.ask.schedulers import Choice
from understudy_devices.ask.workloads import WORKLOADS
from understudy_devices.base.errors import RunFailed, Unstable, UserError
from understudy_devices.base.progress import silent
from understudy_devices.device.profile import DiskProfile
from understudy_devices.measure.comparison import Comparison
from understudy_devices.measure.metrics import Summary
from understudy_devices.native import descriptions, simulator
from understudy_devices.platforms.sim import in_simulator
from understudy_devices.profiler.profile_fit import Fitted
from understudy_devices.recommend.choice import GOALS, best
from understudy_devices.recommend.verdict import verdict

TITLE = "Whether verdicts say where a profile does not fit"
TEXT = """
This benchmark has two kinds of drives. The model can describe the detailed drives, whose parameters
are random. Each of the black boxes in `oracle/` has a feature that the model cannot describe. The
profiler measures each drive as a black box, with reads and writes. The simulator then runs a set of
workloads twice: with the profile, and with the drive itself. The next run will use the drives from
number 4701 on.

A recommendation *costs* the percentage by which the recommended scheduler's mean response time on
the drive exceeds the best scheduler's. The cost is very large if the recommended scheduler starves
a request on the drive.

* *Warned of* are answers without a recommendation, because a check exceeds its limits
  (`"trusted": false`).
* A warning is *false* if the choice would have cost at most 5 %, all mean service times are within
  3 % of the drive's, and all mean response times within 5 %.
* *Times off, choice right* are warnings with means outside these limits, though the choice would
  have cost at most 5 %.
* *Unchecked* are answers that name a demand of the workload that no check of the profile covers
  (`null`).
* *Refused* drives have no profile.
* *Missed* are recommendations with the verdict "checked and within" (`true`) that cost more than 5
  %. None may be missed, and at most one warning in ten may be false.
* *Outside the limits* are checked answers with a mean beyond the limits, if the 95 % interval of
  the paired differences does not include zero. The limits do not apply to `sfq` in `concurrent`.

A scheduler counts as starving a request if a measured request is still pending after the drive has
served 20 times as many requests as are measured.

{{ kinds }}

The costliest choices, and their verdicts:

{{ answers }}

The profiler's report on each drive, with the check that has the largest error:

{{ drives }}
"""
TABLES = {
    "kinds": (
        Column("drives", "{kind}"),
        Column("number", "{drives}"),
        Column("refused", "{refused}"),
        Column("checked", "{checked}"),
        Column("missed", "{missed}"),
        Column("costs at most (%)", "{checked_percent:.1f}"),
        Column("outside the limits", "{unsaid}"),
        Column("unchecked", "{unchecked}"),
        Column("costs at most (%)", "{unchecked_percent:.1f}"),
        Column("warned of", "{warned}"),
        Column("falsely", "{false}"),
        Column("times off, choice right", "{choice_right}"),
        Column("would cost at most (%)", "{warned_percent:.1f}"),
    ),
    "answers": (
        Column("drive", "{drive}"),
        Column("workload", "{workload}"),
        Column("pick", "{pick}"),
        Column("best", "{best}"),
        Column("costs (%)", "{cost_percent:.1f}"),
        Column("response farthest off (%)", "{response_percent:+.1f}"),
        Column("trusted", "{trusted}"),
        Column("because", "{because}"),
    ),
    "drives": (
        Column("drive", "{drive}"),
        Column("check", "{check}"),
        Column("off by (%)", "{difference_percent:+.1f}"),
        Column("demerit (%)", "{demerit_percent:.1f}"),
        Column("refused", "{refused}"),
    ),
}
ALL = ["detailed", *BOXES]
SIZES = {
    "full": {
        "kinds": ALL,
        "detailed": 8,
        "boxes": 3,
        "workloads": ["all"],
        "requests": 1000,
        "seeds": 3,
    },
    "quick": {
        "kinds": ALL,
        "detailed": 4,
        "boxes": 2,
        "workloads": ["all"],
        "requests": 500,
        "seeds": 2,
    },
    "tiny": {
        "kinds": ["smr"],
        "detailed": 1,
        "boxes": 1,
        "workloads": ["a third written"],
        "requests": 200,
        "seeds": 2,
    },
}
IN_VM = False
FIRST_DRIVE = 4601
SURGE_BYTES = 12e9
BUSY = 0.85  # share of the rate at which the drive serves random requests
COSTLY = 5.0  # %
ENDLESS = 20  # times the number of requests that are measured
ENDLESS_MS = 1e6
NO_ORDER = ("concurrent-read", "sfq")  # a few ns decide which request is next: benchmark "blind"
SHOWN = 30
RESPONSE = GOALS["mean response"][0]


@dataclass(frozen=True)
class Load:
    """A workload and the workload's arguments."""

    workload: str
    given: dict[str, Any]


LOADS = {
    "random": Load("random", {"processes": 20}),
    "a third written": Load("random", {"processes": 20, "writes_percent": 33}),
    "thinking, half written": Load(
        "random", {"processes": 4, "writes_percent": 50, "think_ms": 20}
    ),
    "resting, a third written": Load(
        "random", {"processes": 3, "writes_percent": 33, "think_ms": 300}
    ),
    "poisson": Load("poisson", {}),
    "streams": Load("sequential", {"processes": 4}),
    "surge": Load("surge-direct", {"processes": 50}),
    "concurrent": Load("concurrent-read", {"processes": 10}),
}


def measure(
    kinds: list[str], detailed: int, boxes: int, workloads: list[str], requests: int, seeds: int
) -> Rows:
    """Yield the rows of each drive, then the summaries."""
    names = list(LOADS) if workloads == ["all"] else workloads
    answers: list[Row] = []
    for kind in kinds:
        drives: list[Row] = []
        mine: list[Row] = []
        for number in range(FIRST_DRIVE, FIRST_DRIVE + (detailed if kind == "detailed" else boxes)):
            drive = random_drive(number) if kind == "detailed" else BOXES[kind](number)
            name = f"{kind} {number}"
            try:
                fit = us.profile(drive, destroy_data=True)
            except (RunFailed, UserError) as error:
                drives.append(_refused(name, error))
                continue
            drives.append(_profiled(name, fit))
            mine += _answers(name, drive, fit, names, requests, seeds)
        yield from (("drives", row) for row in drives)
        yield "kinds", _summed_up(kind, drives, mine)
        answers += mine
    answers.sort(key=lambda row: row["cost_percent"], reverse=True)
    yield from (("answers", row) for row in answers[:SHOWN])


def _refused(name: str, error: Exception) -> Row:
    unmeasured = dict.fromkeys(("check", "difference_percent", "demerit_percent"))
    return {"drive": name, **unmeasured, "refused": str(error)}


def _profiled(name: str, fit: Fitted) -> Row:
    worst = max(fit.checks, key=lambda check: abs(check.difference_percent))
    return {
        "drive": name,
        "check": worst.workload,
        "difference_percent": worst.difference_percent,
        "demerit_percent": worst.demerit_percent,
        "refused": "no",
    }


def _answers(
    name: str, drive: Box, fit: Fitted, workloads: Sequence[str], requests: int, seeds: int
) -> Iterator[Row]:
    """Return an answer for each workload."""
    disk = fit.disk()
    for workload in workloads:
        load = LOADS[workload]
        if workload == "surge" and drive.capacity_sectors * SECTOR_BYTES > SURGE_BYTES:
            continue
        if workload == "poisson":
            served_ms = next(
                check.target_ms for check in fit.checks if check.workload == "random reads"
            )
            load = Load("poisson", {"rate": BUSY * 1000 / served_ms})
        yield {"drive": name, "workload": workload, **_answer(drive, disk, load, requests, seeds)}


def _answer(drive: Box, disk: DiskProfile, load: Load, requests: int, seeds: int) -> Row:
    """Return the recommendation from the profile, its verdict, and its cost on the drive.

    Two kinds of schedulers are not considered: those that starve a request, and those that, on the
    profile, serve fewer requests than arrive.
    """
    predicted: list[Summary] = []
    rows: list[Row] = []
    for scheduler in (
        one.name for one in descriptions.schedulers().values() if not one.needs_model
    ):
        runs = [
            asked(
                WORKLOADS[load.workload],
                Choice(scheduler, ()),
                disk,
                "sim",
                seed=seed,
                requests=requests,
                virtual_bytes=drive.capacity_sectors * SECTOR_BYTES,
                **load.given,
            )
            for seed in range(1, seeds + 1)
        ]
        try:
            theirs = [_on(drive, run) for run in runs]
            ours = [in_simulator.summarise(run, silent) for run in runs]
        except RunFailed:
            continue
        predicted += ours
        means = [Means(one.mean_service_ms, one.mean_response_ms) for one in ours]
        rows.append(compared("", "", scheduler, means, theirs))
    pick = best(Comparison(predicted), RESPONSE).best
    foretold = [row for row in rows if (load.workload, row["scheduler"]) != NO_ORDER]
    response = {row["scheduler"]: row["response_ms"] for row in rows}
    first = min(response, key=response.__getitem__)
    trust = verdict(disk, 1, predicted, is_open=WORKLOADS[load.workload].is_open)
    return {
        "pick": pick,
        "best": first,
        "cost_percent": 100 * (response[pick] / response[first] - 1),
        "response_percent": max((row["response_percent"] for row in foretold), key=abs),
        "within": all(is_within(row) for row in foretold),
        "outside": any(not is_within(row) and not may_be_none(row) for row in foretold),
        "trusted": json.dumps(trust.trusted),
        "because": "; ".join(trust.because),
    }


class _Patient:
    """A drive that fails after a limited number of requests, which ends the run of a scheduler that
    starves a request.
    """

    def __init__(self, drive: Box, requests: int) -> None:
        self._drive, self._left = drive, requests
        self.capacity_sectors, self.writable = drive.capacity_sectors, drive.writable

    def request(self, op: str, sector: int, sectors: int, at_ns: int) -> int:
        """Return the time at which the request completes."""
        self._left -= 1
        if self._left < 0:
            raise RunFailed("the scheduler starves a request")
        return self._drive.request(op, sector, sectors, at_ns)


def _on(drive: Box, run: Experiment) -> Means:
    """Reset the drive, and run the experiment on the drive itself."""
    drive.reset()
    simulation = replace(in_simulator.describe(run), device=_Patient(drive, ENDLESS * run.requests))
    try:
        figures = simulator.run(simulation, keep_rows=False).figures
    except Unstable:
        return Means(ENDLESS_MS, ENDLESS_MS)
    return Means(figures.service.mean / 1e6, figures.response.mean / 1e6)


def _summed_up(kind: str, drives: Sequence[Row], answers: Sequence[Row]) -> Row:
    checked, unchecked, warned = (
        [row for row in answers if row["trusted"] == trusted]
        for trusted in ("true", "null", "false")
    )
    refused = sum(row["refused"] != "no" for row in drives)
    return {
        "kind": kind,
        "drives": len(drives),
        "refused": refused,
        "checked": len(checked),
        "missed": sum(row["cost_percent"] > COSTLY for row in checked),
        "checked_percent": _most(checked),
        "unsaid": sum(row["outside"] for row in checked),
        "unchecked": len(unchecked),
        "unchecked_percent": _most(unchecked),
        "warned": len(warned),
        "false": sum(row["within"] and row["cost_percent"] <= COSTLY for row in warned),
        "choice_right": sum(not row["within"] and row["cost_percent"] <= COSTLY for row in warned),
        "warned_percent": _most(warned),
    }


def _most(answers: Sequence[Row]) -> float:
    return max((row["cost_percent"] for row in answers), default=0.0)
