# SPDX-License-Identifier: MIT
"""`understudy lab plug`: gives a running VM a virtual card, or a disk with a profile's timing."""

from pathlib import Path

import click

from understudy_devices.base.errors import UserError
from understudy_devices.cli.lab_devices import DISK_SIZE, disk_of
from understudy_devices.cli.lab_options import FOLDER, NAME, TEAM, team_of
from understudy_devices.lab import store
from understudy_devices.lab.settings import MIB


@click.command("plug", epilog="Example: understudy lab plug os822 team07 --disk cheetah-15k4")
@NAME
@TEAM
@click.option("--card", metavar="NAME|FILE.yaml", help="A virtual card, such as nvme.")
@click.option("--disk", help="A disk with the timing of this profile, such as cheetah-15k4.")
@click.option("--size", help=f"Size of the disk [{DISK_SIZE}]; its data is in the guest's memory.")
@click.option(
    "--seconds",
    type=click.FloatRange(0, 86400),
    default=600.0,
    help="How long to wait for a guest that boots.",
)
@FOLDER
def plug_command(
    name: str,
    team: str,
    card: str | None,
    disk: str | None,
    size: str | None,
    seconds: float,
    labs: Path,
) -> None:
    """Plug a virtual card or a timed disk into a VM that runs, until it boots again.

    The guest needs QEMU's guest agent, and the kernel of --base debian.
    """
    from understudy_devices.lab import devices, plug

    chosen = team_of(store.read(labs, name), team)
    if not card and not disk:
        raise UserError("name a --card or a --disk")
    if size and not disk:
        raise UserError("--size goes with --disk")
    if disk:
        memory_bytes = chosen.lab.settings.memory_mib * MIB
        plug.plug(chosen, disk_of(disk, "--size", size, memory_bytes), seconds)
        click.echo(f"{team}: has the disk {disk} as /dev/{devices.DISK.disk}", err=True)
    if card:
        plug.plug(chosen, devices.card(card), seconds)
        click.echo(f"{team}: has the card {card}", err=True)
