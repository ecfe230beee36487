# SPDX-License-Identifier: MIT
"""`understudy card demo`: show a card at work in a VM, with pictures and the register log."""

from pathlib import Path

import click

from understudy_devices.base.plain import plain
from understudy_devices.cards import specification
from understudy_devices.cli.names import Names
from understudy_devices.cli.progress import phases
from understudy_devices.referee.demo import demonstrate


@click.command(epilog="Example: understudy card demo zach1 --out demo")
@click.argument("name", metavar="NAME|FILE.yaml", type=Names(specification.catalogue))
@click.option(
    "--out",
    metavar="FOLDER",
    default=None,
    type=click.Path(path_type=Path),
    help="Folder for the pictures and the log; default: NAME-demo.",
)
@click.option(
    "--vnc",
    type=click.IntRange(0, 59635),
    metavar="N",
    help="Show the card as VNC display N of this machine, each picture for five seconds: "
    "vncviewer localhost:N.",
)
def demo(name: str, out: Path | None, vnc: int | None) -> None:
    """Boot a VM with a card, load its reference driver, and run a demonstration.

    Writes the pictures of a graphics card (frame-*.png), and register-log.txt, which lists each
    load and store of the driver with the register's name, each interrupt and each transfer.
    """
    folder = out or Path(f"{Path(name).stem}-demo")
    with phases(name) as report:
        demonstration = demonstrate(name, folder, vnc, lambda line: report(line, 0.5))
    click.echo(plain(demonstration.said.strip()))
    click.echo(f"{demonstration.accesses} accesses; in {folder}:")
    for file in demonstration.files:
        click.echo(f"  {file.name}")
