# SPDX-License-Identifier: MIT
"""`understudy compare`: schedulers ranked, over many seeds, in the simulator."""

from dataclasses import replace

import click
from click.core import ParameterSource

from understudy.ask import schedulers
from understudy.ask.workloads import WORKLOADS
from understudy.base import catalog
from understudy.cli.options import Settings, with_settings
from understudy.cli.session import Asked, carry_out
from understudy.device import profile
from understudy.show import table

SEEDS = 10
EXAMPLE = "Example: understudy compare --schedulers all --workload random --processes 20"


@click.command("compare", epilog=EXAMPLE)
@click.option("--disk", default="cheetah-15k4", help="NAME in profiles/, or FILE.toml.")
@click.option("--workload", default="surge-direct", help=f"One of {', '.join(WORKLOADS)}.")
@click.option("--schedulers", "names", default="all", help="Comma-separated, or all.")
@with_settings
@click.pass_context
def command(
    context: click.Context,
    disk: str,
    workload: str,
    names: str,
    settings: Settings,
) -> None:
    """Rank schedulers by mean response, and say which cannot be told apart.

    As predict, but with ten seeds unless --seeds says otherwise, and a row for each
    scheduler.  All of them see the same draws for the same seed.
    """
    if context.get_parameter_source("seeds") is ParameterSource.DEFAULT:
        settings = replace(settings, seeds=SEEDS)
    asked = Asked(
        disk=profile.load(disk),
        workload=catalog.pick("workload", workload, WORKLOADS),
        schedulers=schedulers.parse(names),
    )
    carry_out(context.obj, settings, asked, layout=table.ranking)
