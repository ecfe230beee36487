# SPDX-License-Identifier: MIT
"""Carry out checked experiments, print the table of results, and write the run folder.

If there are several platforms, each platform's table is printed as soon as it is ready, and is
saved in a separate folder inside the run folder.  Then the differences between the platforms and
the recommended scheduler are printed.
"""

import json
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import click
from rich.console import Console

from understudy_devices import platforms
from understudy_devices.ask import schedulers
from understudy_devices.ask.experiment import Experiment
from understudy_devices.ask.workloads.workload import Workload
from understudy_devices.base import run_folder
from understudy_devices.base.errors import UserError
from understudy_devices.base.plain import plain, shortened
from understudy_devices.campaign import parallel, result
from understudy_devices.cli.main import EXIT_FAILED
from understudy_devices.cli.options import Settings
from understudy_devices.cli.progress import bars
from understudy_devices.device.profile import DiskProfile
from understudy_devices.show import side_by_side, table

PRINTED_LINES = 20
FILE_WIDTH = 120  # width, in characters, of a table that is written to a file or a pipe


@dataclass(frozen=True)
class Asked:
    """The disk, workload and schedulers of the experiments; `Settings` has the platforms."""

    disk: DiskProfile
    workload: type[Workload]
    schedulers: list[str]


def carry_out(
    command: str,
    settings: Settings,
    selection: Asked,
    layout: table.Layout | None = None,
) -> None:
    """Run all experiments, or with --dry-run only print their commands."""
    warn_of_trace(settings)
    names = settings.platforms
    planned = {name: _for(name, settings, selection) for name in names}
    if settings.dry_run:
        for name in names:
            _print_lines(platforms.load(name), planned[name])
        return
    click.echo(f"$ {command}", err=True)
    failures = schedulers.unfit(selection.schedulers)
    tell(failures)
    tell_warnings(selection.schedulers)
    answers = []
    with run_folder.reserved(settings.out, result.label(planned[names[0]][0])) as folder:
        for name in names:
            platforms.load(name).check(_fit(planned[name], failures))
        try:
            for name in names:
                answer = _run(command, name, settings, _fit(planned[name], failures))
                if answer.outcomes:
                    answers.append(answer)
                    place = folder / name if len(names) > 1 else folder
                    _put(answer, place, settings, layout)
                tell(answer.failures)
                failures |= answer.failures
        finally:  # the results are printed even if they could not be written
            _conclude(answers, settings)
    if failures or any(answer.verdict.trusted is False for answer in answers):
        raise click.exceptions.Exit(EXIT_FAILED)


def tell(failures: Mapping[str, str]) -> None:
    """Print a line for each scheduler that failed."""
    for message in failures.values():
        click.echo(plain(f"understudy: {message}"), err=True)


def tell_warnings(names: Iterable[str]) -> None:
    """Print the compiler's warnings about schedulers from users' files."""
    click.echo(plain(schedulers.warnings(names)), err=True, nl=False)


def _fit(experiments: Sequence[Experiment], failures: Mapping[str, str]) -> list[Experiment]:
    return [run for run in experiments if run.scheduler.name not in failures]


def _load_report() -> None:
    """Import Matplotlib while runs are in progress, since the import takes half a second."""
    from understudy_devices.show import report  # noqa: F401


def _put(
    answer: result.Result, place: Path, settings: Settings, layout: table.Layout | None
) -> None:
    from understudy_devices.show import report

    if not settings.as_json:
        table.show(answer, console(), layout)
        if len(settings.platforms) == 1:
            table.conclude([answer], console())
    _warn(answer)
    result.write(answer, place, report.render(answer))
    click.echo(f"wrote {place}: result.json, requests.parquet, report.html", err=True)


def _for(platform: str, settings: Settings, selection: Asked) -> list[Experiment]:
    """Return the platform's runs.

    If there are several platforms, each platform runs only the schedulers that it supports.  A
    single platform refuses schedulers that it does not support.
    """
    skip = len(settings.platforms) > 1
    chosen = [
        name for name in selection.schedulers if not skip or schedulers.runs_on(platform, name)
    ]
    if not chosen:
        raise UserError(
            f"--schedulers: {platform} runs none of {', '.join(selection.schedulers)}; leave it "
            "out of --on, or add a scheduler that it runs"
        )
    return settings.experiments(selection.disk, selection.workload, chosen, platform)


def _run(
    command: str,
    name: str,
    settings: Settings,
    experiments: Sequence[Experiment],
) -> result.Result:
    platform = platforms.load(name)
    with bars(len(experiments)) as progress:
        platform.prepare(experiments, progress.prepare)
        outcomes, failures = parallel.run_all(
            platform, experiments, settings.jobs_at_once, progress.run, meanwhile=_load_report
        )
    return result.Result(command, tuple(outcomes), failures)


def _print_lines(platform: platforms.Platform, experiments: Sequence[Experiment]) -> None:
    platform.check(experiments)
    for experiment in experiments:
        click.echo(f"# {experiment.scheduler.name}, seed {experiment.seed}")
        click.echo(shlex.join(platform.dry_run(experiment)))


def _warn(answer: result.Result) -> None:
    """Print the output of users' schedulers, and warn of overload."""
    for outcome in answer.outcomes:
        printed = outcome.facts.get("printed", "").splitlines()
        rest = [f"... {len(printed) - PRINTED_LINES:,} lines more in result.json"]
        for line in printed[:PRINTED_LINES] + (rest if len(printed) > PRINTED_LINES else []):
            notice = f"{outcome.experiment.scheduler.name} printed: {shortened(line)}"
            click.echo(plain(notice), err=True)
        load = outcome.facts.get("offered_load") or 0.0
        if load > 1:
            click.echo(
                f"{outcome.experiment.scheduler.name}, seed {outcome.experiment.seed}: overloaded: "
                f"requests arrive {load:,.2f} times as fast as the device can serve them, so "
                "waiting times depend on the length of the run",
                err=True,
            )


def warn_of_trace(settings: Settings) -> None:
    """Print which requests of a replayed trace are left out."""
    trace = settings.given.get("trace")
    if trace and trace.losses:
        click.echo(plain(f"{trace.name}: {trace.losses}"), err=True)


def console() -> Console:
    """Return a console for standard output; its width is that of the terminal, else FILE_WIDTH."""
    output = Console(highlight=False)
    return output if output.is_terminal else Console(width=FILE_WIDTH)


def _conclude(answers: Sequence[result.Result], settings: Settings) -> None:
    """Print the conclusions, which depend on the results of all platforms."""
    if settings.as_json and answers:
        documents = {answer.platform: answer.as_json() for answer in answers}
        whole = documents if len(answers) > 1 else answers[0].as_json()
        click.echo(json.dumps(whole, indent=2))
    elif len(settings.platforms) > 1:
        if len(answers) > 1:
            side_by_side.show(answers[0], answers[1], console())
        table.conclude(answers, console())
