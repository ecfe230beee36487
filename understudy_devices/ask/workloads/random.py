# SPDX-License-Identifier: MIT
"""The probe with which the papers fitted the disk's model (PERFORM 2010 section 5): it reads or
writes pages chosen at random."""

from dataclasses import dataclass
from typing import ClassVar

from understudy_devices.ask.workloads.workload import (
    InGuest,
    Simulated,
    Surroundings,
    Thinks,
    Workload,
    Writes,
    processes,
)
from understudy_devices.base.progress import Report


@dataclass(frozen=True, kw_only=True)
class Random(Thinks, Writes, Workload):
    """Each process has one request at a time."""

    name: ClassVar[str] = "random"
    summary: ClassVar[str] = "4 KiB at random places of the raw disk, each process one at a time"
    order: ClassVar[int] = 1
    on_real: ClassVar[bool] = True
    processes: int = processes(1)

    def simulated(self, around: Surroundings, report: Report) -> Simulated:
        """Return the parameters of sim/workloads/random.c."""
        values = {"writes_percent": self.writes_percent, "think_ns": self.think_ns()}
        return Simulated("random", self.processes, values)

    def in_guest(self, around: Surroundings) -> InGuest:
        """Return the command of guest/random.c."""
        think_us = round(1000 * self.think_ms * around.think_scale)
        return InGuest(
            [
                *["random", "--device", around.device],
                *["--writes", str(self.writes_percent), "--think-us", str(think_us)],
            ]
        )
