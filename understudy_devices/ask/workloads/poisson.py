# SPDX-License-Identifier: MIT
"""An open workload: requests arrive even if the disk is slower than the arrivals."""

from dataclasses import dataclass
from typing import ClassVar

from understudy_devices.ask.parameters import parameter
from understudy_devices.ask.workloads.workload import (
    Simulated,
    Surroundings,
    Workload,
    Writes,
    processes,
)
from understudy_devices.base.progress import Report


@dataclass(frozen=True, kw_only=True)
class Poisson(Writes, Workload):
    """Each process is an independent stream of arrivals."""

    name: ClassVar[str] = "poisson"
    summary: ClassVar[str] = "open: 4 KiB arrivals at random places, independent of the disk"
    order: ClassVar[int] = 6
    is_open: ClassVar[bool] = True
    processes: int = processes(1)
    rate: float = parameter(
        option="--rate",
        help="Arrivals per second, of all processes together (poisson).",
        kind=float,
        metavar="PER_SECOND",
        unit="1/s",
        low=1e-3,
        high=1e9,
        column="rate_per_s",
        told="{:g} arrivals a second",
    )

    def simulated(self, around: Surroundings, report: Report) -> Simulated:
        """Return the parameters of sim/workloads/poisson.c."""
        values = {
            "mean_gap_ns": round(1e9 * self.processes / self.rate),
            "writes_percent": self.writes_percent,
        }
        return Simulated("poisson", self.processes, values)
