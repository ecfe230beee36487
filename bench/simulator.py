# SPDX-License-Identifier: MIT
"""What the simulator costs: CPU seconds, instructions, memory, and a sweep with two jobs.

A CPU second is one of the process itself; the best of some runs counts, because what else
runs on the machine can only make them slower.

    python -m bench.simulator
"""

import contextlib
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import click
import numpy as np

from bench import programs
from understudy.native import declared
from understudy.native.drive import Drive
from understudy.native.simulator import Array, Rows, Simulation, run

MS = 1_000_000
CAPACITY = 2**21
QUEUE = 50
SERVERS = 32
LOAD = 0.9
CLASSES = 2
WEIGHTS = (3, 1)
NO_READ_DELAY = {"read_delay_ns": 3_600_000_000_000}  # so that it always uses its table
REPEATS = 5
LOOK_SECONDS = 0.005


@dataclass(frozen=True)
class Rate:
    """Millions of requests in a second of CPU time."""

    user: float
    with_system: float


def rate(asked: Simulation, *, keep_rows: bool) -> Rate:
    """The best of some runs."""
    found = [_once(asked, keep_rows) for _ in range(REPEATS)]
    return max(found, key=lambda one: one.with_system)


def _once(asked: Simulation, keep_rows: bool) -> Rate:
    before = _spent()
    run(asked, keep_rows=keep_rows)
    after = _spent()
    user, system = (now - then for now, then in zip(after, before, strict=True))
    return Rate(asked.requests / user / 1e6, asked.requests / (user + system) / 1e6)


def _spent() -> tuple[float, float]:
    """Seconds of user and of system time, of this process and of those that ran for it."""
    both = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime for one in both), sum(one.ru_stime for one in both)


def disk(scheduler: str, processes: int, requests: int) -> Simulation:
    """The papers' disk; processes that read 4 KiB at random and don't think."""
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
    """Two classes with shares, open, all times exponential draws."""
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
    """The same with all times from a table."""
    draw = np.random.default_rng(1)
    each = requests // CLASSES
    gap_ns = CLASSES * 10 * MS / SERVERS / LOAD
    table = Rows(
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


def speed(requests: int) -> Iterator[tuple[str, ...]]:
    """Rows of the table of CPU seconds and instructions."""
    program = programs.build("simulator", flags=("-flto",))  # as meson.build has it
    cases = [("fcfs", 1), *((name, QUEUE) for name in declared.schedulers())]
    for scheduler, processes in cases:
        few = requests // 20
        counted = programs.instructions(program, "main", scheduler, processes, few)
        name = f"disk, {processes} processes, {scheduler}" if processes > 1 else "disk, fcfs"
        yield _speed_row(name, disk(scheduler, processes, requests), f"{counted / few:,.0f}")
    by_table = replace(disk("cats", QUEUE, requests), tunables=NO_READ_DELAY)
    yield _speed_row(f"disk, {QUEUE} processes, cats, no READDELAY", by_table, "")
    yield _speed_row("array, sfq, times given", given_array(requests), "")
    yield _speed_row("array, sfq, times drawn", drawn_array(requests), "")


def _speed_row(name: str, asked: Simulation, instructions: str) -> tuple[str, ...]:
    figures = rate(asked, keep_rows=False)
    rows = rate(asked, keep_rows=True)
    return (
        name,
        instructions,
        f"{figures.user:.2f}",
        f"{figures.with_system:.2f}",
        f"{rows.user:.2f}",
        f"{rows.with_system:.2f}",
    )


@dataclass(frozen=True)
class Cost:
    """Of a whole command.  `ready_seconds`: its threads ran, or waited for a processor."""

    peak_mb: float
    cpu_seconds: float
    ready_seconds: float
    wall_seconds: float


def cost(*arguments: object) -> Cost:
    """Run `understudy` with these arguments, in an empty folder."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "understudy", *map(str, arguments), "--out", "out"]
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
        raise click.ClickException(f"{' '.join(command)} failed")
    return Cost(
        peak_mb=usage.ru_maxrss * 1024 / 1e6,
        cpu_seconds=usage.ru_utime + usage.ru_stime,
        ready_seconds=sum(ready_ns.values()) / 1e9,
        wall_seconds=wall,
    )


def _ready_ns(process: int) -> dict[str, int]:
    """So far, of each thread that there is now."""
    found = {}
    for thread in Path(f"/proc/{process}/task").glob("*"):
        with contextlib.suppress(OSError):  # it is just ending
            ran, waited, _ = map(int, (thread / "schedstat").read_text().split())
            found[thread.name] = ran + waited
    return found


def memory(requests: int) -> Iterator[tuple[str, ...]]:
    """Records as `predict` uses them; figures only, as a sweep keeps them."""
    queue = ("--schedulers", "cats", "--processes", QUEUE, "--requests")
    for command, count in (
        (("predict", "--workload", "random"), requests),
        (("sweep", "--workloads", "random"), requests // 10),
        (("sweep", "--workloads", "random"), requests),
    ):
        peak_mb = cost(*command, *queue, count).peak_mb
        yield command[0], f"{count:,}", f"{peak_mb:,.0f}"


def sweeps() -> Iterator[tuple[str, ...]]:
    """Others use the processors too, so what counts is not how long two jobs take, but that
    both have something to do all the time, and no more to do than one job had."""
    command = ("sweep", "--schedulers", "all", "--requests", 2_000_000, "--seeds", 2, "--jobs")
    alone = cost(*command, 1)
    for jobs, found in ((1, alone), (2, cost(*command, 2))):
        ready = found.ready_seconds / found.wall_seconds / jobs
        yield (
            str(jobs),
            f"{found.wall_seconds:.1f}",
            f"{found.cpu_seconds:.1f}",
            f"{100 * ready:.0f}",
            f"{100 * ready * alone.cpu_seconds / found.cpu_seconds:.0f}",
        )


def show(title: str, columns: str, rows: Iterator[tuple[str, ...]]) -> None:
    """A table, a line as soon as it is measured."""
    click.echo(f"\n{title}:\n\n| {columns} |")
    click.echo(f"|{' --- |' * len(columns.split('|'))}")
    for row in rows:
        click.echo(f"| {' | '.join(row)} |")


@click.command()
@click.option("--requests", default=1_000_000, help="In each run of the table of speeds.")
def main(requests: int) -> None:
    """Print the tables."""
    show(
        "Millions of requests a CPU second",
        "run | instructions a request | figures: user | user + system | rows: user | user + system",
        speed(requests),
    )
    show("Memory", "command | requests | peak (MB)", memory(10 * requests))
    show("A sweep", "jobs | wall s | CPU s | ready (%) | efficiency (%)", sweeps())


if __name__ == "__main__":
    main()
