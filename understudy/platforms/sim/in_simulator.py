# SPDX-License-Identifier: MIT
"""One experiment in the simulator: the "sim" platform of understudy.platforms.

The same file system as in the VM (its layout), the same draws, the same scheduler and
drive; what is left out is everything that a kernel and its processes take time for, but
for `--gap`.  The clock begins at 0 and no run depends on the host.
"""

import threading
import time
from collections.abc import Mapping, Sequence
from functools import cache
from math import sqrt
from typing import Any

import numpy as np
import polars as pl

from understudy.ask import page_cache, schedulers, tunables
from understudy.ask.experiment import KIB, Experiment, Outcome, option_of
from understudy.ask.workload import Kind
from understudy.base.errors import RunFailed, Unstable, UserError
from understudy.device.timing import Timing
from understudy.files import image
from understudy.measure import records
from understudy.measure.metrics import Summary, from_figures
from understudy.native import declared
from understudy.native.drive import Drive
from understudy.native.simulator import (
    MAX_PENDING,
    Answer,
    Array,
    Figures,
    Layout,
    PageCache,
    Rows,
    Simulation,
    arrive,
    offered_load,
    workloads,
)
from understudy.native.simulator import check as check_simulation
from understudy.native.simulator import run as simulate
from understudy.platforms import Report
from understudy.platforms.sim import rows as trace_rows

SECTOR_BYTES = 512
IMAGE_SEED = 1  # as in the VM
SECTORS_PER_BLOCK = image.BLOCK_BYTES // SECTOR_BYTES
SURGE = (Kind.SURGE_DIRECT, Kind.SURGE_BUFFERED)
VESPER_FILE_BYTES = 10 * 1000
LINUX_MAX_SECTORS = 2560
MAX_PENDING_EVER = 2**20  # as in sim/check.c


def check(experiments: Sequence[Experiment]) -> None:
    """Refuse what can't be simulated."""
    for experiment in experiments:
        _check(experiment)


def prepare(experiments: Sequence[Experiment], report: Report) -> None:
    """Place the files, and refuse what the engine would not take."""
    for experiment in experiments:
        _refuse(describe(experiment, report))


def _refuse(asked: Simulation) -> None:
    """What the engine would not take."""
    try:
        check_simulation(asked)
    except ValueError as error:
        raise UserError(f"{asked.workload} with {asked.scheduler}: {error}") from None


def dry_run(experiment: Experiment) -> list[str]:
    """What would be simulated, in words."""
    asked = describe(experiment)
    parts = {
        "workload": asked.workload,
        **asked.parameters,
        "scheduler": asked.scheduler,
        **asked.tunables,
        "sectors": asked.capacity_sectors,
        "processes": asked.processes,
        "requests": asked.requests,
        "seed": asked.seed,
        "depth": experiment.at_once,
    }
    return ["simulate", *(f"{name}={value}" for name, value in parts.items())]


def run(experiment: Experiment, report: Report, *, stop: threading.Event | None = None) -> Outcome:
    """Run one experiment and keep every request."""
    began = time.monotonic()
    answer, asked = _simulate(experiment, report, stop, keep_rows=True)
    facts = _facts(experiment, asked, answer.figures, time.monotonic() - began)
    if answer.printed:
        facts["printed"] = answer.printed
    return Outcome(experiment, _frame(answer), facts)


def summarise(
    experiment: Experiment, report: Report, *, stop: threading.Event | None = None
) -> Summary:
    """Run one experiment and keep its figures only: constant memory, any length."""
    began = time.monotonic()
    answer, asked = _simulate(experiment, report, stop, keep_rows=False)
    facts = _facts(experiment, asked, answer.figures, time.monotonic() - began)
    return from_figures(experiment, answer.figures, facts)


def describe(experiment: Experiment, report: Report = lambda phase, done: None) -> Simulation:
    """The experiment in the engine's terms."""
    rows, processes = _rows(experiment)
    sectors = experiment.virtual_bytes // SECTOR_BYTES
    scheduler = _simulated(experiment)
    return Simulation(
        workload=_engine(experiment),
        scheduler=scheduler,
        device=_device(experiment),
        capacity_sectors=sectors,
        requests=experiment.requests if rows is None else len(rows.sector),
        processes=processes,
        seed=experiment.seed,
        parameters=_parameters(experiment),
        tunables=_following(experiment, scheduler) | dict(experiment.tunables),
        layout=_layout(experiment, report),
        rows=rows,
        cache=_page_cache(experiment),
        depth=experiment.depth,
        merge_sectors=_merge_sectors(experiment),
        max_pending=_most_pending(experiment, rows, processes),
        weights=experiment.weights or None,
        gap_ns=round(experiment.gap_us * 1000),
        ask_ns=round(experiment.ask_us * 1000),
    )


