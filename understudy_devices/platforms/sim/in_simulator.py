# SPDX-License-Identifier: MIT
"""One experiment in the simulator: the "sim" platform of understudy_devices.platforms.

The layout of files, the random numbers, the schedulers and the drive are the same as in the VM. The
kernel and the processes take no time, except for `--gap-us` and `--ask-us`. The clock begins at 0,
and no run depends on the host.
"""

import threading
import time
from collections.abc import Mapping, Sequence
from math import sqrt
from typing import Any

import numpy as np
import polars as pl

from understudy_devices.ask import schedulers, tunables
from understudy_devices.ask.experiment import Experiment, Outcome
from understudy_devices.ask.policies import KINDS, PREFETCH
from understudy_devices.ask.policies import Policy as Asked
from understudy_devices.ask.setting import OnSim
from understudy_devices.ask.workloads.workload import KIB, SECTOR_BYTES, HostCache, Simulated
from understudy_devices.base.errors import RunFailed, Unstable, UserError
from understudy_devices.base.progress import Report, silent
from understudy_devices.device.timing import Timing
from understudy_devices.measure import records
from understudy_devices.measure.metrics import Summary, from_figures
from understudy_devices.native import descriptions
from understudy_devices.native.drive import Drive
from understudy_devices.native.failures import arrive, offered_load
from understudy_devices.native.figures import Figures
from understudy_devices.native.simulation import (
    MAX_PENDING,
    Array,
    PageCache,
    Policy,
    Simulation,
    workloads,
)
from understudy_devices.native.simulator import Answer
from understudy_devices.native.simulator import check as check_simulation
from understudy_devices.native.simulator import run as simulate

LINUX_MAX_SECTORS = 2560
MAX_PENDING_EVER = 2**20  # as in sim/check.c


def check(experiments: Sequence[Experiment]) -> None:
    """Refuse experiments that can't be simulated."""
    for experiment in experiments:
        _check(experiment)


def prepare(experiments: Sequence[Experiment], report: Report) -> None:
    """Choose the files' addresses, and refuse experiments that the engine would refuse with any
    seed.
    """
    alike = {str(experiment.columns() | {"seed": None}): experiment for experiment in experiments}
    for done, experiment in enumerate(alike.values(), start=1):
        _refuse(describe(experiment, report))
        if len(alike) > 1:
            report("checking", done / len(alike))


def _refuse(simulation: Simulation) -> None:
    """Raise UserError for input that the engine refuses."""
    try:
        check_simulation(simulation)
    except ValueError as error:
        raise UserError(f"{simulation.workload} with {simulation.scheduler}: {error}") from None


def dry_run(experiment: Experiment) -> list[str]:
    """Return a description of the simulation."""
    simulation = describe(experiment)
    parts = {
        "workload": simulation.workload,
        **simulation.parameters,
        "scheduler": simulation.scheduler,
        **simulation.tunables,
        "sectors": simulation.capacity_sectors,
        "processes": simulation.processes,
        "requests": simulation.requests,
        "seed": simulation.seed,
        "depth": experiment.device.at_once,
        **{name: str(policy) for name, policy in experiment.policies().items()},
        **{
            f"{policy.name}.{name}": value
            for policy in experiment.policies().values()
            for name, value in policy.tunables
        },
    }
    return ["simulate", *(f"{name}={value}" for name, value in parts.items())]


def run(experiment: Experiment, report: Report, *, stop: threading.Event | None = None) -> Outcome:
    """Run one experiment and record every request."""
    began = time.monotonic()
    answer, simulation = _simulate(experiment, report, stop, keep_rows=True)
    facts = _facts(experiment, simulation, answer.figures, time.monotonic() - began)
    if answer.printed:
        facts["printed"] = answer.printed
    return Outcome(experiment, _frame(answer), facts)


