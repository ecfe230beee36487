# SPDX-License-Identifier: MIT
"""`understudy lab drive`: the read-only drive that all VMs of a lab share."""

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from understudy_devices.base.errors import UserError
from understudy_devices.cli.lab_options import FILE, FOLDER, JSON, NAME, megabytes
from understudy_devices.lab import drive, drive_users, store
from understudy_devices.lab.store import Lab

SCHEMA = "understudy.lab-drive-list/1"
WITHOUT = "none"
DIGITS = 10


@click.command("drive", epilog="Example: understudy lab drive os822 software")
@NAME
@click.argument("source", metavar="[FOLDER]", type=FILE, required=False)
@click.option(
    "--use", metavar=f"VERSION|{WITHOUT}", help="VMs started from now on have this version."
)
@click.option("--drop", type=click.IntRange(1), metavar="VERSION", help="Remove this version.")
@FOLDER
@JSON
def drive_command(
    name: str, source: Path | None, use: str | None, drop: int | None, labs: Path, as_json: bool
) -> None:
    """Make a read-only drive from FOLDER, a new version, for VMs that are started from now on.

    Without FOLDER, list the versions, and who has which.  A VM that runs or is suspended keeps its
    version.
    """
    if sum(each is not None for each in (source, use, drop)) + as_json > 1:
        raise UserError("FOLDER, --use, --drop and --json: give only one of them")
    lab = store.read(labs, name)
    if source is not None:
        made = drive.make(lab, source)
        size = megabytes(made.disk_bytes)
        click.echo(f"{lab.name}: version {made.version}, {size}{_when(lab)}", err=True)
    elif use is not None:
        drive.use(lab, _version(use))
        which = "no drive" if _version(use) == drive.NONE else f"version {use}"
        click.echo(f"{lab.name}: {which}{_when(lab)}", err=True)
    elif drop is not None:
        drive_users.drop(lab, drop)
        click.echo(f"{lab.name}: version {drop} is removed", err=True)
    else:
        _list(lab, as_json)


def _version(text: str) -> int:
    if text == WITHOUT:
        return drive.NONE
    if not (text.isascii() and text.isdigit() and len(text) < DIGITS):
        raise UserError(f"--use: {text} is no version; write its number, or {WITHOUT}")
    return int(text)


def _when(lab: Lab) -> str:
    """Return when VMs have it."""
    again = (
        f"; {lab.words('boot-once')} once more" if drive_users.is_booted_with_another(lab) else ""
    )
    return f", for VMs that are started from now on{again}"


def _list(lab: Lab, as_json: bool) -> None:
    chosen, users = drive.current(lab), drive_users.of(lab)
    rows: list[dict[str, Any]] = [
        {
            "version": each.version,
            "current": each == chosen,
            "source": each.source,
            "made": each.made,
            "disk_bytes": each.disk_bytes,
            "sha256": each.seal.sha256,
            "teams": users.get(each.identity, []),
        }
        for each in drive.all_of(lab)
    ]
    if as_json:
        click.echo(json.dumps({"schema": SCHEMA, "lab": lab.name, "versions": rows}, indent=2))
        return
    table = Table("", "version", "from", "made", "MB", "VMs that have it", box=None, pad_edge=False)
    for column in (1, 4):
        table.columns[column].justify = "right"
    for row in rows:
        made = f"{datetime.fromtimestamp(row['made']):%Y-%m-%d %H:%M}"
        size = f"{row['disk_bytes'] / 1e6:,.1f}"
        mark = "*" if row["current"] else ""
        teams = ", ".join(row["teams"])
        table.add_row(mark, str(row["version"]), row["source"], made, size, teams)
    Console(highlight=False).print(table)
