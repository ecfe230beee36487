# SPDX-License-Identifier: MIT
"""`understudy consolidate --self-check`: compare predictions with a kernel's response times."""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from understudy_devices.base import parquet, run_folder, scratch
from understudy_devices.campaign import self_check
from understudy_devices.campaign.self_check import CONFIGURATIONS, DISK
from understudy_devices.cli.progress import bars, phases
from understudy_devices.cli.session import console
from understudy_devices.consolidation.prediction import Effort
from understudy_devices.device import profile


def carry_out(
    line: str,
    configurations: Sequence[str],
    effort: Effort,
    seed: int,
    jobs: int,
    out: Path | None,
    as_json: bool,
) -> None:
    """Run the VMs of each configuration alone and together; print predicted and measured times."""
    from understudy_devices.show import self_checked  # Matplotlib takes half a second

    plans = self_check.plans(configurations or list(CONFIGURATIONS))
    disk = profile.load(DISK)
    assert disk.array
    click.echo(f"$ {line}", err=True)
    with (
        run_folder.reserved(out, "self-check") as folder,
        scratch.folder("understudy-self-check-") as workspace,
    ):
        runs = {plan: self_check.experiment(plan, disk, seed) for plan in plans}
        names = {id(experiment): str(plan) for plan, experiment in runs.items()}
        with bars(len(runs), lambda experiment: names[id(experiment)]) as progress:
            outcomes = self_check.measured(runs, jobs, progress.prepare, progress.run)
        with phases("self-check") as report:
            checks = self_check.held(outcomes, disk.array.servers, effort, workspace, seed, report)
        document: dict[str, Any] = self_check.as_json(line, seed, outcomes, checks)
        if as_json:
            click.echo(json.dumps(document, indent=2))
        else:
            self_checked.show(checks, console())
        with run_folder.filled(folder) as partial:
            run_folder.write(partial, document, self_checked.render(document, checks))
            parquet.write(self_check.requests_table(outcomes), partial / "requests.parquet")
            shutil.copytree(workspace / self_check.TRACES, partial / self_check.TRACES)
    for doubt in self_checked.doubts(checks):
        click.echo(f"understudy: {doubt}", err=True)
    click.echo(f"wrote {folder}: result.json, requests.parquet, report.html, traces/", err=True)
