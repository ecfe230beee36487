# SPDX-License-Identifier: MIT
"""`understudy predict`: how schedulers do on a disk you don't have (PERFORM 2010, 4 to 6)."""

import click

from understudy import catalog, profile, schedulers
from understudy.cli.options import Settings, with_settings
from understudy.cli.session import carry_out
from understudy.workload import WORKLOADS

EXAMPLE = "Example: understudy predict --workload random --writes 30 --schedulers cats,mq-deadline"


@click.command("predict", epilog=EXAMPLE)
@click.option("--disk", default="cheetah-15k4", help="NAME in profiles/, or FILE.toml.")
@click.option("--workload", default="surge-direct", help=f"One of {', '.join(WORKLOADS)}.")
@click.option("--schedulers", "names", default="cats,mq-deadline,bfq,none", help="Comma-separated.")
@click.option("--processes", type=int, help="How many [default: the workload's own].")
@click.option("--writes", type=int, default=0, help="Percent of writes (random only).")
@with_settings
@click.pass_obj
def command(
    line: str,
    disk: str,
    workload: str,
    names: str,
    processes: int | None,
    writes: int,
    settings: Settings,
) -> None:
    """Predict how I/O schedulers do on a disk you don't have.

    Boots a stock kernel once for each scheduler, with a virtual disk that keeps
    the time of the disk in question, and compares what the workload saw.
    """
    experiments = settings.experiments(
        disk=profile.load(disk),
        workload=catalog.pick("workload", workload, WORKLOADS),
        schedulers=schedulers.parse(names),
        processes=processes,
        writes_percent=writes,
    )
    carry_out(line, settings, experiments)