def summarise(
    experiment: Experiment, report: Report, *, stop: threading.Event | None = None
) -> Summary:
    """Run one experiment and record only its figures: constant memory at any length."""
    began = time.monotonic()
    answer, simulation = _simulate(experiment, report, stop, keep_rows=False)
    facts = _facts(experiment, simulation, answer.figures, time.monotonic() - began)
    return from_figures(experiment, answer.figures, facts)


def describe(experiment: Experiment, report: Report = silent) -> Simulation:
    """Return the experiment in the engine's terms."""
    workload, device, setting = experiment.workload, experiment.device, experiment.platform
    assert isinstance(setting, OnSim)
    version = workload.simulated(experiment.around, report)
    cache = workload.cache(device.virtual_bytes)
    scheduler = _simulated(experiment)
    return Simulation(
        workload=version.engine,
        scheduler=scheduler,
        device=_device(experiment),
        capacity_sectors=device.virtual_bytes // SECTOR_BYTES,
        requests=workload.measured(experiment.requests),
        processes=version.processes,
        seed=experiment.seed,
        parameters=version.parameters,
        tunables=_following(experiment, scheduler) | dict(experiment.scheduler.tunables),
        layout=version.layout,
        rows=version.rows,
        cache=_page_cache(cache, experiment.policies()),
        depth=device.queue_depth,
        merge_sectors=_merge_sectors(experiment),
        max_pending=_most_pending(version, cache, experiment),
        weights=workload.weights or None,
        gap_ns=round(setting.gap_us * 1000),
        ask_ns=round(setting.ask_us * 1000),
    )


def _simulated(experiment: Experiment) -> str:
    """Return the name of the scheduler that the simulator runs for the experiment's scheduler."""
    name = experiment.scheduler.name
    return schedulers.SIMULATED.get(name, name)


def _merge_sectors(experiment: Experiment) -> int:
    """Return the length of the longest merged request, in sectors: the block layer's default; 0 for
    `none` and on an array, where nothing is merged.
    """
    if experiment.device.disk.array or experiment.scheduler.name == "none":
        return 0
    return LINUX_MAX_SECTORS


def _device(experiment: Experiment) -> Drive | Array:
    array = experiment.device.disk.array
    if array:
        return Array(array.servers, array.service_ns, array.distribution == "exponential")
    return Drive(_timing(experiment), experiment.seed)


