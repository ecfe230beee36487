# SPDX-License-Identifier: MIT
"""The simulator's engine from Python: one simulation, checked, run, its rows and figures.

sim/engine.h has the contract.  Times are integer nanoseconds, positions and lengths
sectors.  A run is a process of its own (worker.py), so threads use all processors.
"""

import errno
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from understudy._core import ffi, lib
from understudy.base.errors import RunFailed, Unstable
from understudy.device.target import Target
from understudy.native import declared, registry, worker
from understudy.native.arrays import U64, Columns
from understudy.native.declared import Tunable
from understudy.native.drive import Drive
from understudy.native.request import OPS, REASONS

MAX_PENDING = 4096
PERCENTILES = (50, 95, 99, 99.9)
TIME_MAX_NS = 2**62
FIGURES_OF_EACH_MAX = 1000
MERGE_ALL = 2**31  # more than ever wait

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
class WorkloadKind:
    """What a file of sim/workloads/ says of itself."""

    name: str
    summary: str
    open: bool
    parameters: tuple[Tunable, ...]


@dataclass(frozen=True)
class Array:
    """Equal servers.  A request that brings no cost takes the mean, or a draw around it."""

    servers: int
    mean_service_ns: int = 0
    exponential: bool = False


@dataclass(frozen=True)
class Layout:
    """Files: sizes in bytes; file i has the extents first[i] to first[i + 1], in sectors."""

    bytes: U64
    first: U64
    start: U64
    length: U64


@dataclass(frozen=True)
class Rows:
    """Requests as a table, for the workloads "rows-open" and "rows-closed".

    Process i plays the rows first[i] to first[i + 1].  `think_ns` counts from the
    process's last answer (closed) or from its row before (open).
    """

    first: Any
    think_ns: Any
    sector: Any
    sectors: Any
    op: Any
    owner: Any
    cost_ns: Any = None


@dataclass(frozen=True)
class PageCache:
    """The host's page cache; see sim/page_cache.h for how it reads ahead."""

    bytes: int
    page_sectors: int = 8
    read_ahead_pages: int = 32


@dataclass(frozen=True)
class Simulation:
    """One sentence for the engine: this workload, this scheduler, this device."""

    workload: str
    scheduler: str
    device: Drive | Array | Target
    capacity_sectors: int
    requests: int
    processes: int = 1
    seed: int = 1
    parameters: Mapping[str, int] = field(default_factory=dict)
    tunables: Mapping[str, int] = field(default_factory=dict)
    layout: Layout | None = None
    rows: Rows | None = None
    cache: PageCache | None = None
    depth: int | None = None  # default: 1 on a disk, the servers of an array
    max_pending: int = MAX_PENDING
    merge_sectors: int = 0  # longest request that merging makes; 0: nothing is merged
    merge: float = 1  # omega: how many of an owner's a server of an array takes as one
    gap_ns: int = 0
    ask_ns: int = 0
    weights: Any = None
    io_classes: Any = None
    levels: Any = None


@dataclass(frozen=True)
class Moments:
    """Mean and population variance, ns and ns²."""

    mean: float
    variance: float


@dataclass(frozen=True)
class ProcessFigures:
    """The measured requests of one process, a class of the queue."""

    completed: int
    response: Moments
    response_percentiles: dict[float, int]  # the lower end of a cell 1/256 wide
    longest_response_ns: int
    in_system: float  # as Figures.in_system, of this process's


@dataclass(frozen=True)
class Figures:
    """The measured requests, summed up while they went by."""

    completed: int
    dispatched: int  # fewer, if some were merged, also several into one bundle
    first_arrival_ns: int
    last_arrival_ns: int
    last_completion_ns: int
    sectors: int
    hits: int
    predicted: int
    predicted_hits: int
    page_hits: int
    page_misses: int
    reasons: dict[str, int]
    service: Moments
    device: Moments
    response: Moments
    model: Moments
    response_percentiles: dict[float, int]  # the lower end of a cell 1/256 wide
    longest_response_ns: int
    counters: dict[str, int]
    each: tuple[ProcessFigures, ...] = ()  # by process, if that was asked for

    @property
    def in_system(self) -> float:
        """Mean number of measured requests that wait or are served (N_sim, ICPE 2011).

        A time average from the first arrival to the last completion, exact by Little's law.
        """
        span_ns = self.last_completion_ns - self.first_arrival_ns
        return self.completed * self.response.mean / span_ns if span_ns else 0.0


