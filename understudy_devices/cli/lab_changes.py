# SPDX-License-Identifier: MIT
"""Sub-commands of `understudy lab` that change a team's disk while its VM does not run."""

from pathlib import Path

import click

from understudy_devices.base import scratch
from understudy_devices.base.errors import RunFailed, UserError
from understudy_devices.cli import lab_devices as devices
from understudy_devices.cli.lab_devices import with_devices
from understudy_devices.cli.lab_options import (
    FILE,
    FOLDER,
    NAME,
    TEAM,
    megabytes,
    team_of,
    with_kernel,
)
from understudy_devices.lab import changes, owner, store
from understudy_devices.lab.base_image import Source
from understudy_devices.lab.settings import MIB


@click.command(epilog="Example: understudy lab snapshot os822 team07 before-lab-3")
@NAME
@TEAM
@click.argument("label", required=False)
@click.option("--drop", is_flag=True, help="Remove the snapshot.")
@FOLDER
def snapshot(name: str, team: str, label: str | None, drop: bool, labs: Path) -> None:
    """Keep the state of a team's disk under a name; without a name, list the snapshots."""
    chosen = team_of(store.read(labs, name), team)
    if label is None:
        if drop:
            raise UserError("--drop: name the snapshot")
        with owner.acting(chosen.folder):
            names = changes.snapshots(chosen)
        for each in names:
            click.echo(each)
    elif drop:
        changes.forget(chosen, label)
        click.echo(f"{team}: snapshot {label} is removed", err=True)
    else:
        changes.take(chosen, label)
        click.echo(f"{team}: {chosen.words('undo')} {label} goes back to here", err=True)


@click.command(epilog="Example: understudy lab undo os822 team07 before-lab-3")
@NAME
@TEAM
@click.argument("label", required=False)
@FOLDER
def undo(name: str, team: str, label: str | None, labs: Path) -> None:
    """Go back to a snapshot, by default the last one that the disk is based on.

    What was written since then is lost.
    """
    back = changes.undo(team_of(store.read(labs, name), team), label)
    click.echo(f"{team}: as at the snapshot {back}", err=True)


@click.command(epilog="Example: understudy lab reset os822 team07")
@NAME
@TEAM
@FOLDER
def reset(name: str, team: str, labs: Path) -> None:
    """Give a team a new clone of its base.  Snapshots stay; all else that it wrote is lost."""
    changes.reset(team_of(store.read(labs, name), team))
    click.echo(f"{team}: as on the first day", err=True)


@click.command(epilog="Example: understudy lab rebase os822 --base debian13.qcow2")
@NAME
@click.option("--base", "disk", type=FILE, help="Add this image first, in qcow2.")
@with_kernel
@with_devices
@FOLDER
def rebase(
    name: str,
    disk: Path | None,
    kernel: Path | None,
    initrd: Path | None,
    arguments: str,
    profile: str | None,
    disk_size: str | None,
    cards: tuple[str, ...],
    labs: Path,
) -> None:
    """Give all teams a clone of a new base: of --base, or of the one that was added last.

    The former clone stays, as a second, read-only disk, until `understudy lab drop`.  A team whose
    VM runs stays where it is: give the command again, without --base.
    """
    lab = store.read(labs, name)
    if disk:
        source = Source(disk, kernel, initrd, arguments)
        every = devices.chosen(profile, disk_size, cards, lab.settings.memory_mib * MIB)
        devices.check(every, source)
        if lab.bases()[-1].devices and not every:
            click.echo(
                "note: without --disk and --card, VMs of this base have no devices", err=True
            )
        with scratch.folder("understudy-devices-") as folder:
            if every:
                source = devices.added(every, source, folder)
            base = changes.add_base(lab, source)
    elif kernel or initrd or arguments or profile or disk_size or cards:
        raise UserError("--kernel, --initrd, --kernel-arguments, --disk, --card go with --base")
    else:
        base = lab.bases()[-1]
    moved, failures = 0, []
    for team in lab.teams():
        try:
            moved += changes.rebase(team, base)
        except RunFailed as error:
            failures.append(str(error))
        except OSError as error:
            failures.append(f"{error.filename or team.folder}: {error.strerror or error}")
    click.echo(f"{moved} teams have a clone of {base.name}", err=True)
    if failures:
        lines = "\n".join(f"  {each}" for each in failures)
        raise RunFailed(f"{len(failures)} teams stay where they are:\n{lines}")


@click.command(epilog="Example: understudy lab drop os822 team07")
@NAME
@TEAM
@FOLDER
def drop(name: str, team: str, labs: Path) -> None:
    """Remove a team's clone of the former base, after a rebase."""
    changes.drop_old(team_of(store.read(labs, name), team))
    click.echo(f"{team}: the clone of the former base is removed", err=True)


@click.command("flatten", epilog="Example: understudy lab flatten os822 team07")
@NAME
@TEAM
@FOLDER
def flatten_command(name: str, team: str, labs: Path) -> None:
    """Make a team's clone independent of its snapshots, which can then be removed."""
    from understudy_devices.lab import flatten
    from understudy_devices.lab.hardware import Hardware

    lab = store.read(labs, name)
    grown = flatten.flatten(team_of(lab, team), Hardware(lab.settings, "tcg"))
    click.echo(
        f"{team}: its clone needs no snapshot, and has grown by {megabytes(grown)}", err=True
    )


CHANGES = (snapshot, undo, reset, rebase, drop, flatten_command)
