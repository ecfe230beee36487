# SPDX-License-Identifier: MIT
"""`understudy compare`: rank schedulers by simulations with many seeds."""

import click

from understudy_devices.api.options import DISK, SEEDS, WORKLOAD
from understudy_devices.ask.workloads import WORKLOADS
from understudy_devices.cli.options import Grouped, Typed, with_settings

EXAMPLE = "Example: understudy compare --schedulers all --workload random --processes 20"


@click.command("compare", cls=Grouped, epilog=EXAMPLE)
@click.option("--disk", default=DISK, help="NAME in profiles/, or FILE.toml.")
@click.option("--workload", default=WORKLOAD, help=f"One of {', '.join(WORKLOADS)}, or ./mine.c.")
@click.option("--schedulers", "names", default="all", help="Comma-separated, or all.")
@with_settings(seeds=SEEDS)
@click.pass_obj
def command(line: str, disk: str, workload: str, names: str, typed: Typed) -> None:
    """Rank schedulers by mean response time, and say which cannot be told apart.

    Like predict, but with several seeds and a row for each scheduler.  With the same seed all
    schedulers get the same random draws.  With 95 % confidence the best scheduler is among
    those named: the intervals are corrected for the number of schedulers compared.
    """
    # These take a tenth of a second, and TAB on an option needs neither.
    from understudy_devices.api.predict import ask
    from understudy_devices.cli.session import carry_out

    question = ask(
        "compare", disk=disk, workload=workload, schedulers=names, command=line, **typed.options
    )
    carry_out(question, typed)