@dataclass(frozen=True)
class Answer:
    """What a simulation found; no rows if only figures were asked for."""

    figures: Figures
    rows: Columns
    printed: str  # by the scheduler


@cache
def workloads() -> dict[str, WorkloadKind]:
    """Every workload in sim/workloads/, by name."""
    found = (_describe(lib.workload_get(i)) for i in range(lib.workload_count()))
    return {workload.name: workload for workload in sorted(found, key=lambda w: w.name)}


def check(simulation: Simulation) -> None:
    """Raise ValueError for what cannot be simulated."""
    _Call(simulation, keep_rows=False).check()


def run(
    simulation: Simulation,
    *,
    keep_rows: bool = True,
    of_each: bool = False,
    look: worker.Look = lambda done: None,
) -> Answer:
    """Simulate; with figures of each process if asked for.

    Raises ValueError for what cannot be simulated, Unstable for an open workload that
    the device cannot keep up with, RunFailed for anything else that ends a run, and what
    `look` raises, which is told now and then how many requests are done.
    """
    call = _Call(simulation, keep_rows, of_each)
    call.check()
    figures, printed = _carry_out(call, simulation, look)
    rows = {name: column[: figures.completed] for name, column in call.columns().items()}
    return Answer(figures, rows, printed)


def replicate(
    simulation: Simulation,
    seeds: Iterable[int],
    *,
    cost_ns: Callable[[int], npt.ArrayLike] | None = None,
    look: worker.Look = lambda done: None,
) -> Iterator[Figures]:
    """Simulate with one seed after the other; figures only, with those of each process.

    The table is checked and copied once, which for millions of requests takes as long as
    serving them.  `cost_ns` gives each seed the table's service times, ns: a number for
    each row.  Raises as `run`.  Replications side by side: a call in each thread.
    """
    call = _Call(simulation, keep_rows=False, of_each=True)
    call.check()
    rewind = call.job.bookmark()
    for seed in seeds:
        rewind()
        call.vary(seed, None if cost_ns is None else cost_ns(seed))
        yield _carry_out(call, simulation, look)[0]


def _carry_out(call: "_Call", simulation: Simulation, look: worker.Look) -> tuple[Figures, str]:
    name = simulation.scheduler
    printed = worker.run(call.job, registry.source(name), name, look, _asks(simulation.device))
    figures = call.figures()
    if call.job.structure.error:
        raise _failure(simulation, call.job, figures)
    return figures, printed


def _asks(device: Drive | Array | Target) -> worker.Ask | None:
    """How a target answers; None for what the engine knows itself."""
    if isinstance(device, Drive | Array):
        return None

    def ask(question: bytes) -> bytes:
        asked = ffi.from_buffer("struct question *", question)
        begins_ns = int(asked.start_ns)
        ends_ns = device.request(OPS[asked.op], asked.sector, asked.sectors, begins_ns)
        if not begins_ns <= ends_ns < TIME_MAX_NS:
            raise RunFailed(f"target: a request that began at {begins_ns} ns ended at {ends_ns}")
        return ends_ns.to_bytes(8, sys.byteorder)

    return ask


