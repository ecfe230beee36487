# SPDX-License-Identifier: MIT
"""`understudy predict`: how schedulers do on a disk you don't have (PERFORM 2010, 4 to 6)."""

from typing import Any

import click

from understudy.ask import schedulers
from understudy.ask.workload import WORKLOADS
from understudy.base import catalog
from understudy.cli.options import Settings, with_settings, with_workload
from understudy.cli.session import carry_out
from understudy.device import profile

EXAMPLE = "Example: understudy predict --workload random --processes 20 --writes 30"


@click.command("predict", epilog=EXAMPLE)
@click.option("--disk", default="cheetah-15k4", help="NAME in profiles/, or FILE.toml.")
@click.option("--workload", default="surge-direct", help=f"One of {', '.join(WORKLOADS)}.")
@click.option(
    "--schedulers",
    "names",
    help="Comma-separated, or all [default: "
    + "; ".join(f"{names} on {platform}" for platform, names in schedulers.DEFAULTS.items())
    + "].",
)
@with_workload
@with_settings
@click.pass_obj
def command(
    line: str,
    disk: str,
    workload: str,
    names: str | None,
    of_workload: dict[str, Any],
    settings: Settings,
) -> None:
    """Predict how I/O schedulers do on a disk you don't have.

    In the simulator, at once; with --on vm it boots a stock kernel once for each
    scheduler, with a virtual disk that keeps the time of the disk in question, and
    compares what the workload saw.
    """
    experiments = settings.experiments(
        disk=profile.load(disk),
        workload=catalog.pick("workload", workload, WORKLOADS),
        schedulers=schedulers.parse(
            schedulers.DEFAULTS[settings.platforms[-1]] if names is None else names
        ),
        **of_workload,
    )
    carry_out(line, settings, experiments)
