# SPDX-License-Identifier: MIT
"""`understudy sweep`: run every disk with every workload, scheduler and seed, into one file."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import click
import polars as pl
from rich import box
from rich.table import Table

from understudy_devices import platforms
from understudy_devices.ask import schedulers
from understudy_devices.ask.experiment import Experiment
from understudy_devices.ask.workloads import WORKLOADS
from understudy_devices.ask.workloads.workload import Workload
from understudy_devices.base import catalog
from understudy_devices.base.errors import UserError
from understudy_devices.campaign import sweep
from understudy_devices.cli.cluster import engine_of, with_cluster
from understudy_devices.cli.main import EXIT_FAILED
from understudy_devices.cli.options import Grouped, Settings, with_settings
from understudy_devices.cli.progress import bars
from understudy_devices.cli.session import console, tell, tell_warnings, warn_of_trace
from understudy_devices.device import profile
from understudy_devices.device.profile import DiskProfile
from understudy_devices.engine import Engine
from understudy_devices.engine.cluster import Request
from understudy_devices.measure.comparison import Comparison, Estimate
from understudy_devices.show import table

EXAMPLE = (
    "Example: understudy sweep --workloads random,surge-direct --processes 20 --seeds 30 "
    "--out sweep.parquet"
)
MEASURE = table.RANKED[0]

Swept = tuple[pl.DataFrame, dict[str, str]]


@click.command("sweep", cls=Grouped, epilog=EXAMPLE)
@click.option("--disks", default="cheetah-15k4", help="Names or files, comma-separated, or all.")
@click.option("--workloads", default="random,surge-direct", help="Names, comma-separated.")
@click.option("--schedulers", "names", default="all", help="Comma-separated, or all.")
@with_cluster
@with_settings()
def command(
    disks: str, workloads: str, names: str, settings: Settings, cluster: Request | None
) -> None:
    """Run every disk with every workload, every scheduler and every seed.

    The file that --out names [sweep.parquet] keeps only the figures, a row for each run.  A
    command carries out only the runs that the file lacks.  So the same command resumes an
    interrupted sweep, and a command with more seeds carries out only the runs with new seeds.  If
    a scheduler, disk or trace has changed, its rows are removed.  An option that only some
    workloads have (--writes, --rate ...) affects only these workloads.

    With --on-cluster, the runs are carried out as array jobs of Slurm (docs/cluster.md).
    """
    if len(settings.platforms) > 1:
        raise UserError("--on: one platform at a time; run the command once for each")
    experiments = [
        experiment
        for disk in _disks(disks)
        for workload in _workloads(workloads)
        for experiment in settings.without(workload).experiments(
            disk, workload, schedulers.parse(names, disk), settings.platforms[0]
        )
    ]
    warn_of_trace(settings)
    file = settings.out or Path("sweep.parquet")
    if settings.dry_run:
        click.echo(f"{len(experiments)} runs into {file}")
        return
    chosen = [run.scheduler.name for run in experiments]
    failures = schedulers.unfit(chosen)
    tell_warnings(chosen)
    experiments = [run for run in experiments if run.scheduler.name not in failures]
    with sweep.opened(file) as book:
        _say_outdated(sweep.outdated(book, experiments), file)
        engine = engine_of(cluster, book.on_cluster, settings)
        frame, failed = _run(settings, experiments, book, engine)
        if frame.height:
            _show(frame, settings)
    click.echo(f"wrote {file}: {frame.height} runs of this command", err=True)
    tell(failures | failed)
    if failures or failed or False in frame["trusted"]:
        raise click.exceptions.Exit(EXIT_FAILED)


def _disks(text: str) -> list[DiskProfile]:
    names = list(profile.catalogue()) if text == "all" else _words(text)
    disks = [profile.load(name) for name in names]
    catalog.refuse_twice("--disks", [disk.name for disk in disks])
    return disks


def _workloads(text: str) -> list[type[Workload]]:
    names = _words(text)
    catalog.refuse_twice("--workloads", names)
    return [catalog.pick("workload", name, WORKLOADS) for name in names]


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",")]


def _say_outdated(rows: int, file: Path) -> None:
    if rows:
        click.echo(
            f"{file}: {rows} rows removed: they are from another version of a scheduler, disk or "
            "trace, or of Understudy",
            err=True,
        )


def _run(
    settings: Settings, experiments: Sequence[Experiment], book: sweep.Book, engine: Engine
) -> Swept:
    platform = platforms.load(settings.platforms[0])
    platform.check(experiments)
    with bars(len(experiments)) as progress:
        platform.prepare(experiments, progress.prepare)
        return sweep.run(experiments, book, engine, progress.count)


@dataclass(frozen=True)
class Line:
    """The result of a scheduler on one disk with one workload, over all seeds."""

    disk: str
    workload: str
    scheduler: str
    mean: Estimate | None  # None: requests arrive faster than the disk can serve them
    utilisation: float | None  # the load that arrives, if `mean` is None
    verdict: str

    def as_json(self) -> dict[str, Any]:
        """Return the line's entry in the output of --json."""
        mean = {"mean": None, "half_width": None} if self.mean is None else asdict(self.mean)
        return {**asdict(self), **mean}


