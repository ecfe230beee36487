# SPDX-License-Identifier: MIT
"""`understudy sweep`: run every disk with every workload, scheduler and seed, into one file."""

import json
from pathlib import Path

import click

from understudy_devices.api.call import NoResult
from understudy_devices.api.options import DISK
from understudy_devices.api.settings import losses_of
from understudy_devices.api.sweep import WORKLOADS_SWEPT, Swept, ask
from understudy_devices.cli.cluster import with_cluster
from understudy_devices.cli.main import EXIT_FAILED
from understudy_devices.cli.options import Grouped, Typed, with_settings
from understudy_devices.cli.session import Printed, console
from understudy_devices.engine.cluster import Request
from understudy_devices.show import swept

EXAMPLE = (
    "Example: understudy sweep --workloads random,surge-direct --processes 20 --seeds 30 "
    "--out sweep.parquet"
)


@click.command("sweep", cls=Grouped, epilog=EXAMPLE)
@click.option("--disks", default=DISK, help="Names or files, comma-separated, or all.")
@click.option("--workloads", default=WORKLOADS_SWEPT, help="Names, comma-separated.")
@click.option("--schedulers", "names", default="all", help="Comma-separated, or all.")
@with_cluster
@with_settings()
@click.pass_obj
def command(
    line: str,
    disks: str,
    workloads: str,
    names: str,
    typed: Typed,
    cluster: Request | None,
) -> None:
    """Run every disk with every workload, every scheduler and every seed.

    The file that --out names [sweep.parquet] keeps only the figures, a row for each run.  A
    command carries out only the runs that the file lacks.  So the same command resumes an
    interrupted sweep, and a command with more seeds carries out only the runs with new seeds.  If
    a scheduler, disk or trace has changed, its rows are removed.  An option that only some
    workloads have (--writes, --rate ...) affects only these workloads.

    With --on-cluster, the runs are carried out as array jobs of Slurm (docs/cluster.md).
    """
    question = ask(
        disks=disks, workloads=workloads, schedulers=names, command=line, **typed.options
    )
    file = typed.out or Path("sweep.parquet")
    watch = Lines(as_json=typed.as_json)
    if typed.dry_run:
        if losses := losses_of(question.settings):
            watch.notice(losses)
        click.echo(f"{len(question.experiments)} runs into {file}")
        return
    try:
        answer = question.answer(file, watch, cluster)
    except NoResult:
        raise click.exceptions.Exit(EXIT_FAILED) from None
    if answer.failures or answer.trusted is False:
        raise click.exceptions.Exit(EXIT_FAILED)


class Lines(Printed):
    """Print the schedulers for each disk and workload, best mean response time first."""

    def __init__(self, *, as_json: bool) -> None:
        """Store the form of the output."""
        self._as_json = as_json

    def answered(self, answer: Swept) -> None:
        """Print the table, or JSON."""
        if self._as_json:
            click.echo(json.dumps(answer.as_json(), indent=2))
        else:
            swept.show(answer.runs, answer.seeds, console())
