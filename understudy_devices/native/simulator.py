# SPDX-License-Identifier: MIT
"""The simulator's engine for Python: checks and runs a simulation, returns rows and figures.

sim/engine.h has the contract.  Times are integer nanoseconds, addresses and lengths are in sectors.
Each run is a separate process (worker.py), so threads can use all processors.
"""

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

from understudy_devices._core import ffi, lib
from understudy_devices.base.errors import RunFailed
from understudy_devices.device.target import Target
from understudy_devices.native import descriptions, members, registry, worker
from understudy_devices.native.arrays import Columns
from understudy_devices.native.drive import Drive
from understudy_devices.native.failures import failure
from understudy_devices.native.figures import Figures, figures_of
from understudy_devices.native.request import OPS
from understudy_devices.native.simulation import Array, Simulation, struct_workload

TIME_MAX_NS = 2**62

COLUMNS: dict[str, type[np.generic]] = {
    "arrival_ns": np.int64,
    "dispatch_ns": np.int64,
    "start_ns": np.int64,
    "completion_ns": np.int64,
    "sector": np.int64,
    "request_id": np.int64,
    "model_service_ns": np.int64,
    "idle_ns": np.int64,
    "sectors": np.uint32,
    "owner": np.uint32,
    "op": np.uint8,
    "reason": np.uint8,
    "hit": np.uint8,
}


@dataclass(frozen=True)
class Answer:
    """The result of a simulation; without rows if only figures were wanted."""

    figures: Figures
    rows: Columns
    printed: str  # by the scheduler


def check(simulation: Simulation) -> None:
    """Raise ValueError for impossible input."""
    _Call(simulation, keep_rows=False).check()


def run(
    simulation: Simulation,
    *,
    keep_rows: bool = True,
    look: worker.Look = lambda done: None,
) -> Answer:
    """Simulate.

    From time to time `look` is called with the number of completed requests.  Raises ValueError for
    impossible input, Unstable if the device is too slow for an open workload, RunFailed for any
    other early end, and any exception from `look`.
    """
    call = _Call(simulation, keep_rows)
    call.check()
    figures, printed = _carry_out(call, simulation, look)
    rows = {name: column[: figures.completed] for name, column in call.columns().items()}
    return Answer(figures, rows, printed)


def _carry_out(call: "_Call", simulation: Simulation, look: worker.Look) -> tuple[Figures, str]:
    printed = worker.run(call.job, parts_of(simulation), look, _asks(simulation.device))
    figures = call.figures()
    if call.job.structure.error:
        raise failure(simulation, call.job, figures)
    return figures, printed


def parts_of(simulation: Simulation) -> list[worker.Part]:
    """Return the scheduler and the policies."""
    name, cache = simulation.scheduler, simulation.cache
    policies = cache.policies.values() if cache else ()
    return [
        worker.Part(registry.source(name), name, descriptions.scheduler(name).declared),
        *(
            worker.Part(each.file, each.described.name, each.described.declared)
            for each in policies
        ),
    ]


def _asks(device: Drive | Array | Target) -> worker.Ask | None:
    """Return the callback that serves the requests to a target; None for devices inside the
    engine.
    """
    if isinstance(device, Drive | Array):
        return None

    def ask(question: bytes) -> bytes:
        request = ffi.from_buffer("struct question *", question)
        begins_ns = int(request.start_ns)
        ends_ns = device.request(OPS[request.op], request.sector, request.sectors, begins_ns)
        if not begins_ns <= ends_ns < TIME_MAX_NS:
            raise RunFailed(f"target: a request that began at {begins_ns} ns ended at {ends_ns}")
        return ends_ns.to_bytes(8, sys.byteorder)

    return ask


class _Call:
    """The job of one run."""

    def __init__(self, simulation: Simulation, keep_rows: bool) -> None:
        self._scheduler = descriptions.scheduler(simulation.scheduler)
        self._simulation = simulation
        self._keep_rows = keep_rows
        device = simulation.device
        arrays = members.arrays(simulation)
        if isinstance(device, Drive):
            arrays |= device.placed("drive")
        self.job = worker.Job(worker.SIMULATE, arrays | self._room())
        self.input = self.job.structure.input
        self.summary = self.job.structure.summary
        self.input.workload = struct_workload(simulation.workload)
        self.job.structure.workload = simulation.workload.encode()
        for name, value in members.numbers(simulation).items():
            _set(self.job.structure, name, value)
        if isinstance(device, Drive):
            device.copy_to(self.job, "drive")
            self.input.drive = ffi.addressof(self.job.structure, "drive")
        self.job.structure.has_target = not isinstance(device, Drive | Array)
        if keep_rows:
            self.input.columns = ffi.addressof(self.job.structure, "columns")

    def check(self) -> None:
        """Check everything except the scheduler, in this process."""
        rows = 0 if self._simulation.rows is None else len(self._simulation.rows.think_ns)
        extents = 0 if self._simulation.layout is None else len(self._simulation.layout.start)
        wrong = lib.sim_check(ffi.addressof(self.input), rows, extents)
        if wrong != ffi.NULL:
            raise ValueError(ffi.string(wrong).decode())

    def columns(self) -> Columns:
        """Return the rows; none if only figures were wanted."""
        return {name: self.job.arrays[f"columns.{name}"] for name in COLUMNS if self._keep_rows}

    def figures(self) -> Figures:
        """Return the run's figures."""
        counters = self._counters("summary.counters", self._scheduler)
        cache = self._simulation.cache
        policies = {
            name: self._counters(f"summary.{name}_counters", policy.described)
            for name, policy in (cache.policies if cache else {}).items()
        }
        return figures_of(self.summary, counters, policies)

    def _counters(self, array: str, described: descriptions.Scheduler) -> dict[str, int]:
        names = (counter.name for counter in described.counters)
        return dict(zip(names, map(int, self.job.arrays[array]), strict=True))

    def _room(self) -> dict[str, worker.Room]:
        """Return the arrays that the job fills with its results."""
        rows = self._simulation.requests
        columns = {
            f"columns.{name}": worker.Room(kind, rows)
            for name, kind in COLUMNS.items()
            if self._keep_rows
        }
        cache = self._simulation.cache
        described = {"summary.counters": self._scheduler} | {
            f"summary.{name}_counters": policy.described
            for name, policy in (cache.policies if cache else {}).items()
        }
        counters = {
            name: worker.Room(np.uint64, len(one.counters)) for name, one in described.items()
        }
        return columns | counters


def _set(structure: Any, name: str, value: int) -> None:
    *path, member = name.split(".")
    for part in path:
        structure = getattr(structure, part)
    try:
        setattr(structure, member, value)
    except OverflowError:
        raise ValueError(f"{member} is {value}, negative or far too large") from None