def _show(frame: pl.DataFrame, settings: Settings) -> None:
    """Print the schedulers for each disk and workload, best mean response time first."""
    groups = [_lines(rows) for _, rows in frame.group_by("disk", "workload", maintain_order=True)]
    if settings.as_json:
        click.echo(json.dumps([line.as_json() for group in groups for line in group], indent=2))
        return
    heading = f"{MEASURE.label} ({MEASURE.unit})"
    printed = Table("disk", "workload", "scheduler", heading, "", box=box.HORIZONTALS)
    for group in groups:
        for line in group:
            mean = table.number(line.mean) if line.mean else sweep.UNSTABLE
            printed.add_row(line.disk, line.workload, line.scheduler, mean, line.verdict)
        printed.add_section()
    console().print(printed)
    for sentence in _verdicts(frame):
        click.echo(sentence)
    if settings.seeds == 1:
        click.echo("one seed: no intervals; --seeds 10 says which schedulers can be told apart")


def _trusted(rows: pl.DataFrame) -> bool | None:
    """Return the verdict on the least trusted run."""
    states = set(rows["trusted"])
    return False if False in states else None if None in states else True


def _verdicts(frame: pl.DataFrame) -> list[str]:
    """Return the reasons against trusting results, each once, with the results that it concerns."""
    stable = frame.filter(status=sweep.STABLE)
    reasons = (
        f"{disk}, {workload}: {because}"
        for disk, workload, because in stable.select("disk", "workload", "because").rows()
        if because
    )
    return list(dict.fromkeys(reasons))


def _overload(load: float | None) -> str:
    """Return the text for an overloaded disk; the load is None if no request was served."""
    prefix = "" if load is None else f"load {load:.2f}: "
    return f"{prefix}more than the disk can serve"


def _lines(rows: pl.DataFrame) -> list[Line]:
    """Return the lines of one disk with one workload, a line for each scheduler.

    A scheduler has a mean response time only if no seed's run was overloaded.
    """
    place = (rows["disk"][0], rows["workload"][0])
    loads = dict(
        rows.filter(status=sweep.UNSTABLE)
        .group_by("scheduler", maintain_order=True)
        .agg(pl.col("utilisation").max())
        .rows()
    )
    unstable = [Line(*place, name, None, load, _overload(load)) for name, load in loads.items()]
    stable = rows.filter(~pl.col("scheduler").is_in(list(loads)))
    if not stable.height:
        return unstable
    compared = Comparison(sweep.summaries(stable))
    ranked = [
        Line(*place, name, compared.estimate(name, MEASURE), None, verdict)
        for name, (_, verdict, *_) in table.ranked(compared, trusted=_trusted(stable))
    ]
    return [*ranked, *unstable]
