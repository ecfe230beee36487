# SPDX-License-Identifier: MIT
"""`understudy lab plug`: gives a running VM a virtual card."""

from pathlib import Path

import click

from understudy_devices.cli.lab_options import FOLDER, NAME, TEAM
from understudy_devices.lab import store


@click.command("plug", epilog="Example: understudy lab plug os822 team07 nvme")
@NAME
@TEAM
@click.argument("card")
@click.option(
    "--seconds",
    type=click.FloatRange(0, 86400),
    default=600.0,
    help="How long to wait for a guest that boots.",
)
@FOLDER
def plug_command(name: str, team: str, card: str, seconds: float, labs: Path) -> None:
    """Plug a virtual card into a VM that runs, until it boots again.

    The guest needs QEMU's guest agent, and the kernel of --base debian.
    """
    from understudy_devices.lab import plug

    plug.plug(store.read(labs, name).team(team), card, seconds)
    click.echo(f"{team}: has the card {card}", err=True)
