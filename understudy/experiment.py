# SPDX-License-Identifier: MIT
"""The sentence that every platform understands, and what it answers with.

"Run this workload through this scheduler on this device, and record every
request".  An Experiment is that sentence, checked; an
Outcome is the record of every bio plus the facts of the run.
"""

from dataclasses import dataclass
from typing import Any, Literal

import polars as pl

from understudy.errors import UserError
from understudy.profile import DiskProfile
from understudy.tunables import Tunables
from understudy.workload import Workload

Clock = Literal["virtual", "wall"]

MIB = 2**20
TIB = 2**40
RANGES: dict[str, tuple[float, float]] = {
    "seed": (0, 2**63 - 1),
    "requests": (1, 10**7),
    "processes": (1, 1000),
    "writes_percent": (0, 100),
    "scale": (1, 100),
    "think_scale": (0, 100),
}
OPTIONS = {"writes_percent": "--writes"}


@dataclass(frozen=True)
class Experiment:
    """One run of one scheduler.

    `scale` is the papers' k: the disk takes k times its model's time, and
    everything read off the run is divided by k again.  `think_scale` stretches
    the processes' sleeps; it equals `scale` unless the papers' unscaled sleeps
    are wanted.  `tunables` are the scheduler's own values that differ from its
    defaults, unscaled.
    """

    disk: DiskProfile
    workload: Workload
    scheduler: str
    seed: int
    requests: int
    virtual_bytes: int
    processes: int
    writes_percent: int
    clock: Clock
    scale: float
    think_scale: float
    controller: str
    tunables: Tunables = ()

    def __post_init__(self) -> None:
        """Refuse what no platform can run."""
        for field, (low, high) in RANGES.items():
            self._check_range(field, low, high)
        if not 64 * MIB <= self.virtual_bytes <= 16 * TIB:
            raise UserError(f"--virtual-size: {self.virtual_bytes} bytes is outside 64MiB to 16TiB")
        if self.writes_percent and not self.workload.may_write:
            raise UserError(
                f"--writes: {self.workload.name} only reads; use --workload random to mix writes in"
            )

    def _check_range(self, field: str, low: float, high: float) -> None:
        value = getattr(self, field)
        if not low <= value <= high:
            option = OPTIONS.get(field, f"--{field.replace('_', '-')}")
            raise UserError(f"{option}: {value} is outside {low} to {high}")


@dataclass(frozen=True)
class Outcome:
    """What a platform returns.

    `requests` has one row a bio (the columns of understudy.records); `facts` is
    everything else that the run said about itself, ready for JSON.
    """

    experiment: Experiment
    requests: pl.DataFrame
    facts: dict[str, Any]
