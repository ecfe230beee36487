# SPDX-License-Identifier: MIT
"""`understudy compare`: rank schedulers by simulations with many seeds."""

import click

from understudy_devices.ask import schedulers
from understudy_devices.ask.workloads import WORKLOADS
from understudy_devices.cli.options import Grouped, Settings, with_settings, workload_of
from understudy_devices.cli.session import Asked, carry_out
from understudy_devices.device import profile
from understudy_devices.show import table

SEEDS = 10
EXAMPLE = "Example: understudy compare --schedulers all --workload random --processes 20"


@click.command("compare", cls=Grouped, epilog=EXAMPLE)
@click.option("--disk", default="cheetah-15k4", help="NAME in profiles/, or FILE.toml.")
@click.option(
    "--workload", default="surge-direct", help=f"One of {', '.join(WORKLOADS)}, or ./mine.c."
)
@click.option("--schedulers", "names", default="all", help="Comma-separated, or all.")
@with_settings(seeds=SEEDS)
@click.pass_obj
def command(line: str, disk: str, workload: str, names: str, settings: Settings) -> None:
    """Rank schedulers by mean response time, and say which cannot be told apart.

    Like predict, but with several seeds and a row for each scheduler.  With the same seed all
    schedulers get the same random draws.  With 95 % confidence the best scheduler is among
    those named: the intervals are corrected for the number of schedulers compared.
    """
    disk_profile = profile.load(disk)
    workload_class, settings = workload_of(workload, settings)
    selection = Asked(
        disk=disk_profile,
        workload=workload_class,
        schedulers=schedulers.parse(names, disk_profile),
    )
    carry_out(line, settings, selection, layout=table.ranking)
