# SPDX-License-Identifier: MIT
"""Options that every command with runs has, and what they mean together."""

import functools
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from understudy.ask import tunables
from understudy.ask.experiment import SIZES, Clock, Experiment, option_of
from understudy.ask.workload import Workload
from understudy.base import catalog, sizes
from understudy.base.errors import UserError
from understudy.device.profile import DiskProfile
from understudy.platforms import PLATFORMS
from understudy.platforms.vm.controllers import CONTROLLERS, controller
from understudy.traces import trace

PAPERS_SCALE = 8.0  # k of Tables 2 and 3

OPTIONS = (
    click.option(
        "--on",
        default="sim",
        help="Platform: sim, the simulator (at once), vm, a stock kernel in a VM, or sim,vm.",
    ),
    click.option("--requests", type=int, default=5000, help="Requests to measure (papers: 50000)."),
    click.option("--seed", type=int, default=1, help="First seed."),
    click.option(
        "--seeds",
        type=click.IntRange(1, 1000),
        default=1,
        help="How many seeds, one after another.",
    ),
    click.option(
        "--virtual-size", default="1.5G", help="Size of the virtual disk (papers: 73.4G)."
    ),
    click.option(
        "--clock",
        type=click.Choice(["virtual", "wall"]),
        default="virtual",
        help="virtual: exact and repeatable; wall: the papers' way.",
    ),
    click.option(
        "--scale", type=float, help="k, how much slower the disk runs [default: 1, wall clock 8]."
    ),
    click.option(
        "--think-scale", type=float, help="For think times [default: as --scale; papers: 1]."
    ),
    click.option("--controller", default="vdisk", help=f"One of {', '.join(CONTROLLERS)}."),
    click.option(
        "--set",
        "tunables",
        multiple=True,
        metavar="SCHEDULER.TUNABLE=VALUE",
        help="Another value for a scheduler's tunable, such as cats.busdriver_ns=5000000.",
    ),
    click.option(
        "--depth",
        type=int,
        help="Requests on the device at once (sim) [default: 1; of an array, its servers].",
    ),
    click.option(
        "--weights",
        metavar="3,1,1",
        help="Shares of the processes, or of a trace's owners as they appear, for sfq (sim).",
    ),
    click.option(
        "--gap",
        "gap_us",
        type=float,
        default=0.0,
        help="Microseconds between a completion and the next dispatch (sim).",
    ),
    click.option(
        "--ask",
        "ask_us",
        type=float,
        default=0.0,
        help="Microseconds that a process needs between an answer and its next request (sim).",
    ),
    click.option("--out", type=click.Path(path_type=Path), help="New folder for the results."),
    click.option("--json", "as_json", is_flag=True, help="Print result.json instead of the table."),
    click.option(
        "--dry-run",
        is_flag=True,
        help="Print what would be run and stop.",
    ),
    click.option(
        "--jobs",
        type=click.IntRange(1, 1000),
        help="Runs at a time [default: one a processor; wall clock 1, as they disturb each other].",
    ),
)


