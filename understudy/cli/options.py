# SPDX-License-Identifier: MIT
"""Options that every command with runs has, and what they mean together."""

import functools
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from understudy import sizes, tunables
from understudy.experiment import Clock, Experiment
from understudy.platforms import PLATFORMS
from understudy.profile import DiskProfile
from understudy.vm.controllers import CONTROLLERS, controller
from understudy.workload import Workload

PAPERS_SCALE = 8.0  # k of Tables 2 and 3

OPTIONS = (
    click.option("--on", type=click.Choice(list(PLATFORMS)), default="vm", help="Platform."),
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
    click.option("--out", type=click.Path(path_type=Path), help="New folder for the results."),
    click.option("--json", "as_json", is_flag=True, help="Print result.json instead of the table."),
    click.option("--dry-run", is_flag=True, help="Print the QEMU lines and stop."),
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
        writes_percent: int = 0,
    ) -> list[Experiment]:
        """One for each scheduler and seed, every value checked."""
        controller(self.controller)
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
                virtual_bytes=sizes.parse("--virtual-size", self.virtual_size),
                processes=workload.default_processes if processes is None else processes,
                writes_percent=writes_percent,
                clock=self.clock,
                scale=scale,
                think_scale=scale if self.think_scale is None else self.think_scale,
                controller=self.controller,
                tunables=chosen.get(scheduler, ()),
            )
            for scheduler in schedulers
            for seed in range(self.seed, self.seed + self.seeds)
        ]

    @property
    def jobs_at_once(self) -> int:
        """--jobs or its default."""
        return self.jobs or (1 if self.clock == "wall" else os.cpu_count() or 1)


def with_settings(function: Callable[..., None]) -> Callable[..., None]:
    """Give a command all of OPTIONS, as one argument `settings`."""
    names = set(Settings.__dataclass_fields__)

    @functools.wraps(function)
    def gathered(*args: Any, **given: Any) -> None:
        shared = {name: given.pop(name) for name in names}
        function(*args, settings=Settings(**shared), **given)

    return functools.reduce(lambda wrapped, option: option(wrapped), reversed(OPTIONS), gathered)