def _simulated(experiment: Experiment) -> str:
    """Whom the simulator runs for the scheduler."""
    return schedulers.SIMULATED.get(experiment.scheduler, experiment.scheduler)


def _merge_sectors(experiment: Experiment) -> int:
    """As the kernel: with a scheduler, up to the default of its block layer."""
    if experiment.disk.array or experiment.scheduler == "none":
        return 0
    return LINUX_MAX_SECTORS


def _device(experiment: Experiment) -> Drive | Array:
    array = experiment.disk.array
    if array:
        return Array(array.servers, array.service_ns, array.distribution == "exponential")
    return Drive.from_timing(_timing(experiment), experiment.seed)


def _timing(experiment: Experiment) -> Timing:
    return experiment.disk.timing(experiment.virtual_bytes // SECTOR_BYTES)


def _following(experiment: Experiment, scheduler: str) -> dict[str, int]:
    return {} if experiment.disk.array else tunables.following(scheduler, _timing(experiment))


def _simulate(
    experiment: Experiment, report: Report, stop: threading.Event | None, *, keep_rows: bool
) -> tuple[Answer, Simulation]:
    """Run it, unless it is stopped, and say how far it is."""
    asked = describe(experiment, report)

    def look(done: int) -> None:
        report("simulating", done / asked.requests)
        if stop and stop.is_set():
            raise RunFailed(f"{asked.scheduler}: stopped")

    answer = simulate(asked, keep_rows=keep_rows, look=look)
    _check_stable(asked, answer.figures)
    return answer, asked


def _check(experiment: Experiment) -> None:
    fixed = {"clock": "virtual", "scale": 1.0, "controller": "vdisk"}
    for field, value in fixed.items():
        if getattr(experiment, field) != value:
            raise UserError(f"{option_of(field)}: only in the VM; add --on vm")
    if not schedulers.runs_on("sim", experiment.scheduler):
        raise UserError(
            f"--schedulers: {experiment.scheduler} is the kernel's own, only in the VM; add --on vm"
        )
    for name, value in experiment.tunables:
        tunables.check(_simulated(experiment), name, value)
    trace = experiment.trace
    if trace and trace.end_sector * SECTOR_BYTES > experiment.virtual_bytes:
        needed = -(-trace.end_sector * SECTOR_BYTES // 10**6)
        raise UserError(
            f"--virtual-size: the trace reaches past it; take {needed}M, or the size of its disk"
        )


def _check_stable(asked: Simulation, figures: Figures) -> None:
    """An endless workload that never settles has no mean response.

    Its mean service is known but for twice its standard error; a trace has an end.
    """
    load = _load(asked, figures)
    if load is None or asked.rows or figures.dispatched < 2:
        return
    error = sqrt(figures.model.variance / (figures.dispatched - 1)) / figures.model.mean
    if load * (1 - 2 * error) > 1:
        raise Unstable(
            f"{asked.scheduler}: unstable: requests arrive {arrive(load)}; take a lower --rate",
            load,
        )


def _load(asked: Simulation, figures: Figures) -> float | None:
    return offered_load(asked, figures) if workloads()[asked.workload].open else None


def _engine(experiment: Experiment) -> str:
    if experiment.workload.kind is Kind.TRACE and experiment.replay == "closed":
        return "rows-closed"
    return experiment.workload.engine


def _parameters(experiment: Experiment) -> dict[str, int]:
    kind = experiment.workload.kind
    values: dict[str, int] = {}
    if kind in SURGE:
        values["think_scale_milli"] = round(1000 * experiment.think_scale)
    if "think_ms" in experiment.workload.options:
        values["think_ns"] = round(1e6 * experiment.think_ms)
    if "writes_percent" in experiment.workload.options:
        values["writes_percent"] = experiment.writes_percent
    if experiment.rate:
        values["mean_gap_ns"] = round(1e9 * experiment.processes / experiment.rate)
    return values


def _rows(experiment: Experiment) -> tuple[Rows | None, int]:
    """The trace as a table, and how many processes play."""
    if not experiment.trace:
        return None, experiment.processes
    if experiment.replay == "closed":
        return trace_rows.closed_rows(experiment.trace), experiment.trace.owners
    if experiment.weights:  # which are of processes
        return trace_rows.open_rows_by_owner(experiment.trace), experiment.trace.owners
    return trace_rows.open_rows(experiment.trace), 1


def _layout(experiment: Experiment, report: Report) -> Layout | None:
    if experiment.workload.kind in SURGE:
        return surge_layout(experiment.virtual_bytes, report)
    if experiment.workload.kind is Kind.CONCURRENT_READ:
        return vesper_layout(experiment.virtual_bytes // SECTOR_BYTES, experiment.processes)
    return None


@cache
def _image_layout(virtual_bytes: int) -> image.Layout:
    return image.build(virtual_bytes, IMAGE_SEED, lambda phase, done: None).layout


def surge_layout(virtual_bytes: int, report: Report) -> Layout:
    """The file system of the VM, in sectors."""
    image.build(virtual_bytes, IMAGE_SEED, report)
    layout = _image_layout(virtual_bytes)
    return Layout(
        bytes=layout.size.astype(np.uint64),
        first=layout.first.astype(np.uint64),
        start=(layout.start * SECTORS_PER_BLOCK).astype(np.uint64),
        length=(layout.length * SECTORS_PER_BLOCK).astype(np.uint64),
    )


def vesper_layout(capacity_sectors: int, files: int) -> Layout:
    """Files of 10 KB, evenly over the disk: on 128 KB, ten of them take most of it."""
    length = -(-VESPER_FILE_BYTES // SECTOR_BYTES)
    stride = capacity_sectors // files
    if stride < length:
        raise UserError(f"--virtual-size: {files} files of 10 KB do not fit")
    return Layout(
        bytes=np.full(files, VESPER_FILE_BYTES, np.uint64),
        first=np.arange(files + 1, dtype=np.uint64),
        start=np.arange(files, dtype=np.uint64) * np.uint64(stride),
        length=np.full(files, length, np.uint64),
    )


def _page_cache(experiment: Experiment) -> PageCache | None:
    """Pages of 4 KiB; of one sector for the small disks of the Vesper assignments."""
    size = page_cache.size_bytes(experiment)
    if not size:
        return None
    sectors = 1 if experiment.workload.kind is Kind.CONCURRENT_READ else SECTORS_PER_BLOCK
    page_bytes = sectors * SECTOR_BYTES
    return PageCache(size, sectors, page_cache.read_ahead_kib(experiment) * KIB // page_bytes)


def _most_pending(experiment: Experiment, rows: Rows | None, processes: int) -> int:
    """Room for all that can wait or be served at once; a queue that grows for ever has an
    end at some length."""
    if not workloads()[_engine(experiment)].open:
        return _bounded(processes * _each(experiment))
    return MAX_PENDING + experiment.at_once if rows is None else _bounded(len(rows.sector))


def _bounded(pending: int) -> int:
    return min(max(1024, pending), MAX_PENDING_EVER)


def _each(experiment: Experiment) -> int:
    """A process waits for one answer, or for pages and what is read ahead of them."""
    cache = _page_cache(experiment)
    return 2 + 2 * cache.read_ahead_pages if cache else 2


def _frame(answer: Answer) -> pl.DataFrame:
    """The engine's columns as records, mostly without copying them."""
    rows = answer.rows
    never = pl.repeat(False, answer.figures.completed, dtype=pl.Boolean, eager=True)
    columns: Mapping[str, Any] = {
        **{name: rows[name] for name in rows if name in records.SCHEMA},
        "pick_ns": rows["dispatch_ns"],
        "due_ns": rows["completion_ns"],
        "op": records.named(rows["op"], records.OPS),
        "reason": records.named(rows["reason"], records.REASONS),
        "hit": rows["hit"].view(np.bool_),
        "late": never,
        "stale": never,
        "meta": never,
        "error": pl.repeat(0, answer.figures.completed, dtype=pl.Int64, eager=True),
    }
    return pl.DataFrame({name: columns[name] for name in records.SCHEMA}, schema=records.SCHEMA)


def _facts(
    experiment: Experiment, asked: Simulation, figures: Figures, seconds: float
) -> dict[str, Any]:
    scheduler = declared.scheduler(asked.scheduler)
    return {
        "capacity_sectors": asked.capacity_sectors,
        "scheduler_simulated": asked.scheduler,
        "tunables": {
            tunable.name: asked.tunables.get(tunable.name, tunable.initial)
            for tunable in scheduler.tunables
        },
        "scheduler_counters": figures.counters,
        "page_cache_bytes": page_cache.size_bytes(experiment),
        "page_hits": figures.page_hits,
        "page_misses": figures.page_misses,
        "depth": experiment.at_once,
        "offered_load": _load(asked, figures),
        "gap_us": experiment.gap_us,
        "ask_us": experiment.ask_us,
        "virtual_seconds": figures.last_completion_ns / 1e9,
        "boot_wall_seconds": 0.0,
        "measure_wall_seconds": seconds,
        "wall_seconds": seconds,
    }