def _timing(experiment: Experiment) -> Timing:
    return experiment.device.timing(experiment.device.virtual_bytes // SECTOR_BYTES)


def _following(experiment: Experiment, scheduler: str) -> dict[str, int]:
    return (
        {} if experiment.device.disk.array else tunables.following(scheduler, _timing(experiment))
    )


def _simulate(
    experiment: Experiment, report: Report, stop: threading.Event | None, *, keep_rows: bool
) -> tuple[Answer, Simulation]:
    """Run the simulation until its end or `stop`, and report its progress."""
    simulation = describe(experiment, report)

    def look(done: int) -> None:
        report("simulating", done / simulation.requests)
        if stop and stop.is_set():
            raise RunFailed(f"{simulation.scheduler}: stopped")

    answer = simulate(simulation, keep_rows=keep_rows, look=look)
    _check_stable(simulation, answer.figures)
    return answer, simulation


def _check(experiment: Experiment) -> None:
    chosen = experiment.scheduler
    if not schedulers.runs_on("sim", chosen.name):
        raise UserError(
            f"--schedulers: {chosen.name} is the kernel's own, only in the VM; add --on vm"
        )
    schedulers.check_model(chosen.name, experiment.device.disk)
    for name, value in chosen.tunables:
        tunables.check(_simulated(experiment), name, value)
    experiment.workload.check_fits(experiment.device.virtual_bytes)


def _check_stable(simulation: Simulation, figures: Figures) -> None:
    """Check that the workload is stable: an endless unstable workload has no mean response time.

    The margin is twice the standard error of the mean service time.  A trace has an end, so it is
    exempt.
    """
    load = _load(simulation, figures)
    if load is None or simulation.rows or figures.dispatched < 2:
        return
    error = sqrt(figures.model.variance / (figures.dispatched - 1)) / figures.model.mean
    if load * (1 - 2 * error) > 1:
        raise Unstable(
            f"{simulation.scheduler}: unstable: requests arrive {arrive(load)}; "
            "take a lower --rate",
            load,
        )


def _load(simulation: Simulation, figures: Figures) -> float | None:
    return offered_load(simulation, figures) if workloads()[simulation.workload].open else None


def _page_cache(cache: HostCache | None, policies: Mapping[str, Asked]) -> PageCache | None:
    if cache is None:
        return None
    ahead = cache.read_ahead_kib * KIB // cache.page_bytes
    chosen = {name: Policy(one.file, dict(one.tunables)) for name, one in policies.items()}
    return PageCache(cache.bytes, cache.page_bytes // SECTOR_BYTES, ahead, **chosen)


def _most_pending(version: Simulated, cache: HostCache | None, experiment: Experiment) -> int:
    """Return the number of requests that can be pending or in service at the same time.

    A queue that grows without bound must be stopped at some length.
    """
    if not workloads()[version.engine].open:
        return _bounded(version.processes * _each(cache) + _more(cache, experiment))
    if version.rows is None:
        return MAX_PENDING + experiment.device.at_once
    return _bounded(len(version.rows.sector))


def _bounded(pending: int) -> int:
    return min(max(1024, pending), MAX_PENDING_EVER)


def _each(cache: HostCache | None) -> int:
    """Return an upper bound of one process's pending requests: two, plus the pages of two windows
    of read-ahead if there is a page cache.
    """
    return 2 + 2 * cache.read_ahead_kib * KIB // cache.page_bytes if cache else 2


def _more(cache: HostCache | None, experiment: Experiment) -> int:
    """Return how many more requests can be pending if the prefetcher is not the default one: each
    page of the cache may be on its way.
    """
    prefetch = experiment.policies().get("prefetch")
    if cache is None or prefetch is None or prefetch.name == PREFETCH.default:
        return 0
    return cache.bytes // cache.page_bytes


def _frame(answer: Answer) -> pl.DataFrame:
    """Return the engine's columns as records, mostly without copying them."""
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
    experiment: Experiment, simulation: Simulation, figures: Figures, seconds: float
) -> dict[str, Any]:
    scheduler = descriptions.scheduler(simulation.scheduler)
    return {
        "capacity_sectors": simulation.capacity_sectors,
        "scheduler_simulated": simulation.scheduler,
        "tunables": {
            tunable.name: simulation.tunables.get(tunable.name, tunable.initial)
            for tunable in scheduler.tunables
        },
        "scheduler_counters": figures.counters,
        **_policies(simulation, figures),
        "page_cache_bytes": simulation.cache.bytes if simulation.cache else 0,
        "page_hits": figures.page_hits,
        "page_misses": figures.page_misses,
        "demand": figures.demand,
        "depth": experiment.device.at_once,
        "offered_load": _load(simulation, figures),
        "gap_us": simulation.gap_ns / 1000,
        "ask_us": simulation.ask_ns / 1000,
        "virtual_seconds": figures.last_completion_ns / 1e9,
        "boot_wall_seconds": 0.0,
        "measure_wall_seconds": seconds,
        "wall_seconds": seconds,
    }


def _policies(simulation: Simulation, figures: Figures) -> dict[str, Any]:
    """Return the policies of the page cache, if there is one."""
    policies = simulation.cache.policies if simulation.cache else {}
    return {
        kind: {
            "name": policy.described.name,
            "tunables": {
                each.name: policy.tunables.get(each.name, each.initial)
                for each in policy.described.tunables
            },
            "counters": figures.policies[name],
        }
        for kind, (name, policy) in zip(KINDS, policies.items(), strict=False)
    }
