# SPDX-License-Identifier: MIT
"""`understudy consolidate --self-check`: compare predictions with a kernel's response times."""

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from understudy_devices import platforms
from understudy_devices.ask.experiment import Experiment, Outcome
from understudy_devices.base import parquet, run_folder, scratch
from understudy_devices.base.errors import RunFailed
from understudy_devices.campaign import parallel, self_check
from understudy_devices.campaign.self_check import CONFIGURATIONS, DISK, Plan, Vms
from understudy_devices.cli.progress import bars, phases
from understudy_devices.cli.session import console
from understudy_devices.consolidation.prediction import Effort
from understudy_devices.device import profile

Outcomes = Mapping[tuple[str, Vms], Sequence[Outcome]]


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
        outcomes = _measured(runs, jobs)
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


def _measured(runs: Mapping[Plan, Experiment], jobs: int) -> Outcomes:
    platform = platforms.load("vm")
    experiments = list(runs.values())
    platform.check(experiments)
    names = {id(experiment): str(plan) for plan, experiment in runs.items()}
    with bars(len(experiments), lambda experiment: names[id(experiment)]) as progress:
        platform.prepare(experiments, progress.prepare)
        outcomes, failures = parallel.run_all(platform, experiments, jobs, progress.run)
    if failures:
        raise RunFailed("; ".join(failures.values()))
    return {
        (plan.configuration, plan.vms): [outcome]
        for plan, outcome in zip(runs, outcomes, strict=True)
    }
