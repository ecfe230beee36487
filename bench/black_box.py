# SPDX-License-Identifier: MIT
"""A drive as a black box: compares predictions from its profile with the drive itself.

The simulator runs each workload twice with every scheduler: once on the profile, and once with each
request sent to the drive.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from bench.part import Row
from bench.predictions import Means, compared, is_within, may_be_none, ranked
from understudy_devices.ask.experiment import Experiment, asked
from understudy_devices.ask.schedulers import Choice
from understudy_devices.ask.workloads import WORKLOADS
from understudy_devices.base.errors import Unstable
from understudy_devices.base.progress import silent
from understudy_devices.device.profile import DiskProfile
from understudy_devices.device.target import Target
from understudy_devices.measure.metrics import Summary
from understudy_devices.measure.trust import Trust
from understudy_devices.native import descriptions, simulator
from understudy_devices.platforms.sim import in_simulator
from understudy_devices.profiler.profile_fit import Fitted
from understudy_devices.recommend.verdict import verdict

SURGE_BYTES = 12e9  # making a larger file system takes minutes
BUSY = 0.85  # share of the rate at which the drive serves random requests
SECTOR_BYTES = 512


@dataclass(frozen=True)
class Load:
    """A workload and the workload's arguments."""

    workload: str
    given: dict[str, Any]
    writes: bool = False


LOADS = {
    "random1": Load("random", {"processes": 1}),
    "random20": Load("random", {"processes": 20}),
    "random50": Load("random", {"processes": 50}),
    "random20writes": Load("random", {"processes": 20, "writes_percent": 30}, writes=True),
    "poisson": Load("poisson", {}),
    "sequential": Load("sequential", {"processes": 1}),
    "surge": Load("surge-direct", {"processes": 50}),
    "concurrent": Load("concurrent-read", {"processes": 10}),
}


@dataclass(frozen=True)
class Predicted:
    """The predictions for one workload on one drive.

    `rows` has one row per scheduler.  `endless` lists the schedulers that serve fewer requests than
    arrive, on the profile or on the drive.  `summaries` are those of the runs on the profile.
    """

    drive: str
    workload: str
    disk: DiskProfile
    rows: list[Row] = field(default_factory=list)
    endless: list[str] = field(default_factory=list)
    summaries: list[Summary] = field(default_factory=list)

    @cached_property
    def ranks(self) -> Row:
        """Return how many pairs of schedulers are ranked right, and what choosing the predicted
        best scheduler costs.
        """
        return ranked(self.drive, self.workload, self.rows)

    @property
    def verdict(self) -> Trust:
        """Return the verdict that accompanies the recommendation."""
        is_open = WORKLOADS[LOADS[self.workload].workload].is_open
        return verdict(self.disk, 1, self.summaries, is_open=is_open)


@dataclass(frozen=True)
class BlackBox:
    """A profiled drive.  `fresh` returns the drive in its initial state."""

    name: str
    fresh: Callable[[], Target]
    found: Fitted

    @cached_property
    def disk(self) -> DiskProfile:
        """The drive's profile."""
        return self.found.disk()

    def takes(self, workload: str) -> bool:
        """Return whether the workload fits on the drive."""
        if workload == "surge":
            return self.found.capacity_sectors * SECTOR_BYTES <= SURGE_BYTES
        return self.fresh().writable or not LOADS[workload].writes

    def predicted(self, workload: str, requests: int, seeds: int) -> Predicted:
        """Predict and measure the workload with each scheduler and each seed."""
        answer = Predicted(self.name, workload, self.disk)
        alone = [one.name for one in descriptions.schedulers().values() if not one.needs_model]
        for scheduler in ["fcfs"] if workload == "random1" else alone:
            try:
                runs = [
                    self._both(self._run(workload, scheduler, requests, seed + 1))
                    for seed in range(seeds)
                ]
            except Unstable:
                answer.endless.append(scheduler)
                continue
            summaries, theirs = zip(*runs, strict=True)
            answer.summaries.extend(summaries)
            ours = [Means(one.mean_service_ms, one.mean_response_ms) for one in summaries]
            answer.rows.append(compared(self.name, workload, scheduler, ours, theirs))
        return answer

    def _run(self, workload: str, scheduler: str, requests: int, seed: int) -> Experiment:
        load = LOADS[workload]
        return asked(
            WORKLOADS[load.workload],
            Choice(scheduler, ()),
            self.disk,
            "sim",
            seed=seed,
            requests=requests,
            virtual_bytes=self.found.capacity_sectors * SECTOR_BYTES,
            **({"rate": self._rate} if workload == "poisson" else load.given),
        )

    @property
    def _rate(self) -> float:
        """Return the arrival rate at which the drive is busy for the fraction BUSY of the time."""
        reads = next(check for check in self.found.checks if check.workload == "random reads")
        return BUSY * 1000 / reads.target_ms

    def _both(self, run: Experiment) -> tuple[Summary, Means]:
        """Run the experiment twice: on the profile, and on the drive itself."""
        ours = in_simulator.summarise(run, silent)
        simulation = replace(in_simulator.describe(run), device=self.fresh())
        theirs = simulator.run(simulation, keep_rows=False).figures
        return ours, Means(theirs.service.mean / 1e6, theirs.response.mean / 1e6)


def summed_up(predictions: Sequence[Predicted]) -> Row:
    """Return a row with the totals of one workload over all drives."""
    rows = [row for each in predictions for row in each.rows]
    ranks = [each.ranks for each in predictions if each.rows]
    endless = [f"{each.drive} {one}" for each in predictions for one in each.endless]
    service, response = (
        np.abs([row[f"{what}_percent"] for row in rows]) for what in ("service", "response")
    )
    return {
        "workload": predictions[0].workload,
        "drives": len(ranks),
        "service_half": float(np.median(service)),
        "service_all": float(service.max()),
        "response_half": float(np.median(response)),
        "response_all": float(response.max()),
        "within": sum(is_within(row) for row in rows),
        "excused": sum(not is_within(row) and may_be_none(row) for row in rows),
        "overloaded": ", ".join(endless) or "none",
        "cases": len(rows) + len(endless),
        "ranked_right": sum(row["ranked_right"] for row in ranks),
        "pairs": sum(row["pairs"] for row in ranks),
        "choice_percent": max(row["chosen_costs_percent"] for row in ranks),
    }
