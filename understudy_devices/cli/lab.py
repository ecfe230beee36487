# SPDX-License-Identifier: MIT
"""`understudy lab`: a class of VMs, cloned from one sealed image (docs/lab.md)."""

import json
from dataclasses import asdict
from datetime import datetime
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from understudy_devices.base import sizes
from understudy_devices.base.errors import UserError
from understudy_devices.base.plain import plain
from understudy_devices.cli.names import Names
from understudy_devices.lab import settings as limits
from understudy_devices.lab import status as statuses
from understudy_devices.lab import store, students
from understudy_devices.lab.base_image import Source
from understudy_devices.lab.settings import MIB, Settings

SCHEMA = "understudy.lab-status/1"
QUOTA_MIN, QUOTA_MAX = MIB, 4 * 2**40
FILE = click.Path(path_type=Path)


def _labs() -> list[str]:
    return [each.parent.name for each in Path("labs").glob("[!.]*/lab.json")]


NAME = click.argument("name", type=Names(_labs))
TEAM = click.argument("team")
FOLDER = click.option(
    "--folder",
    "labs",
    type=FILE,
    default=Path("labs"),
    envvar="UNDERSTUDY_LABS",
    show_envvar=True,
    help="The folder with the labs.",
)
JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.group()
def command() -> None:
    """A class of VMs: a clone of one sealed image for each team.

    \b
    Example:
      understudy lab create os822 --base debian12.qcow2 --students students.csv
      understudy lab start os822 team07
      understudy lab console os822 team07
      understudy lab stop os822 team07 --suspend
      understudy lab status os822
    """


@command.command(
    epilog="Example: understudy lab create os822 --base debian12.qcow2 --students students.csv"
)
@NAME
@click.option("--base", "disk", required=True, type=FILE, help="The image to clone, in qcow2.")
@click.option(
    "--students",
    "file",
    required=True,
    type=FILE,
    help="A CSV file, with the columns team, name and email.",
)
@click.option("--memory", default="512MiB", metavar="SIZE", help="Memory of each VM.")
@click.option("--cpus", type=click.IntRange(1, 255), default=1, help="Processors of each VM.")
@click.option(
    "--quota", metavar="SIZE", help="Most that a team's images may take [default: no limit]."
)
@click.option("--kernel", type=FILE, help="Boot this kernel, and no boot loader.")
@click.option("--initrd", type=FILE, help="The kernel's initrd.")
@click.option(
    "--kernel-arguments",
    "arguments",
    default="",
    show_default=False,
    help="The kernel's arguments [default: console=ttyS0 root=/dev/vda rw].",
)
@FOLDER
def create(
    name: str,
    disk: Path,
    file: Path,
    memory: str,
    cpus: int,
    quota: str | None,
    kernel: Path | None,
    initrd: Path | None,
    arguments: str,
    labs: Path,
) -> None:
    """Copy and seal an image, and make a clone of it for each team."""
    chosen = Settings(
        sizes.parse("--memory", memory, limits.MEMORY_MIN, limits.MEMORY_MAX) // MIB,
        cpus,
        _quota(quota) if quota else None,
    )
    teams = students.teams(file)
    lab = store.create(labs, name, Source(disk, kernel, initrd, arguments), teams, chosen)
    count = sum(map(len, teams.values()))
    click.echo(f"{lab.folder}: {len(teams)} teams of {count} students", err=True)


@command.command(epilog="Example: understudy lab start os822 team07")
@NAME
@TEAM
@FOLDER
def start(name: str, team: str, labs: Path) -> None:
    """Start a team's VM: resume it if it is suspended, or boot it.

    The VM goes on when this command ends.
    """
    from understudy_devices.lab import accelerator, start
    from understudy_devices.lab.hardware import Hardware

    lab = store.read(labs, name)
    chosen = lab.team(team)
    started = start.start(chosen, Hardware(lab.settings, accelerator.best()))
    if started.note:
        click.echo(plain(f"note: {started.note}"), err=True)
    click.echo(f"{team}: {started.how}; {chosen.words('console')} opens its console", err=True)


