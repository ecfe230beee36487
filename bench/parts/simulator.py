# SPDX-License-Identifier: MIT
"""The simulator's cost: CPU seconds, instructions, memory, and a sweep with two jobs."""

import contextlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from bench import programs
from bench.part import Column, Row, Rows
from bench.runs import used
from understudy_devices.ask import schedulers as catalogue
from understudy_devices.base.errors import RunFailed
from understudy_devices.native.drive import Drive
from understudy_devices.native.simulation import Array, Simulation
from understudy_devices.native.simulation import Rows as Steps
from understudy_devices.native.simulator import run

TITLE = "What the simulator costs"
TEXT = """
The disk is the papers' with its cache. Processes without think time read 4 KiB at random, and
adjacent requests may merge, as in `predict` on a disk. The array has 32 servers, which are 90 %
busy; two classes with weights 3 and 1 send requests in an open loop. The array's interarrival and
service times come from a table, or are random (each takes an integer logarithm).

*Figures* are runs that keep only sums and a histogram. *Rows* are runs that also keep 13 columns
for each request; the kernel has to allocate the memory of these columns first. Instructions are
valgrind's count for a shorter run that keeps only figures. The other columns are millions of
requests per CPU second in the fastest of several runs, since other work on the machine can only
make a run slower.

{{ rates }}

Two optimisations made a difference: the logarithm has no unpredictable branch, and an unrolled loop
looks up the cache's 64 segments, with one comparison for nearly all of them.

The next table has the peak memory of a whole command with 50 processes and cats. `predict` keeps
and checks every request, computes figures and percentiles, draws the report and writes the Parquet
file. `sweep` keeps only figures.

{{ memory }}

The last table is for a sweep of all schedulers, two workloads and two seeds, with one and with two
jobs. Since the processors have other work too, do not compare wall times. Two jobs are efficient if
both always have work, and use no more CPU seconds than one job. *Ready* is the share of the jobs'
wall time in which a thread ran or waited for a processor. *Efficiency* is *ready* times the CPU
seconds with one job, divided by those of this row.

{{ sweeps }}
"""
TABLES = {
    "rates": (
        Column("run", "{name}"),
        Column("instructions a request", "{instructions:,.0f}"),
        Column("figures: user", "{figures_user:.2f}"),
        Column("user + system", "{figures:.2f}"),
        Column("rows: user", "{rows_user:.2f}"),
        Column("user + system", "{rows:.2f}"),
    ),
    "memory": (
        Column("command", "{command}"),
        Column("requests", "{requests:,}"),
        Column("peak (MB)", "{peak_mb:,.0f}"),
    ),
    "sweeps": (
        Column("jobs", "{jobs}"),
        Column("CPU s", "{cpu_seconds:.1f}"),
        Column("ready (%)", "{ready_percent:.0f}"),
        Column("efficiency (%)", "{efficiency_percent:.0f}"),
        Column("wall s", "{wall_seconds:.1f}"),
    ),
}
SIZES = {
    "full": {
        "schedulers": ["all"],
        "requests": 1_000_000,
        "repeats": 5,
        "kept": 10_000_000,
        "swept": 2_000_000,
    },
    "quick": {
        "schedulers": ["all"],
        "requests": 500_000,
        "repeats": 3,
        "kept": 1_000_000,
        "swept": 500_000,
    },
    "tiny": {
        "schedulers": ["cats"],
        "requests": 2_000,
        "repeats": 1,
        "kept": 2_000,
        "swept": 500,
    },
}
IN_VM = False

MS = 1_000_000
CAPACITY = 2**21
QUEUE = 50
SERVERS = 32
LOAD = 0.9
CLASSES = 2
WEIGHTS = (3, 1)
NO_READ_DELAY = {"read_delay_ns": 3_600_000_000_000}  # so that the scheduler always uses its table
COUNTED_OF = 20  # under valgrind, this many times fewer requests are run
LOOK_SECONDS = 0.005


