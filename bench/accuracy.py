# SPDX-License-Identifier: MIT
"""How exactly the throttle keeps the modelled disk's time.

Random 4 KiB reads by one process, on every controller in the virtual clock (the
default virtual disk at its default size, QEMU's at the papers' 73.4 GB) and on the
default one in wall clock at k = 8:

* lateness: mean of completion - due at block_rq_complete, in % of the mean service;
* process: what the process itself saw around pread, against the model for the same
  sequence of reads, in %.

    python -m bench.accuracy
"""

from dataclasses import dataclass

import click

from understudy.ask.experiment import Experiment, asked
from understudy.ask.schedulers import Choice
from understudy.ask.setting import Clock
from understudy.ask.workloads import WORKLOADS
from understudy.device import profile
from understudy.measure import metrics
from understudy.platforms.vm import in_vm

DEFAULT_SIZE = 1430 * 2**20
PAPER_SIZE = 73_400_000_512 // 4096 * 4096


@dataclass(frozen=True)
class Case:
    """One line of the table."""

    controller: str
    size: int
    clock: Clock = "virtual"
    scale: float = 1
    requests: int = 5000


CASES = (
    Case("vdisk", DEFAULT_SIZE),
    Case("lsi53c895a", PAPER_SIZE),
    Case("null_blk", 2**30),
    Case("virtio-scsi", PAPER_SIZE),
    Case("virtio-blk", PAPER_SIZE),
    Case("vdisk", DEFAULT_SIZE, "wall", 8, requests=1000),
)


def experiment(case: Case, scheduler: str = "mq-deadline") -> Experiment:
    """Random reads by one process."""
    return asked(
        WORKLOADS["random"],
        Choice(scheduler),
        profile.load("cheetah-15k4"),
        "vm",
        requests=case.requests,
        virtual_bytes=case.size,
        clock=case.clock,
        scale=float(case.scale),
        controller=case.controller,
    )


def measure(case: Case) -> dict[str, str]:
    """Run one case and describe it."""
    outcome = in_vm.run(experiment(case), lambda phase, fraction: None)
    summary = metrics.summarise(outcome)
    model = summary.mean_model_service_ms
    seen = outcome.facts["witness"]["processes"]["mean_response_ms"] / case.scale
    return {
        "controller": case.controller,
        "GB": f"{case.size / 1e9:.1f}",
        "clock": case.clock,
        "k": f"{case.scale:g}",
        "reads": str(case.requests),
        "model (ms)": f"{model:.4f}",
        "lateness (%)": f"{100 * summary.mean_lateness_ms / model:.3f}",
        "process (%)": f"{100 * (seen / model - 1):+.3f}",
        "late": str(summary.late),
        "stale": str(summary.stale),
        "virtual s / wall s": f"{summary.virtual_seconds / summary.measure_wall_seconds:.1f}",
    }


@click.command()
@click.option("--only", help="Only cases of this controller.")
def main(only: str | None) -> None:
    """Print the table, a line as soon as it is measured."""
    cases = [case for case in CASES if only in (None, case.controller)]
    for number, case in enumerate(cases):
        row = measure(case)
        if not number:
            click.echo("| " + " | ".join(row) + " |")
            click.echo("|" + " --- |" * len(row))
        click.echo("| " + " | ".join(row.values()) + " |")


if __name__ == "__main__":
    main()
