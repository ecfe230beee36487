# SPDX-License-Identifier: MIT
"""`understudy sweep`: every disk with every workload, scheduler and seed, into one file."""

import json
from pathlib import Path
from typing import Any

import click
import polars as pl
from rich.console import Console
from rich.table import Table

from understudy import catalog, comparison, platforms, profile, schedulers, sweep, table
from understudy.cli.options import Settings, with_settings, with_workload
from understudy.cli.progress import bars
from understudy.errors import RunFailed, UserError
from understudy.experiment import OF_WORKLOADS, Experiment
from understudy.workload import WORKLOADS

EXAMPLE = (
    "Example: understudy sweep --workloads random,surge-direct --schedulers all --seeds 30 "
    "--out sweep.parquet"
)


@click.command("sweep", epilog=EXAMPLE)
@click.option("--disks", default="cheetah-15k4", help="Names or files, comma-separated, or all.")
@click.option("--workloads", default="random,surge-direct", help="Names, comma-separated.")
@click.option("--schedulers", "names", default="all", help="Comma-separated, or all.")
@with_workload
@with_settings
def command(
    disks: str, workloads: str, names: str, of_workload: dict[str, Any], settings: Settings
) -> None:
    """Run every disk with every workload, every scheduler and every seed.

    Only figures are kept, a row for each run.  Run the same command again to go on with
    a sweep that was interrupted, or with more seeds to add to a finished one.  An option
    of one workload (--writes, --rate ...) is for those that have a use for it.
    """
    if len(settings.platforms) > 1:
        raise UserError("--on: one platform at a time; run it once for each")
    experiments = [
        experiment
        for disk in (profile.catalogue() if disks == "all" else disks.split(","))
        for workload in workloads.split(",")
        for experiment in _experiments(disk.strip(), workload.strip(), names, of_workload, settings)
    ]
    file = settings.out or Path("sweep.parquet")
    platform = platforms.load(settings.platforms[0])
    if settings.dry_run:
        click.echo(f"{len(experiments)} runs into {file}")
        return
    with bars() as progress:
        platform.prepare(experiments, progress.prepare)
        frame = _sweep(platform, settings, experiments, file, progress.count)
    _show(frame, settings.as_json)
    click.echo(f"wrote {file}: {frame.height} runs", err=True)


def _experiments(
    disk: str, workload: str, names: str, of_workload: dict[str, Any], settings: Settings
) -> list[Experiment]:
    entry = catalog.pick("workload", workload, WORKLOADS)
    useful = {
        name: value
        for name, value in of_workload.items()
        if name not in OF_WORKLOADS or name in entry.options
    }
    return settings.experiments(
        disk=profile.load(disk), workload=entry, schedulers=schedulers.parse(names), **useful
    )


def _sweep(
    platform: platforms.Platform,
    settings: Settings,
    experiments: list[Experiment],
    file: Path,
    report: sweep.Report,
) -> pl.DataFrame:
    try:
        return sweep.run(
            platform, settings.platforms[0], experiments, file, settings.jobs_at_once, report
        )
    except OSError as error:
        raise RunFailed(f"cannot write {file}: {error.strerror}; try another --out") from error


def _show(frame: pl.DataFrame, as_json: bool) -> None:
    """Mean response by disk, workload and scheduler, over the seeds."""
    measure = table.RANKED[0]
    groups = frame.group_by("disk", "workload", "scheduler", maintain_order=True)
    found = [(*name, comparison.estimate(rows[measure.key].to_list())) for name, rows in groups]
    if as_json:
        keys = ("disk", "workload", "scheduler", "mean", "half_width")
        click.echo(
            json.dumps(
                [
                    dict(zip(keys, (*name, value.mean, value.half_width), strict=True))
                    for *name, value in found
                ],
                indent=2,
            )
        )
        return
    printed = Table("disk", "workload", "scheduler", f"{measure.label} ({measure.unit})")
    for *name, value in found:
        printed.add_row(*map(str, name), table.number(value))
    Console().print(printed)
