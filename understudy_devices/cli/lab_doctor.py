# SPDX-License-Identifier: MIT
"""`understudy lab doctor`: how right the clocks of the VMs are."""

import json
from dataclasses import asdict
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from understudy_devices.base.errors import RunFailed
from understudy_devices.base.plain import plain
from understudy_devices.cli.lab_options import FOLDER, JSON, NAME
from understudy_devices.lab import store

SCHEMA = "understudy.lab-doctor/1"


@click.command("doctor", epilog="Example: understudy lab doctor os822 --seconds 60")
@NAME
@click.option("--team", help="Only of this team.")
@click.option(
    "--seconds", type=click.FloatRange(0, 86400), default=10.0, help="How long to measure."
)
@FOLDER
@JSON
def doctor_command(name: str, team: str | None, seconds: float, labs: Path, as_json: bool) -> None:
    """Measure the clocks of the running VMs against this host's, and name a wrong clock source."""
    from understudy_devices.lab import doctor

    lab = store.read(labs, name)
    clocks, reasons = doctor.measure([lab.team(team)] if team else lab.teams(), seconds)
    if as_json:
        listed = [asdict(clock) for clock in clocks]
        content = {"schema": SCHEMA, "lab": lab.name, "clocks": listed, "not_measured": reasons}
        click.echo(json.dumps(content, indent=2))
    else:
        columns = ("team", "clock source", "offset ms", "drift ms", "error ms", "over s")
        table = Table(*columns, box=None, pad_edge=False)
        for column in table.columns[2:6]:
            column.justify = "right"
        for clock in clocks:
            figures = (clock.offset_ms, clock.drift_ms, clock.error_ms, clock.seconds)
            words = (f"{figure:,.1f}" for figure in figures)
            table.add_row(clock.team, plain(clock.source), *words)
        Console(highlight=False).print(table)
        for clock in clocks:
            if clock.advice:
                click.echo(plain(f"{clock.team}: {clock.advice}"))
        for each, reason in reasons.items():
            click.echo(plain(f"{each}: not measured: {reason}"), err=True)
    if not clocks:
        raise RunFailed(f"{lab.name}: no VM runs whose agent answers")
