# SPDX-License-Identifier: MIT
"""From checked experiments to a printed table and a run folder."""

import json
import shlex
from collections.abc import Sequence

import click
from rich.console import Console

from understudy import campaign, platforms, report, result, table
from understudy.cli.options import Settings
from understudy.cli.progress import bars
from understudy.experiment import Experiment
from understudy.papers import PaperTable

FILE_WIDTH = 120  # columns of a table that goes to a file or a pipe


def carry_out(
    command: str,
    settings: Settings,
    experiments: Sequence[Experiment],
    paper: PaperTable | None = None,
) -> None:
    """Run everything, or with --dry-run say what would be run."""
    platform = platforms.load(settings.on)
    if settings.dry_run:
        _print_lines(platform, experiments)
        return
    folder = result.folder_for(settings.out, experiments[0])
    click.echo(f"$ {command}", err=True)
    with bars() as progress:
        platform.prepare(experiments, progress.prepare)
        outcomes = campaign.run_all(platform, experiments, settings.jobs_at_once, progress.run)
    found = result.Result(command, settings.on, tuple(outcomes), paper)
    result.write(found, folder, report.render(found))
    _print_result(found, settings.as_json)
    click.echo(f"wrote {folder}: result.json, requests.parquet, report.html", err=True)


def _print_lines(platform: platforms.Platform, experiments: Sequence[Experiment]) -> None:
    for experiment in experiments:
        click.echo(f"# {experiment.scheduler}, seed {experiment.seed}")
        click.echo(shlex.join(platform.qemu_line(experiment)))


def _print_result(found: result.Result, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(found.as_json(), indent=2, ensure_ascii=False))
    else:
        console = Console(highlight=False)
        table.show(found, console if console.is_terminal else Console(width=FILE_WIDTH))
