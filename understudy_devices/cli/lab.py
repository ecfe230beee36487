# SPDX-License-Identifier: MIT
"""`understudy lab`: a class of VMs, cloned from one sealed image (docs/lab.md)."""

import json
from contextlib import ExitStack
from dataclasses import asdict
from datetime import datetime
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from understudy_devices.base import scratch, sizes
from understudy_devices.base.errors import RunFailed, UserError
from understudy_devices.base.plain import one_line, plain
from understudy_devices.cli import lab_devices as devices
from understudy_devices.cli.cluster import with_job
from understudy_devices.cli.lab_booted import boot_once
from understudy_devices.cli.lab_changes import CHANGES
from understudy_devices.cli.lab_devices import with_devices
from understudy_devices.cli.lab_display import display_command, screenshot_command
from understudy_devices.cli.lab_doctor import doctor_command
from understudy_devices.cli.lab_drive import drive_command
from understudy_devices.cli.lab_options import (
    FILE,
    FOLDER,
    JSON,
    NAME,
    TEAM,
    bandwidth_bytes,
    megabytes,
    quota_bytes,
    team_of,
    with_kernel,
)
from understudy_devices.cli.lab_plug import plug_command
from understudy_devices.cli.lab_submissions import submissions_command
from understudy_devices.engine.cluster import Request
from understudy_devices.lab import settings as limits
from understudy_devices.lab import status as statuses
from understudy_devices.lab import store, students
from understudy_devices.lab.base_image import Source
from understudy_devices.lab.settings import MIB, Settings
from understudy_devices.lab.team_limits import Limit

DEBIAN = "debian"
SCHEMA = "understudy.lab-status/1"
DISK_SCHEMA = "understudy.lab-disk/1"
DISK_COLUMNS = ("clone", "snapshots", "old", "memory", "total")


@click.group()
def command() -> None:
    """A class of VMs: a clone of one sealed image for each team.

    \b
    Example:
      understudy lab create os822 --base debian --students students.csv
      understudy lab boot-once os822
      understudy lab start os822 team07
      understudy lab console os822 team07
      understudy lab stop os822 team07 --suspend
      understudy lab status os822
    """


@command.command(
    epilog="Example: understudy lab create os822 --base debian12.qcow2 --students students.csv"
)
@NAME
@click.option(
    "--base",
    "disk",
    required=True,
    type=FILE,
    metavar="FILE|debian",
    help="The image to clone, in qcow2; debian: make one from Debian's packages.",
)
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
@click.option(
    "--bandwidth",
    metavar="SIZE",
    help="Most bytes that a VM reads and writes on its disk in a second [default: no limit].",
)
@click.option("--pin", is_flag=True, help="Keep each VM on processors that share a cache.")
@with_kernel
@with_devices
@FOLDER
def create(
    name: str,
    disk: Path,
    file: Path,
    memory: str,
    cpus: int,
    quota: str | None,
    bandwidth: str | None,
    pin: bool,
    kernel: Path | None,
    initrd: Path | None,
    arguments: str,
    profile: str | None,
    disk_size: str | None,
    cards: tuple[str, ...],
    labs: Path,
) -> None:
    """Copy and seal an image, and make a clone of it for each team."""
    chosen = Settings(
        sizes.parse("--memory", memory, limits.MEMORY_MIN, limits.MEMORY_MAX) // MIB,
        cpus,
        quota_bytes(quota) if quota else None,
        pin,
        bandwidth_bytes(bandwidth) if bandwidth else None,
    )
    teams = students.teams(file)
    store.check_new(labs, name)
    source, own = Source(disk, kernel, initrd, arguments), disk == Path(DEBIAN)
    every = devices.chosen(profile, disk_size, cards, chosen.memory_mib * MIB)
    devices.check(every, None if own else source)
    with ExitStack() as made:
        if own:
            source = _debian(source, made.enter_context(scratch.folder("understudy-debian-")))
        if every:
            folder = made.enter_context(scratch.folder("understudy-devices-"))
            source = devices.added(every, source, folder)
        lab = store.create(labs, name, source, teams, chosen)
    count = sum(map(len, teams.values()))
    click.echo(f"{lab.folder}: {len(teams)} teams of {count} students", err=True)


