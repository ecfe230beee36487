# SPDX-License-Identifier: MIT
"""How fast a virtual-clock run is: seconds of the modelled disk for each wall second.

Boot and measurement are apart.  "random" is one process reading 4 KiB at random;
SURGE is the papers' 50 processes and 50,000 requests.  Run it on an idle machine.

    python -m bench.speed
"""

import click

from bench.accuracy import DEFAULT_SIZE, Case, experiment
from understudy.ask.experiment import Experiment, asked
from understudy.ask.schedulers import Choice
from understudy.ask.workloads import WORKLOADS
from understudy.measure import metrics
from understudy.platforms.vm import in_vm

SINGLE = experiment(Case("vdisk", DEFAULT_SIZE, requests=20_000), "none")


def surge(scheduler: str, requests: int) -> Experiment:
    """The papers' workload with the default disk."""
    disk = SINGLE.device.disk
    return asked(WORKLOADS["surge-direct"], Choice(scheduler), disk, "vm", requests=requests)


@click.command()
@click.option("--requests", default=50_000, help="For SURGE.")
def main(requests: int) -> None:
    """Print the table, a line as soon as it is measured."""
    click.echo("| run | requests | boot (wall s) | measured (wall s) | disk s | disk s / wall s |")
    click.echo("| --- | --- | --- | --- | --- | --- |")
    runs = {"random, 1 process, none": SINGLE}
    for scheduler in ("cats", "mq-deadline", "bfq", "none"):
        runs[f"surge-direct, 50 processes, {scheduler}"] = surge(scheduler, requests)
    for name, run in runs.items():
        summary = metrics.summarise(in_vm.run(run, lambda phase, fraction: None))
        click.echo(
            f"| {name} | {run.requests} | {summary.boot_wall_seconds:.1f} "
            f"| {summary.measure_wall_seconds:.1f} | {summary.device_seconds:.1f} "
            f"| {summary.device_seconds / summary.measure_wall_seconds:.1f} |"
        )


if __name__ == "__main__":
    main()
