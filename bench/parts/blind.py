# SPDX-License-Identifier: MIT
"""Drives that nobody has described: profiled blind, then predicted."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import understudy
from bench.part import Column, Row, Rows
from bench.predicted import Means, compared, is_within, may_be_none, ranked
from oracle.detailed.drive import DetailedDrive, random_drive
from understudy.ask.experiment import asked
from understudy.ask.schedulers import Choice
from understudy.ask.workloads import WORKLOADS
from understudy.base.errors import Unstable
from understudy.device.profile import DiskProfile
from understudy.native import declared, simulator
from understudy.native.simulation import Simulation
from understudy.platforms.sim import in_simulator
from understudy.profiler.fitted import Fitted

TITLE = "How well drives are predicted that nobody has described"
TEXT = """
Detailed drives of `oracle/detailed`, which share no code with our model: skews, spare tracks,
serpentine layouts, caches with rules of their own. Their parameters are random, from seeds that
nobody had looked at when they were run. `understudy.profile` measures each as a black box, reads
and writes; then the simulator runs all schedulers twice: with the profile, and with the drive
itself, which it asks request by request. The next run takes 881 to 900.

{{ drives }}

*Within the limits*: mean service within 3 % and mean response within 5 % of the drive's; *or no
difference*: so is no difference within the 95 % interval of the paired ones. Pairs are
those that differ by more than 3 % on the drive. What the choice costs is how much longer the
mean response of the recommended scheduler is than the best one's, on the drive. *Without an end*
are drives and schedulers that more arrives for than is served, here or there; they are outside
the limits.

{{ workloads }}

`surge` is only for drives below 12 GB: a larger file system takes minutes to lay out. In
`concurrent` ten threads read ten fixed places in turns: what one drive takes for that
depends on the angles between those ten places. `sfq` charges what a request took, so that a few
ns decide there who is next, and two runs part.

Farthest from the drive:

{{ farthest }}
"""
TABLES = {
    "drives": (
        Column("drive", "{drive}"),
        Column("GB", "{gigabytes:.1f}"),
        Column("rotation (ms)", "{rotation_ms:.3f}"),
        Column("requests to profile it", "{requests:,}"),
        Column("random reads: demerit (%)", "{random_percent:.1f}"),
        Column("mixed sizes (%)", "{mixed_percent:.1f}"),
        Column("a third written (%)", "{written_percent:.1f}"),
    ),
    "workloads": (
        Column("workload", "{workload}"),
        Column("drives", "{drives}"),
        Column("service: half within (%)", "{service_half:.1f}"),
        Column("all within (%)", "{service_all:.1f}"),
        Column("response: half within (%)", "{response_half:.1f}"),
        Column("all within (%)", "{response_all:.1f}"),
        Column("within the limits", "{within} of {cases}"),
        Column("or no difference", "{excused}"),
        Column("without an end", "{overloaded}"),
        Column("pairs ranked right", "{ranked_right} of {pairs}"),
        Column("the choice costs at most (%)", "{choice_percent:.1f}"),
    ),
    "farthest": (
        Column("drive", "{drive}"),
        Column("workload", "{workload}"),
        Column("scheduler", "{scheduler}"),
        Column("service (%)", "{service_percent:+.1f}"),
        Column("response (%)", "{response_percent:+.1f}"),
        Column("± (%)", "{interval_percent:.1f}"),
    ),
}
FIRST_DRIVE = 901
SIZES = {
    "full": {"drives": 20, "requests": 5000, "seeds": 5, "workloads": ["all"]},
    "quick": {"drives": 20, "requests": 2000, "seeds": 2, "workloads": ["all"]},
    "tiny": {"drives": 1, "requests": 200, "seeds": 2, "workloads": ["random20"]},
}
IN_VM = False
SURGE_BYTES = 12e9
BUSY = 0.85  # of what random requests take
FARTHEST = 20
SECTOR_BYTES = 512


@dataclass(frozen=True)
class Load:
    """A workload and its arguments."""

    workload: str
    given: dict[str, Any]


LOADS = {
    "random1": Load("random", {"processes": 1}),
    "random20": Load("random", {"processes": 20}),
    "random50": Load("random", {"processes": 50}),
    "random20writes": Load("random", {"processes": 20, "writes_percent": 30}),
    "poisson": Load("poisson", {}),
    "sequential": Load("sequential", {"processes": 1}),
    "surge": Load("surge-direct", {"processes": 50}),
    "concurrent": Load("concurrent-read", {"processes": 10}),
}


def measure(
    drives: int,
    requests: int,
    seeds: int,
    workloads: list[str],
    first: int = FIRST_DRIVE,
) -> Rows:
    """Drive by drive; what they have in common comes last."""
    names = list(LOADS) if workloads == ["all"] else workloads
    compared_rows: list[Row] = []
    overloaded: list[Row] = []
    ranks: list[Row] = []
    for number in range(first, first + drives):
        drive = random_drive(number)
        found = understudy.profile(drive, destroy_data=True)
        yield "drives", _profiled(number, drive, found)
        for name in names:
            if name == "surge" and drive.capacity_sectors * SECTOR_BYTES > SURGE_BYTES:
                continue
            rows = list(_on(number, drive, found, name, requests, seeds, overloaded))
            compared_rows += rows
            if rows:
                ranks.append(ranked(str(number), name, rows))
    for name in names:
        mine, endless, ranked_here = (
            [row for row in rows if row["workload"] == name]
            for rows in (compared_rows, overloaded, ranks)
        )
        if mine:
            yield "workloads", _summed_up(name, mine, endless, ranked_here)
    compared_rows.sort(key=lambda row: abs(row["response_percent"]), reverse=True)
    yield from (("farthest", row) for row in compared_rows[:FARTHEST])


def _profiled(number: int, drive: DetailedDrive, found: Fitted) -> Row:
    percent = {check.workload: check.demerit_percent for check in found.checks}
    return {
        "drive": number,
        "gigabytes": drive.capacity_sectors * SECTOR_BYTES / 1e9,
        "rotation_ms": drive.parameters.period_ns / 1e6,
        "requests": found.requests,
        "random_percent": percent["random reads"],
        "mixed_percent": percent["reads of many sizes"],
        "written_percent": percent["reads and writes"],
    }


def _on(
    number: int,
    drive: DetailedDrive,
    found: Fitted,
    name: str,
    requests: int,
    seeds: int,
    overloaded: list[Row],
) -> Iterator[Row]:
    """One scheduler after another; those that have no end are added to the overloaded."""
    choosing_alone = [one.name for one in declared.schedulers().values() if not one.needs_model]
    schedulers = ["fcfs"] if name == "random1" else choosing_alone
    disk = found.disk()
    for scheduler in schedulers:
        try:
            runs = [
                _simulated(drive, disk, _load(name, found), scheduler, requests, seed + 1)
                for seed in range(seeds)
            ]
        except Unstable:
            overloaded.append({"drive": number, "workload": name, "scheduler": scheduler})
            continue
        ours, theirs = zip(*runs, strict=True)
        yield compared(str(number), name, scheduler, ours, theirs)


def _load(name: str, found: Fitted) -> Load:
    if name != "poisson":
        return LOADS[name]
    served_ms = next(check.target_ms for check in found.checks if check.workload == "random reads")
    return Load("poisson", {"rate": BUSY * 1000 / served_ms})


def _simulated(
    drive: DetailedDrive, disk: DiskProfile, load: Load, scheduler: str, requests: int, seed: int
) -> tuple[Means, Means]:
    """On the profile and on the drive."""
    run = asked(
        WORKLOADS[load.workload],
        Choice(scheduler, ()),
        disk,
        "sim",
        seed=seed,
        requests=requests,
        virtual_bytes=drive.capacity_sectors * SECTOR_BYTES,
        **load.given,
    )
    simulation = in_simulator.describe(run)
    drive.reset()
    return _means(simulation), _means(replace(simulation, device=drive))


def _means(simulation: Simulation) -> Means:
    figures = simulator.run(simulation, keep_rows=False).figures
    return Means(figures.service.mean / 1e6, figures.response.mean / 1e6)


def _summed_up(
    name: str, rows: Sequence[Row], overloaded: Sequence[Row], ranks: Sequence[Row]
) -> Row:
    service, response = (
        np.abs([row[f"{what}_percent"] for row in rows]) for what in ("service", "response")
    )
    return {
        "workload": name,
        "drives": len(ranks),
        "service_half": float(np.median(service)),
        "service_all": float(service.max()),
        "response_half": float(np.median(response)),
        "response_all": float(response.max()),
        "within": sum(is_within(row) for row in rows),
        "excused": sum(not is_within(row) and may_be_none(row) for row in rows),
        "overloaded": ", ".join(f"{one['drive']} {one['scheduler']}" for one in overloaded)
        or "none",
        "cases": len(rows) + len(overloaded),
        "ranked_right": sum(row["ranked_right"] for row in ranks),
        "pairs": sum(row["pairs"] for row in ranks),
        "choice_percent": max(row["chosen_costs_percent"] for row in ranks),
    }
