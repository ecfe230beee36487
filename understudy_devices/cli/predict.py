# SPDX-License-Identifier: MIT
"""`understudy predict`: predict how schedulers perform on a disk you don't have (PERFORM 2010,
sections 4 to 6)."""

import click

from understudy_devices.api.options import DISK, WORKLOAD
from understudy_devices.ask import schedulers
from understudy_devices.ask.workloads import WORKLOADS
from understudy_devices.cli.options import Grouped, Typed, with_settings

EXAMPLE = "Example: understudy predict --workload random --processes 20 --writes 30"


@click.command("predict", cls=Grouped, epilog=EXAMPLE)
@click.option("--disk", default=DISK, help="NAME in profiles/, or FILE.toml.")
@click.option("--workload", default=WORKLOAD, help=f"One of {', '.join(WORKLOADS)}, or ./mine.c.")
@click.option(
    "--schedulers",
    "names",
    help="Comma-separated, or all [default: "
    + "; ".join(f"{names} on {platform}" for platform, names in schedulers.DEFAULTS.items())
    + "].",
)
@with_settings()
@click.pass_obj
def command(
    line: str,
    disk: str,
    workload: str,
    names: str | None,
    typed: Typed,
) -> None:
    """Predict how I/O schedulers perform on a disk you don't have.

    By default the simulator predicts in less than a second. --on vm boots a stock kernel for each
    scheduler, with a virtual disk that has the timing of the chosen disk, and compares the
    response times of the workload's requests.
    """
    # These take a tenth of a second, and TAB on an option needs neither.
    from understudy_devices.api.predict import ask
    from understudy_devices.cli.session import carry_out

    question = ask(
        "predict", disk=disk, workload=workload, schedulers=names, command=line, **typed.options
    )
    carry_out(question, typed)
