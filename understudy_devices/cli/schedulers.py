# SPDX-License-Identifier: MIT
"""`understudy schedulers`: list the schedulers and their tunables."""

import json
from dataclasses import asdict

import click

from understudy_devices.ask import schedulers
from understudy_devices.ask.schedulers import KERNEL, SIMULATED
from understudy_devices.cli.session import console
from understudy_devices.show.grid import Grid

TUNABLES = ("tunable", "default", "from", "to", "what it is")
WORDS = ("what it is", "tunable")


@click.command("schedulers", epilog="Example: understudy schedulers --json")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")
def command(as_json: bool) -> None:
    """List the schedulers for --schedulers, and their tunables for --set.

    This project's schedulers run everywhere; the kernel's own run in a VM (--on vm) and on a disk
    of this machine.
    """
    declarations = schedulers.declarations()
    if as_json:
        ours = {name: asdict(one) | {"kernel": False} for name, one in declarations.items()}
        kernel = {name: {"name": name, "kernel": True, "tunables": []} for name in KERNEL}
        click.echo(json.dumps(list((ours | kernel).values()), indent=2))
        return
    our_rows = [(name, (one.summary,)) for name, one in declarations.items()]
    kernel_rows = [(name, (_of_kernel(name),)) for name in KERNEL]
    Grid(("what it is",), [our_rows, kernel_rows], words=WORDS).show(console())
    rows = [
        [
            (name, (each.name, f"{each.initial}", f"{each.min}", f"{each.max}", each.help))
            for each in one.tunables
        ]
        for name, one in declarations.items()
    ]
    Grid(TUNABLES, [block for block in rows if block], words=WORDS).show(console())
    click.echo("--set SCHEDULER.TUNABLE=VALUE sets a tunable; its name ends with its unit")


def _of_kernel(name: str) -> str:
    other = SIMULATED.get(name)
    return "the kernel's own" + (f"; the simulator runs {other} instead" if other else "")