class _Call:
    """The job of one run."""

    def __init__(self, simulation: Simulation, keep_rows: bool, of_each: bool = False) -> None:
        self._scheduler = declared.scheduler(simulation.scheduler)
        self._workload = workloads()[simulation.workload]
        self._simulation = simulation
        self._keep_rows = keep_rows
        self._of_each = of_each
        arrays = self._choice() | self._classes() | self._files() | self._table()
        self.job = worker.Job(worker.SIMULATE, arrays | self._room())
        self.input = self.job.structure.input
        self.summary = self.job.structure.summary
        self._fill_choice()
        self._fill_device()
        self._fill_bundling()
        self._fill_world()
        if keep_rows:
            self.input.columns = ffi.addressof(self.job.structure, "columns")

    def check(self) -> None:
        """In this process, so everything but the scheduler."""
        rows = 0 if self._simulation.rows is None else len(self._simulation.rows.think_ns)
        extents = 0 if self._simulation.layout is None else len(self._simulation.layout.start)
        wrong = lib.sim_check(ffi.addressof(self.input), rows, extents)
        if wrong != ffi.NULL:
            raise ValueError(ffi.string(wrong).decode())

    def vary(self, seed: int, cost_ns: npt.ArrayLike | None) -> None:
        """Another seed, and other service times in the table unless they are None."""
        _set(self.input.world, seed=seed)
        self.job.arrays["input.each"][:] = 0
        if cost_ns is None:
            return
        if self._simulation.rows is None:
            raise ValueError("service times are given for the rows of a table, and there is none")
        into = self.job.arrays["input.world.rows.cost_ns"]
        given = self._column("cost_ns", cost_ns, np.uint64, len(into))
        if given.max(initial=0) >= TIME_MAX_NS:
            raise ValueError(f"seed {seed}: cost_ns: a time is 2^62 ns or more")
        into[:] = given

    def columns(self) -> Columns:
        """The rows; none if only figures were asked for."""
        return {name: self.job.arrays[f"columns.{name}"] for name in COLUMNS if self._keep_rows}

    def figures(self) -> Figures:
        """What the run left behind."""
        names = {entry.name for entry in fields(Figures)}
        plain: dict[str, Any] = {
            name: int(getattr(self.summary, name))
            for name in names & set(dir(self.summary))
            if isinstance(getattr(self.summary, name), int)
        }
        moments: dict[str, Any] = {
            name: _moments(ffi.addressof(self.summary, name))
            for name in ("service", "device", "response", "model")
        }
        responses = ffi.addressof(self.summary, "responses")
        plain["dispatched"] = int(self.summary.model.count)
        counters = (counter.name for counter in self._scheduler.counters)
        return Figures(
            **plain,
            **moments,
            reasons={
                name: int(count)
                for name, count in zip(REASONS, self.summary.reason, strict=True)
                if count
            },
            response_percentiles=_percentiles(responses),
            longest_response_ns=int(responses.max),
            counters=dict(zip(counters, self._counters(), strict=True)),
            each=self._figures_of_each(),
        )

    def _figures_of_each(self) -> tuple[ProcessFigures, ...]:
        if not self._of_each:
            return ()
        span_ns = int(self.summary.last_completion_ns) - int(self.summary.first_arrival_ns)
        each = ffi.from_buffer("struct sim_process[]", self.job.arrays["input.each"])
        return tuple(_process_figures(one, span_ns) for one in each)

    def _counters(self) -> list[int]:
        return [int(value) for value in self.job.arrays["summary.counters"]]

    def _choice(self) -> dict[str, Any]:
        asked = self._simulation
        parameters = self._workload.parameters
        return {
            "input.tunables": declared.tunable_values(self._scheduler, asked.tunables),
            "input.parameters": declared.field_values(asked.workload, parameters, asked.parameters),
        }

    def _classes(self) -> dict[str, Any]:
        asked = self._simulation
        return {
            f"input.{name}": self._column(name, values, kind, asked.processes)
            for name, values, kind in (
                ("weight", asked.weights, np.uint32),
                ("io_class", asked.io_classes, np.uint8),
                ("level", asked.levels, np.uint8),
            )
            if values is not None
        }

    def _files(self) -> dict[str, Any]:
        layout = self._simulation.layout
        if layout is None:
            return {}
        files = len(layout.bytes)
        extents = len(layout.start)
        return {
            f"input.world.layout.{name}": self._column(name, values, np.uint64, length)
            for name, values, length in (
                ("bytes", layout.bytes, files),
                ("first", layout.first, files + 1),
                ("start", layout.start, extents),
                ("length", layout.length, extents),
            )
        }

    def _table(self) -> dict[str, Any]:
        rows = self._simulation.rows
        if rows is None:
            return {}
        count = len(rows.think_ns)
        cost_ns = np.zeros(count, np.uint64) if rows.cost_ns is None else rows.cost_ns
        return {
            f"input.world.rows.{name}": self._column(name, values, kind, length)
            for name, values, kind, length in (
                ("first", rows.first, np.uint64, self._simulation.processes + 1),
                ("think_ns", rows.think_ns, np.uint64, count),
                ("sector", rows.sector, np.uint64, count),
                ("cost_ns", cost_ns, np.uint64, count),
                ("sectors", rows.sectors, np.uint32, count),
                ("owner", rows.owner, np.uint32, count),
                ("op", rows.op, np.uint8, count),
            )
        }

    def _room(self) -> dict[str, worker.Room]:
        """For what comes out."""
        rows = self._simulation.requests
        columns = {
            f"columns.{name}": worker.Room(kind, rows)
            for name, kind in COLUMNS.items()
            if self._keep_rows
        }
        counters = {"summary.counters": worker.Room(np.uint64, len(self._scheduler.counters))}
        return columns | counters | self._room_for_each()

    def _room_for_each(self) -> dict[str, worker.Room]:
        count = self._simulation.processes
        if not self._of_each:
            return {}
        if count > FIGURES_OF_EACH_MAX:
            raise ValueError(
                f"processes is {count:,}: figures of each are kept for {FIGURES_OF_EACH_MAX:,} "
                "at most; take fewer, or keep the rows"
            )
        return {"input.each": worker.Room(np.uint8, count * ffi.sizeof("struct sim_process"))}

    def _fill_choice(self) -> None:
        asked = self._simulation
        self.input.workload = _find(asked.workload)
        self.job.structure.workload = asked.workload.encode()
        _set(
            self.input,
            requests=asked.requests,
            max_pending=asked.max_pending,
            merge_sectors=asked.merge_sectors,
            gap_ns=asked.gap_ns,
            ask_ns=asked.ask_ns,
        )

    def _fill_device(self) -> None:
        device = self._simulation.device
        depth = self._simulation.depth
        array = device if isinstance(device, Array) else Array(1)
        _set(
            self.input.array,
            servers=array.servers,
            mean_service_ns=array.mean_service_ns,
            exponential=array.exponential,
        )
        _set(self.input, depth=array.servers if depth is None else depth)
        if isinstance(device, Drive):
            self.job.structure.drive = device.pointer[0]
            self.input.drive = ffi.addressof(self.job.structure, "drive")
        self.job.structure.has_target = not isinstance(device, Drive | Array)

    def _fill_bundling(self) -> None:
        others, one_more = _bundling(self._simulation)
        _set(self.input.bundling, others=others, one_more=one_more)

    def _fill_world(self) -> None:
        asked = self._simulation
        _set(
            self.input.world,
            capacity_sectors=asked.capacity_sectors,
            seed=asked.seed,
            processes=asked.processes,
        )
        if asked.layout:
            _set(self.input.world.layout, files=len(asked.layout.bytes))
        if asked.cache:
            _set(
                self.input.cache,
                bytes=asked.cache.bytes,
                page_sectors=asked.cache.page_sectors,
                read_ahead_pages=asked.cache.read_ahead_pages,
            )

    def _column(self, name: str, values: Any, kind: type[np.generic], length: int) -> Any:
        given = np.asarray(values)
        if given.shape != (length,):
            raise ValueError(f"{name} has {given.size} entries, not {length}")
        limit = 256 ** np.dtype(kind).itemsize
        if not (given.min(initial=0) >= 0 and given.max(initial=0) < limit):
            raise ValueError(f"{name}: not every entry is from 0 to {limit - 1}")
        return np.ascontiguousarray(given, kind)