@command.command(epilog="Example: understudy lab stop os822 team07 --suspend")
@NAME
@TEAM
@click.option("--suspend", is_flag=True, help="Save its memory: the next start resumes it.")
@click.option("--now", is_flag=True, help="Cut its power: what is not flushed is lost.")
@click.option(
    "--seconds",
    type=click.FloatRange(0, 86400),
    default=60.0,
    help="How long to wait for the guest to power off.",
)
@FOLDER
def stop(name: str, team: str, suspend: bool, now: bool, seconds: float, labs: Path) -> None:
    """Ask a team's VM to power off, and wait until it has."""
    from understudy_devices.lab import stop

    if suspend and now:
        raise UserError("--suspend and --now: choose one")
    chosen = store.read(labs, name).team(team)
    if suspend:
        size = stop.suspend(chosen)
        click.echo(f"{team}: suspended, {_megabytes(size)}", err=True)
    elif now:
        stop.cut_power(chosen)
        click.echo(f"{team}: ended", err=True)
    else:
        stop.power_off(chosen, seconds)
        click.echo(f"{team}: powered off", err=True)


@command.command(epilog="Example: understudy lab status os822 --json")
@NAME
@FOLDER
@JSON
def status(name: str, labs: Path, as_json: bool) -> None:
    """Print what each team's VM does: who runs it, where, since when, and how large it is."""
    from understudy_devices.lab import maintenance

    lab = store.read(labs, name)
    every = statuses.of_lab(lab)
    mode = maintenance.of(lab)
    if as_json:
        content = {
            "schema": SCHEMA,
            "lab": lab.name,
            "maintenance": asdict(mode) if mode else None,
            "teams": [asdict(each) for each in every],
        }
        click.echo(json.dumps(content, indent=2))
        return
    table = Table("team", "state", "by", "on", "since", "MB", box=None, pad_edge=False)
    table.columns[-1].justify = "right"
    for each in every:
        who = each.holder
        since = f"{datetime.fromtimestamp(who.since):%m-%d %H:%M}" if who else ""
        by, on = (who.user, who.host) if who else ("", "")
        table.add_row(each.team, each.state, by, on, since, f"{each.team_bytes / 1e6:,.1f}")
    Console(highlight=False).print(table)
    if mode:
        click.echo(plain(f"in maintenance, by {mode.user}: {mode.reason}"))


@command.command(epilog="Example: understudy lab console os822 team07")
@NAME
@TEAM
@FOLDER
def console(name: str, team: str, labs: Path) -> None:
    """Open a VM's serial console: what it printed lately, then live.  Ctrl-] leaves it."""
    from understudy_devices.lab import console

    chosen = store.read(labs, name).team(team)
    words = f"{team}: {console.LEAVE_NAME} leaves the console"
    reason = console.attach(chosen, lambda: click.echo(words, err=True))
    click.echo(f"\n{team}: {reason}", err=True)


@command.command(epilog="Example: understudy lab log os822 team07 --lines 50")
@NAME
@TEAM
@click.option("--lines", type=click.IntRange(0), help="Only the last lines.")
@FOLDER
def log(name: str, team: str, lines: int | None, labs: Path) -> None:
    """Print what a VM's serial console has printed, also before the last start."""
    from understudy_devices.lab import console

    click.echo(plain(console.log(store.read(labs, name).team(team), lines)))


@command.command(epilog="Example: understudy lab check os822")
@NAME
@FOLDER
def check(name: str, labs: Path) -> None:
    """Compare every byte of a lab's sealed files with their checksums.

    A start checks only sizes, time stamps and samples.  After a lab was copied or moved, this
    command has to accept it once.
    """
    lab = store.read(labs, name)
    for base in lab.bases():
        base.check_fully()
        size = sum(seal.size for seal in base.seals.values())
        click.echo(f"{base.folder}: unchanged, {_megabytes(size)}")


def _quota(text: str) -> int:
    return sizes.parse("--quota", text, QUOTA_MIN, QUOTA_MAX)


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.1f} MB"