def measure(schedulers: list[str], requests: int, repeats: int, kept: int, swept: int) -> Rows:
    """Measure the rates, the memory and a sweep.  A run has `requests` requests for the rates, up
    to `kept` for the memory, and `swept` in the sweep.
    """
    yield from (("rates", row) for row in rates(schedulers, requests, repeats))
    yield from (("memory", row) for row in memory(kept))
    yield from (("sweeps", row) for row in sweeps(swept))


def rates(schedulers: list[str], requests: int, repeats: int) -> Iterator[Row]:
    """Yield a row for each scheduler on the disk, then rows for the arrays."""
    program = programs.build("simulator")
    counted = max(1, requests // COUNTED_OF)
    names = catalogue.parse(",".join(schedulers))
    cases = [("fcfs", 1), *((name, QUEUE) for name in names)]
    for scheduler, processes in cases:
        instructions = programs.instructions(program, "run", scheduler, processes, counted)
        name = f"disk, {processes} processes, {scheduler}" if processes > 1 else "disk, fcfs"
        yield _rate_row(name, disk(scheduler, processes, requests), repeats, instructions / counted)
    by_table = replace(disk("cats", QUEUE, requests), tunables=NO_READ_DELAY)
    yield _rate_row(f"disk, {QUEUE} processes, cats, no READDELAY", by_table, repeats)
    yield _rate_row("array, sfq, times given", given_array(requests), repeats)
    yield _rate_row("array, sfq, times drawn", drawn_array(requests), repeats)


def _rate_row(
    name: str, simulation: Simulation, repeats: int, instructions: float | None = None
) -> Row:
    figures = rate(simulation, repeats, keep_rows=False)
    rows = rate(simulation, repeats, keep_rows=True)
    return {
        "name": name,
        "instructions": instructions,
        "figures_user": figures.user,
        "figures": figures.with_system,
        "rows_user": rows.user,
        "rows": rows.with_system,
    }


@dataclass(frozen=True)
class Rate:
    """A speed, in millions of requests per second of CPU time."""

    user: float
    with_system: float


def rate(simulation: Simulation, repeats: int, *, keep_rows: bool) -> Rate:
    """Return the best rate of `repeats` runs."""
    runs = [_once(simulation, keep_rows) for _ in range(repeats)]
    return max(runs, key=lambda one: one.with_system)


def _once(simulation: Simulation, keep_rows: bool) -> Rate:
    user, system = used()
    run(simulation, keep_rows=keep_rows)
    after_user, after_system = used()
    spent = max(1e-6, after_user - user)
    whole = spent + after_system - system
    return Rate(simulation.requests / spent / 1e6, simulation.requests / whole / 1e6)


def disk(scheduler: str, processes: int, requests: int) -> Simulation:
    """Return a simulation of the papers' disk and processes without think time that read 4 KiB at
    random.
    """
    cache = (64, 221, 64)
    return Simulation(
        workload="random",
        scheduler=scheduler,
        device=Drive.linear(CAPACITY, 4_250_000, 5_250_000, cache=cache, hit_ns=250_000),
        capacity_sectors=CAPACITY,
        requests=requests,
        processes=processes,
        merge_sectors=2560,
    )


def drawn_array(requests: int) -> Simulation:
    """Return an open simulation of an array: weighted classes, all times exponential."""
    mean_ns = 10 * MS
    return Simulation(
        workload="poisson",
        scheduler="sfq",
        device=Array(SERVERS, mean_ns, exponential=True),
        capacity_sectors=CAPACITY,
        requests=requests,
        processes=CLASSES,
        parameters={"mean_gap_ns": round(CLASSES * mean_ns / SERVERS / LOAD)},
        weights=WEIGHTS,
    )


def given_array(requests: int) -> Simulation:
    """Return a simulation like drawn_array, but with all times from a table."""
    draw = np.random.default_rng(1)
    each = requests // CLASSES
    gap_ns = CLASSES * 10 * MS / SERVERS / LOAD
    table = Steps(
        first=np.arange(CLASSES + 1) * each,
        think_ns=draw.exponential(gap_ns, requests).astype(np.uint64),
        sector=draw.integers(0, CAPACITY - 8, requests, np.uint64),
        sectors=np.full(requests, 8, np.uint32),
        op=np.zeros(requests, np.uint8),
        owner=np.repeat(np.arange(CLASSES, dtype=np.uint32), each),
        cost_ns=draw.exponential(10 * MS, requests).astype(np.uint64),
    )
    return Simulation(
        workload="rows-open",
        scheduler="sfq",
        device=Array(SERVERS),
        capacity_sectors=CAPACITY,
        requests=requests,
        processes=CLASSES,
        rows=table,
        weights=WEIGHTS,
    )


@dataclass(frozen=True)
class Cost:
    """The cost of a whole command.  `ready_seconds` is the time for which the command's threads ran
    or waited for a processor.
    """

    peak_mb: float
    cpu_seconds: float
    ready_seconds: float
    wall_seconds: float


def cost(*arguments: object) -> Cost:
    """Run `understudy` with these arguments, in an empty folder."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "understudy_devices", *map(str, arguments), "--out", "out"]
        began = time.perf_counter()
        process = subprocess.Popen(
            command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        ready_ns: dict[str, int] = {}
        while not (ended := os.wait4(process.pid, os.WNOHANG))[0]:
            ready_ns |= _ready_ns(process.pid)
            time.sleep(LOOK_SECONDS)
        wall = time.perf_counter() - began
    _, status, usage = ended
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RunFailed(f"{' '.join(command)} failed")
    return Cost(
        peak_mb=usage.ru_maxrss * 1024 / 1e6,
        cpu_seconds=usage.ru_utime + usage.ru_stime,
        ready_seconds=sum(ready_ns.values()) / 1e9,
        wall_seconds=wall,
    )


def _ready_ns(process: int) -> dict[str, int]:
    """Return the ready time so far of each running thread of the process and its descendants, by
    thread.
    """
    ready_ns = {}
    for thread in Path(f"/proc/{process}/task").glob("*"):
        with contextlib.suppress(OSError):  # the thread may end at this time
            ran, waited, _ = map(int, (thread / "schedstat").read_text().split())
            ready_ns[thread.name] = ran + waited
            for child in (thread / "children").read_text().split():
                ready_ns |= _ready_ns(int(child))
    return ready_ns


def memory(requests: int) -> Iterator[Row]:
    """Measure the peak memory of `predict`, which keeps a record of each request, and of `sweep`,
    which keeps only figures.
    """
    queue = ("--schedulers", "cats", "--processes", QUEUE, "--requests")
    for command, count in (
        (("predict", "--workload", "random"), requests),
        (("sweep", "--workloads", "random"), requests // 10),
        (("sweep", "--workloads", "random"), requests),
    ):
        peak_mb = cost(*command, *queue, count).peak_mb
        yield {"command": command[0], "requests": count, "peak_mb": peak_mb}


def sweeps(requests: int) -> Iterator[Row]:
    """Measure one sweep twice: with one job, and with two jobs."""
    command = ("sweep", "--schedulers", "all", "--requests", requests, "--seeds", 2, "--jobs")
    alone = cost(*command, 1)
    for jobs, costs in ((1, alone), (2, cost(*command, 2))):
        ready = costs.ready_seconds / costs.wall_seconds / jobs
        yield {
            "jobs": jobs,
            "cpu_seconds": costs.cpu_seconds,
            "ready_percent": 100 * ready,
            "efficiency_percent": 100 * ready * alone.cpu_seconds / costs.cpu_seconds,
            "wall_seconds": costs.wall_seconds,
        }