@command.command(epilog="Example: understudy lab start os822 team07")
@NAME
@TEAM
@with_job
@FOLDER
def start(name: str, team: str, labs: Path, cluster: Request | None) -> None:
    """Start a team's VM: resume it if it is suspended, or boot it.

    The VM goes on when this command ends.
    """
    from understudy_devices.lab import start
    from understudy_devices.lab.hardware import Hardware
    from understudy_devices.platforms.vm import accelerator

    lab = store.read(labs, name)
    chosen = team_of(lab, team)
    if cluster:
        from understudy_devices.lab import placed

        def say(words: str) -> None:
            click.echo(f"{team}: {words}", err=True)

        say(placed.start(chosen, cluster, say))
        return
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
    from understudy_devices.lab import placed, stop

    if suspend and now:
        raise UserError("--suspend and --now: choose one")
    chosen = team_of(store.read(labs, name), team)
    if suspend:
        size = stop.suspend(chosen)
        click.echo(f"{team}: suspended, {megabytes(size)}", err=True)
    elif now:
        stop.cut_power(chosen)
        click.echo(f"{team}: ended", err=True)
    else:
        stop.power_off(chosen, seconds)
        click.echo(f"{team}: powered off", err=True)
    if left := placed.others(chosen):
        click.echo(f"note: {left}", err=True)


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
        by, on = (who.user, who.place) if who else ("", "")
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

    chosen = team_of(store.read(labs, name), team)
    words = f"{team}: {console.LEAVE_NAME} leaves the console"
    reason = console.attach(chosen, lambda: click.echo(words, err=True))
    click.echo(f"\n{team}: {reason}", err=True)


@command.command(epilog="Example: understudy lab log os822 team07 --lines 50")
@NAME
@click.argument("team", required=False)
@click.option("--lines", type=click.IntRange(0), help="Only the last lines.")
@click.option("--oopses", is_flag=True, help="Only where Linux has failed; without TEAM, of all.")
@FOLDER
def log(name: str, team: str | None, lines: int | None, oopses: bool, labs: Path) -> None:
    """Print what a VM's serial console has printed, also before the last start."""
    from understudy_devices.lab import console

    lab = store.read(labs, name)
    if oopses:
        _print_oopses(lab, team)
    elif team is None:
        raise UserError("name a team; only --oopses prints those of all teams")
    else:
        click.echo(plain(console.log(team_of(lab, team), lines)))


def _print_oopses(lab: store.Lab, team: str | None) -> None:
    """Print a team's oopses, or a line for each of all teams."""
    from understudy_devices.lab import console
    from understudy_devices.lab import oopses as reports

    if team:
        for each in reports.of(console.log(team_of(lab, team), None)):
            click.echo(plain("\n".join([*each.lines, ""])))
        return
    for every in lab.teams():
        try:
            text = console.log(every, None)
        except (RunFailed, OSError):  # it has printed nothing, or is private
            continue
        for each in reports.of(text):
            click.echo(plain(f"{every.name}: {each.title}"))


@command.command(epilog="Example: understudy lab check os822")
@NAME
@FOLDER
def check(name: str, labs: Path) -> None:
    """Compare every byte of a lab's sealed files with their checksums.

    A start checks only sizes, time stamps and samples.  After a lab was copied or moved, this
    command has to accept it once.
    """
    from understudy_devices.lab import booted, drive

    lab = store.read(labs, name)
    for base in lab.bases():
        base.check_fully()
        size = sum(seal.size for seal in base.seals.values())
        for machine in booted.all_of(base):
            machine.check_fully()
            size += machine.disk_bytes
        click.echo(f"{base.folder}: unchanged, {megabytes(size)}")
    for version in drive.all_of(lab):
        version.check_fully()
        click.echo(f"{version.folder}: unchanged, {megabytes(version.disk_bytes)}")


