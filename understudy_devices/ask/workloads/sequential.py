# SPDX-License-Identifier: MIT
"""Streams: each process reads or writes consecutive sectors, each from another first sector."""

from dataclasses import dataclass
from typing import ClassVar

from understudy_devices.ask.workloads.workload import (
    Simulated,
    Surroundings,
    Thinks,
    Workload,
    Writes,
    processes,
)
from understudy_devices.base.progress import Report


@dataclass(frozen=True, kw_only=True)
class Sequential(Thinks, Writes, Workload):
    """Each process has one request outstanding; it begins at the sector after the previous
    request."""

    name: ClassVar[str] = "sequential"
    summary: ClassVar[str] = "4 KiB upwards on the raw disk, each process from a place of its own"
    order: ClassVar[int] = 2
    processes: int = processes(1)

    def simulated(self, around: Surroundings, report: Report) -> Simulated:
        """Return the parameters of sim/workloads/sequential.c."""
        values = {"writes_percent": self.writes_percent, "think_ns": self.think_ns()}
        return Simulated("sequential", self.processes, values)
