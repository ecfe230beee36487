# SPDX-License-Identifier: MIT
"""`understudy compare-runs`: compare runs on a disk with their prediction (PERFORM 2010, Tables 2
and 3)."""

import json
from pathlib import Path

import click

from understudy_devices.api import agreed
from understudy_devices.cli.session import console
from understudy_devices.show import agreement as shown

FOLDER = click.Path(path_type=Path, readable=False)


@click.command("compare-runs", epilog="Example: understudy compare-runs runs/measured runs/vm")
@click.argument("real", type=FOLDER)
@click.argument("virtual", type=FOLDER)
@click.option("--json", "as_json", is_flag=True, help="Print the comparison as JSON.")
def command(real: Path, virtual: Path, as_json: bool) -> None:
    """Compare the runs of one folder with those of another, with errors and ranks.

    REAL is the reference: a run folder of understudy measure, or of any platform.  VIRTUAL is
    compared with it.  Both folders must have the same workload and options.  Only schedulers and
    seeds in both folders are compared.
    """
    compared = agreed.compare(real, virtual)
    for doubt in compared.doubts:
        click.echo(doubt, err=True)
    if compared.alone:
        left_out = ", ".join(compared.alone)
        click.echo(f"left out, because only one folder has them: {left_out}", err=True)
    if as_json:
        click.echo(json.dumps(compared.as_json(), indent=2))
    else:
        sides = compared.real, compared.virtual
        shown.show(*sides, compared.agreements, compared.seeds, console())