@dataclass(frozen=True)
class Settings:
    """The options, as given."""

    on: str
    requests: int
    seed: int
    seeds: int
    virtual_size: str
    clock: Clock
    scale: float | None
    think_scale: float | None
    controller: str
    tunables: tuple[str, ...]
    depth: int | None
    weights: str | None
    gap_us: float
    ask_us: float
    out: Path | None
    as_json: bool
    dry_run: bool
    jobs: int | None

    def experiments(
        self,
        disk: DiskProfile,
        workload: Workload,
        schedulers: Sequence[str],
        processes: int | None = None,
        **of_workload: Any,
    ) -> list[Experiment]:
        """One for each scheduler and seed, every value checked."""
        controller(self.controller)
        for platform in self.platforms:
            if platform not in workload.platforms:
                raise UserError(f"--workload: {workload.name} runs only on {workload.platforms[0]}")
        wall = self.clock == "wall"
        chosen = tunables.parse(self.tunables, schedulers)
        scale = (PAPERS_SCALE if wall else 1.0) if self.scale is None else self.scale
        return [
            Experiment(
                disk=disk,
                workload=workload,
                scheduler=scheduler,
                seed=seed,
                requests=self.requests,
                virtual_bytes=size("virtual_bytes", self.virtual_size),
                processes=workload.default_processes if processes is None else processes,
                clock=self.clock,
                scale=scale,
                think_scale=scale if self.think_scale is None else self.think_scale,
                controller=self.controller,
                tunables=chosen.get(scheduler, ()),
                depth=self.depth,
                weights=_weights(self.weights),
                gap_us=self.gap_us,
                ask_us=self.ask_us,
                **of_workload,
            )
            for scheduler in schedulers
            for seed in range(self.seed, self.seed + self.seeds)
        ]

    @property
    def platforms(self) -> list[str]:
        """The platforms of --on, in that order."""
        names = [name.strip() for name in self.on.split(",")]
        for name in names:
            catalog.pick("platform", name, PLATFORMS)
        if len(set(names)) < len(names):
            raise UserError(f"--on: {self.on} names a platform twice")
        return names

    @property
    def jobs_at_once(self) -> int:
        """--jobs or its default."""
        return self.jobs or (1 if self.clock == "wall" else os.cpu_count() or 1)


def size(field: str, text: str) -> int:
    """A size in bytes as it was typed, for a field of the experiment."""
    return sizes.parse(option_of(field), text, *SIZES[field])


def _weights(text: str | None) -> tuple[int, ...]:
    try:
        return tuple(int(word) for word in text.split(",")) if text else ()
    except ValueError:
        raise UserError(f"--weights: {text} is not like 3,1,1") from None


WORKLOAD_OPTIONS = (
    click.option("--processes", type=int, help="How many [default: the workload's own]."),
    click.option("--writes", "writes_percent", type=int, default=0, help="Percent of writes."),
    click.option(
        "--think",
        "think_ms",
        type=float,
        default=0.0,
        help="Milliseconds between an answer and the next request.",
    ),
    click.option("--rate", type=float, help="Arrivals per second, of all processes (poisson)."),
    click.option("--page-cache", help="Size of the page cache [default: the workload's own]."),
    click.option(
        "--read-ahead", "read_ahead_kib", type=int, help="Longest read-ahead in KiB; 0: none."
    ),
    click.option(
        "--trace", metavar="FILE[:SCHEDULER[:SEED]]", help="What to replay: Parquet or CSV."
    ),
    click.option(
        "--replay",
        type=click.Choice(["open", "closed"]),
        default="open",
        help="Replay as recorded, or with the think times inferred from it.",
    ),
)


def with_workload(function: Callable[..., None]) -> Callable[..., None]:
    """Give a command what describes a workload, as one argument `of_workload`."""
    names = ("processes", "writes_percent", "think_ms", "rate", "read_ahead_kib", "replay")

    @functools.wraps(function)
    def gathered(*args: Any, **given: Any) -> None:
        values = {name: given.pop(name) for name in names}
        pages, recorded = given.pop("page_cache"), given.pop("trace")
        values["page_cache_bytes"] = size("page_cache_bytes", pages) if pages else None
        values["trace"] = trace.load(recorded) if recorded else None
        function(*args, of_workload=values, **given)

    return functools.reduce(
        lambda wrapped, option: option(wrapped), reversed(WORKLOAD_OPTIONS), gathered
    )


def with_settings(function: Callable[..., None]) -> Callable[..., None]:
    """Give a command all of OPTIONS, as one argument `settings`."""
    names = set(Settings.__dataclass_fields__)

    @functools.wraps(function)
    def gathered(*args: Any, **given: Any) -> None:
        shared = {name: given.pop(name) for name in names}
        function(*args, settings=Settings(**shared), **given)

    return functools.reduce(lambda wrapped, option: option(wrapped), reversed(OPTIONS), gathered)
