# SPDX-License-Identifier: MIT
"""The sentence that every platform understands, and what it answers with.

"Run this workload through this scheduler on this device, and record every
request".  An Experiment is that sentence, checked; an
Outcome is the record of every bio plus the facts of the run.
"""

from dataclasses import dataclass
from typing import Any, Literal

import polars as pl

from understudy.ask.tunables import Tunables
from understudy.ask.workload import WORKLOADS, Workload
from understudy.base.errors import UserError
from understudy.device.profile import DiskProfile
from understudy.traces.trace import Trace

Clock = Literal["virtual", "wall"]

Replay = Literal["open", "closed"]

KIB = 2**10
TIB = 2**40
HOUR_MS = 3_600_000
WEIGHT_MAX = 10_000
SIZES = {
    "page_cache_bytes": (4 * KIB, TIB),
    "virtual_bytes": (64 * KIB, 16 * TIB),
}
RANGES: dict[str, tuple[float, float]] = {
    **SIZES,
    "seed": (0, 2**63 - 1),
    "requests": (1, 10**8),
    "processes": (1, 10_000),
    "writes_percent": (0, 100),
    "scale": (1, 100),
    "think_scale": (0, 100),
    "depth": (1, 4096),
    "gap_us": (0, HOUR_MS * 1000),
    "ask_us": (0, HOUR_MS * 1000),
    "think_ms": (0, HOUR_MS),
    "read_ahead_kib": (0, 16 * KIB),
    "rate": (1e-3, 1e9),
}
OPTIONS = {
    "writes_percent": "--writes",
    "page_cache_bytes": "--page-cache",
    "read_ahead_kib": "--read-ahead",
    "gap_us": "--gap",
    "ask_us": "--ask",
    "think_ms": "--think",
    "virtual_bytes": "--virtual-size",
}
# Of one workload or another, with the value that says nothing.
OF_WORKLOADS: dict[str, Any] = {
    "writes_percent": 0,
    "think_ms": 0.0,
    "page_cache_bytes": None,
    "read_ahead_kib": None,
    "rate": None,
    "trace": None,
}


@dataclass(frozen=True)
class Experiment:
    """One run of one scheduler.

    `scale` is the papers' k: the disk takes k times its model's time, and
    everything read off the run is divided by k again.  `think_scale` stretches
    the processes' sleeps; it equals `scale` unless the papers' unscaled sleeps
    are wanted.  `tunables` are the scheduler's own values that differ from its
    defaults, unscaled.

    `depth` is how many requests the device takes at once (None: one on a disk, as many
    as it has servers on an array), `weights` the shares of the processes, or of a trace's
    owners, `gap_us` what the host needs between a completion and the next dispatch,
    `ask_us` what a process needs for itself between an answer and its next request; they
    are the simulator's, where a VM has its controller and its kernel.  The rest belongs to
    some workloads: `think_ms` between an answer and the next request, the page cache, the
    total `rate` of arrivals per second, the `trace` and how to `replay` it.
    """

    disk: DiskProfile
    workload: Workload
    scheduler: str
    seed: int
    requests: int
    virtual_bytes: int
    processes: int
    clock: Clock
    scale: float
    think_scale: float
    controller: str
    tunables: Tunables = ()
    writes_percent: int = 0
    depth: int | None = None
    gap_us: float = 0.0
    ask_us: float = 0.0
    think_ms: float = 0.0
    page_cache_bytes: int | None = None
    read_ahead_kib: int | None = None
    rate: float | None = None
    trace: Trace | None = None
    replay: Replay = "open"
    weights: tuple[int, ...] = ()

    @property
    def at_once(self) -> int:
        """Requests on a simulated device at once: `depth`, or as many as it serves."""
        return self.depth or self.disk.servers

    def __post_init__(self) -> None:
        """Refuse what no platform can run."""
        for field, (low, high) in RANGES.items():
            self._check_range(field, low, high)
        for field, nothing in OF_WORKLOADS.items():
            if getattr(self, field) != nothing and field not in self.workload.options:
                raise UserError(self._useless(field))
        self._check_weights()
        for field in ("rate", "trace"):
            if field in self.workload.options and getattr(self, field) is None:
                raise UserError(f"--workload: {self.workload.name} needs {option_of(field)}")

    def _check_weights(self) -> None:
        played = f"{self.processes} processes"
        number = self.processes
        if self.trace:
            number = self.trace.owners
            played = f"{number} owners in the trace"
        if self.weights and len(self.weights) != number:
            raise UserError(f"--weights: {len(self.weights)} for {played}")
        for weight in self.weights:
            if not 1 <= weight <= WEIGHT_MAX:
                raise UserError(f"--weights: {weight} is outside 1 to {WEIGHT_MAX}")

    def _useless(self, field: str) -> str:
        users = [name for name, workload in WORKLOADS.items() if field in workload.options]
        says = "only reads" if field == "writes_percent" else "has no use for it"
        return (
            f"{option_of(field)}: {self.workload.name} {says}; it goes with --workload "
            + " or ".join(users)
        )

    def _check_range(self, field: str, low: float, high: float) -> None:
        value = getattr(self, field)
        if value is not None and not low <= value <= high:
            raise UserError(f"{option_of(field)}: {value} is outside {low} to {high}")


def option_of(field: str) -> str:
    """What a field is called on the command line."""
    return OPTIONS.get(field, f"--{field.replace('_', '-')}")


@dataclass(frozen=True)
class Outcome:
    """What a platform returns.

    `requests` has one row a bio (the columns of understudy.measure.records); `facts` is
    everything else that the run said about itself, ready for JSON.
    """

    experiment: Experiment
    requests: pl.DataFrame
    facts: dict[str, Any]
