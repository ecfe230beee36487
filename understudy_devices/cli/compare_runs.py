# SPDX-License-Identifier: MIT
"""`understudy compare-runs`: compare runs on a disk with their prediction (PERFORM 2010, Tables 2
and 3)."""

import json
from pathlib import Path

import click

from understudy_devices.campaign import result_files
from understudy_devices.cli.session import console
from understudy_devices.measure.agreement import Agreement, agreement
from understudy_devices.measure.metrics import PAPER_MEASURES, Measure
from understudy_devices.show import agreement as shown

SCHEMA = "understudy.comparison/1"
MEASURES = (*PAPER_MEASURES, Measure("p99_response_ms", "p99 response", "ms"))
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
    first, second = result_files.load(real), result_files.load(virtual)
    names, seeds = result_files.common(first, second)
    sides = [side.comparison(names, seeds) for side in (first, second)]
    measures = [each for each in MEASURES if all(side.saw(each) for side in sides)]
    agreements = [agreement(sides[0], sides[1], names, measure) for measure in measures]
    for doubt in result_files.doubts(first, second):
        click.echo(doubt, err=True)
    if alone := sorted({*first.schedulers, *second.schedulers} - {*names}):
        click.echo(f"left out, because only one folder has them: {', '.join(alone)}", err=True)
    if as_json:
        click.echo(json.dumps(_document(first, second, seeds, agreements), indent=2))
    else:
        shown.show(first, second, agreements, seeds, console())


def _document(
    real: result_files.Kept,
    virtual: result_files.Kept,
    seeds: list[int],
    agreements: list[Agreement],
) -> dict[str, object]:
    return {
        "schema": SCHEMA,
        "real": {"folder": str(real.folder), "platform": real.platform, "disk": real.disk},
        "virtual": {
            "folder": str(virtual.folder),
            "platform": virtual.platform,
            "disk": virtual.disk,
        },
        "seeds": seeds,
        "measures": [each.as_json() for each in agreements],
    }
