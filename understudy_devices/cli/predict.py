# SPDX-License-Identifier: MIT
"""`understudy predict`: predict how schedulers perform on a disk you don't have (PERFORM 2010,
sections 4 to 6)."""

import click

from understudy_devices.ask import schedulers
from understudy_devices.ask.workloads import WORKLOADS
from understudy_devices.cli.options import Grouped, Settings, with_settings, workload_of
from understudy_devices.cli.session import Asked, carry_out
from understudy_devices.device import profile

EXAMPLE = "Example: understudy predict --workload random --processes 20 --writes 30"


@click.command("predict", cls=Grouped, epilog=EXAMPLE)
@click.option("--disk", default="cheetah-15k4", help="NAME in profiles/, or FILE.toml.")
@click.option(
    "--workload", default="surge-direct", help=f"One of {', '.join(WORKLOADS)}, or ./mine.c."
)
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
    settings: Settings,
) -> None:
    """Predict how I/O schedulers perform on a disk you don't have.

    By default the simulator predicts in less than a second. --on vm boots a stock kernel for each
    scheduler, with a virtual disk that has the timing of the chosen disk, and compares the
    response times of the workload's requests.
    """
    chosen = schedulers.DEFAULTS[settings.platforms[-1]] if names is None else names
    disk_profile = profile.load(disk)
    workload_class, settings = workload_of(workload, settings)
    selection = Asked(
        disk=disk_profile,
        workload=workload_class,
        schedulers=schedulers.parse(chosen, disk_profile),
    )
    carry_out(line, settings, selection)
