# SPDX-License-Identifier: MIT
"""`understudy lab boot-once`: boots a base once, so that first starts resume it."""

from pathlib import Path

import click

from understudy_devices.cli.lab_options import FOLDER, NAME, megabytes
from understudy_devices.lab import store


@click.command("boot-once", epilog="Example: understudy lab boot-once os822")
@NAME
@click.option(
    "--seconds",
    type=click.FloatRange(1, 86400),
    default=1200.0,
    help="How long to wait for the guest's agent.",
)
@FOLDER
def boot_once(name: str, seconds: float, labs: Path) -> None:
    """Boot the newest base once, and save the machine: first starts of teams resume it.

    The guest needs QEMU's guest agent (Debian: qemu-guest-agent).  Give the command again after an
    upgrade of QEMU, after a rebase, and after a change of the shared drive.
    """
    from understudy_devices.lab import booted, drive
    from understudy_devices.lab.hardware import Hardware
    from understudy_devices.platforms.vm import accelerator

    lab = store.read(labs, name)
    base = lab.bases()[-1]
    hardware = Hardware(lab.settings, accelerator.best(), drive=drive.current(lab))
    machine = booted.make(base, lab.name, hardware, seconds)
    size = megabytes(machine.disk_bytes)
    click.echo(f"{lab.name}: base {base.folder.name} has booted, {size}", err=True)