def _set(structure: Any, **values: int) -> None:
    for name, value in values.items():
        try:
            setattr(structure, name, value)
        except OverflowError:
            raise ValueError(f"{name} is {value}, negative or far too large") from None


def _bundling(simulation: Simulation) -> tuple[int, int]:
    """How many go with a request at most, and the chance of one more in 2^-64.

    `merge` is omega of ICPE 2011, section 4.3.1: 2.5 is two or three, each as often.
    """
    merge = simulation.merge
    if not merge >= 1:
        raise ValueError(
            f"merge is {merge}: a server takes at least one request; 1 merges nothing, "
            "2.5 two or three"
        )
    if merge > 1 and not isinstance(simulation.device, Array):
        raise ValueError(
            f"merge is {merge}: only the servers of an array take several requests as one; "
            "take an array, or 1"
        )
    bounded = min(merge, MERGE_ALL)
    whole = math.floor(bounded)
    return whole - 1, int((bounded - whole) * 2**64)


def _failure(simulation: Simulation, job: worker.Job, figures: Figures) -> RunFailed:
    code = -job.structure.error
    if code == errno.EOVERFLOW:
        load = offered_load(simulation, figures)
        how = "not one is served yet" if load is None else f"they arrive {arrive(load)}"
        advice = "part of the table" if simulation.rows else "a lower rate"
        return Unstable(
            f"{simulation.scheduler}: unstable: more than {simulation.max_pending:,} requests "
            f"wait or are served; {how}; take {advice}",
            load,
        )
    oldest = f"request {job.structure.summary.oldest:,}"
    reasons = {
        errno.ENOMEM: f"no memory: {worker.no_memory(job)}",
        errno.EDEADLK: f"it holds {oldest} back for ever: asked again and again, it gives nothing",
        errno.ETIMEDOUT: f"it never chooses {oldest}, while others arrive",
        errno.ENODATA: "the page cache holds everything that is read, so no more requests "
        "come: take fewer requests, or a smaller cache",
        errno.ELOOP: "the processes go round without ever thinking or waiting",
        errno.ETIME: "the clock would run over: 292 years",
        errno.ENOENT: "the workload has no files, or no table, to read",
        errno.ENOSPC: "the disk is smaller than one request",
        errno.ENODEV: "needs a disk's model: an array and a target have none; take a disk, or "
        "another scheduler",
        errno.EOPNOTSUPP: "it does not say what it would give next, so that nothing can be "
        "merged: take sfq, or a merge of 1",
        errno.EINVAL: "the scheduler or the workload refuses what it was given",
    }
    return RunFailed(f"{simulation.scheduler}: {reasons.get(code, f'error {code}')}")