@command.command("disk", epilog="Example: understudy lab disk os822")
@NAME
@FOLDER
@JSON
def disk_command(name: str, labs: Path, as_json: bool) -> None:
    """Print what each team takes on disk, and what the clones save."""
    from understudy_devices.lab import disk_use

    use = disk_use.of(store.read(labs, name))
    if as_json:
        totals = {"total_bytes": use.total_bytes, "saved_bytes": use.saved_bytes}
        click.echo(json.dumps({"schema": DISK_SCHEMA, **asdict(use), **totals}, indent=2))
        return
    table = Table("MB", "base", *DISK_COLUMNS, box=None, pad_edge=False)
    for column in table.columns[1:]:
        column.justify = "right"
    for each in use.teams:
        sizes_of = (
            *(each.clone_bytes, each.snapshot_bytes, each.old_bytes),
            *(each.memory_bytes, each.total_bytes),
        )
        figures = (f"{size / 1e6:,.1f}" for size in sizes_of)
        table.add_row(each.team, str(each.base or "damaged"), *figures)
    Console(highlight=False).print(table)
    for number, size in use.base_bytes.items():
        click.echo(f"base {number}: {megabytes(size)}")
    if use.machine_bytes:
        click.echo(f"booted once for all: {megabytes(use.machine_bytes)}")
    for number, size in use.drive_bytes.items():
        click.echo(f"shared drive, version {number}: {megabytes(size)}")
    click.echo(
        f"in all {megabytes(use.total_bytes)}; an image for each team would take "
        f"{megabytes(use.saved_bytes)} more"
    )


@command.command("quota", epilog="Example: understudy lab quota os822 8GiB --team team07")
@NAME
@click.argument("size")
@click.option("--team", help="Only of this team [default: of all teams without their own].")
@FOLDER
def quota_command(name: str, size: str, team: str | None, labs: Path) -> None:
    """Set the most that a team's images may take, at once, also while its VM runs."""
    from understudy_devices.lab import quota

    lab, most = store.read(labs, name), quota_bytes(size)
    _set(quota.LIMIT, lab, team, most)
    click.echo(f"{team or 'all teams'}: {megabytes(most)}", err=True)


@command.command("bandwidth", epilog="Example: understudy lab bandwidth os822 20MiB --team team07")
@NAME
@click.argument("size")
@click.option("--team", help="Only of this team [default: of all teams without their own].")
@FOLDER
def bandwidth_command(name: str, size: str, team: str | None, labs: Path) -> None:
    """Set the most bytes that a VM reads and writes on its disk in a second, at once."""
    from understudy_devices.lab import bandwidth

    lab, most = store.read(labs, name), bandwidth_bytes(size)
    _set(bandwidth.LIMIT, lab, team, most)
    click.echo(f"{team or 'all teams'}: {megabytes(most)} a second", err=True)


def _set(limit: Limit, lab: store.Lab, team: str | None, most: int) -> None:
    if team is None:
        notes = limit.set_for_lab(lab, most)
    else:
        notes = limit.set_for_team(team_of(lab, team), most)
    for note in notes:
        click.echo(f"note: {note}", err=True)


@command.command(epilog="Example: understudy lab maintenance os822 on --reason 'new headers'")
@NAME
@click.argument("mode", type=click.Choice(["on", "off"]))
@click.option("--reason", default="", show_default=False, help="What the teams are told.")
@FOLDER
def maintenance(name: str, mode: str, reason: str, labs: Path) -> None:
    """Let no VM of a lab start, or let them start again.  VMs that run go on."""
    from understudy_devices.lab import maintenance

    lab = store.read(labs, name)
    if mode == "off":
        maintenance.end(lab)
        click.echo(f"{lab.name}: VMs start again", err=True)
        return
    maintenance.begin(lab, one_line(reason))
    every = [each.team for each in statuses.of_lab(lab) if each.state not in ("off", "suspended")]
    still = f"; these still run: {', '.join(every)}" if every else "; none runs"
    click.echo(f"{lab.name}: no VM starts{still}", err=True)


def _debian(options: Source, folder: Path) -> Source:
    """Make a base from Debian's packages in a temporary folder."""
    from understudy_devices.lab import debian

    if options.kernel or options.initrd or options.arguments:
        raise UserError("--base debian: it has its own kernel; leave --kernel and --initrd out")
    return debian.build(folder, lambda line: click.echo(f"{line} ...", err=True))


SINGLE = (boot_once, display_command, doctor_command, drive_command, plug_command)
for each in (*SINGLE, screenshot_command, submissions_command, *CHANGES):
    command.add_command(each)