def offered_load(simulation: Simulation, figures: Figures) -> float | None:
    """Utilisation that the arrivals ask for: above 1, no queue is long enough.

    The mean service is that of the requests so far, the rate what was asked for, or the
    table's own.  None if nothing is served yet, or the table is over in an instant.
    """
    device = simulation.device
    servers = device.servers if isinstance(device, Array) else 1
    gap_ns = _gap_ns(simulation, figures)
    if not figures.completed or not gap_ns:
        return None
    work_ns = figures.model.mean * figures.dispatched / figures.completed
    return work_ns / (servers * gap_ns)


def arrive(load: float) -> str:
    """An offered load in words."""
    return f"{load:,.2f} times as fast as the device can serve them"


def _gap_ns(simulation: Simulation, figures: Figures) -> float:
    """Mean time between two arrivals."""
    if simulation.rows:
        arrived = min(figures.completed + simulation.max_pending, simulation.requests)
        return (figures.last_arrival_ns - figures.first_arrival_ns) / arrived
    known = {field.name: field.initial for field in workloads()[simulation.workload].parameters}
    return (known | dict(simulation.parameters))["mean_gap_ns"] / simulation.processes


def _describe(workload: Any) -> WorkloadKind:
    return WorkloadKind(
        name=declared.text(workload.name),
        summary=declared.text(workload.summary),
        open=bool(workload.open),
        parameters=declared.fields(workload.parameters, workload.nr_parameters),
    )


def _find(name: str) -> Any:
    found = (lib.workload_get(i) for i in range(lib.workload_count()))
    return next(workload for workload in found if declared.text(workload.name) == name)


def _process_figures(process: Any, span_ns: int) -> ProcessFigures:
    response = _moments(ffi.addressof(process, "response"))
    count = int(process.response.count)
    return ProcessFigures(
        completed=count,
        response=response,
        response_percentiles=_percentiles(ffi.addressof(process, "responses")),
        longest_response_ns=int(process.responses.max),
        in_system=count * response.mean / span_ns if span_ns else 0.0,
    )


def _percentiles(responses: Any) -> dict[float, int]:
    return {
        percent: int(lib.histogram_permille(responses, round(10 * percent)))
        for percent in PERCENTILES
    }


def _moments(moments: Any) -> Moments:
    return Moments(lib.moments_mean(moments), lib.moments_variance(moments))
