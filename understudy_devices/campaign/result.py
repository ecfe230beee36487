# SPDX-License-Identifier: MIT
"""A run folder: result.json, requests.parquet, report.html.

The schema of result.json is understudy.result/1.  requests.parquet holds every bio of every run as
recorded, so its times are not divided by the scale.
"""

import os
import platform as machine
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, reduce
from hashlib import sha256
from operator import and_
from pathlib import Path
from typing import Any

import polars as pl

from understudy_devices import __version__
from understudy_devices.ask.experiment import Experiment, Outcome
from understudy_devices.ask.schedulers import SIMULATED
from understudy_devices.base import parquet, run_folder
from understudy_devices.base.paths import ROOT
from understudy_devices.campaign import second_run
from understudy_devices.measure.comparison import Comparison
from understudy_devices.measure.metrics import Summary, summarise
from understudy_devices.measure.trust import Trust
from understudy_devices.native import registry
from understudy_devices.papers import reproduction
from understudy_devices.papers.tables import PaperTable
from understudy_devices.recommend import choice, verdict
from understudy_devices.recommend.choice import TAIL, Choice

SCHEMA = "understudy.result/1"


@dataclass(frozen=True)
class Result:
    """All results of one command."""

    command: str
    outcomes: tuple[Outcome, ...]
    failures: Mapping[str, str] = field(default_factory=dict)  # schedulers that failed, and why

    @cached_property
    def summaries(self) -> list[Summary]:
        """Return the figures of the runs, in order."""
        return [summarise(outcome) for outcome in self.outcomes]

    @cached_property
    def comparison(self) -> Comparison:
        """Return the figures by scheduler and seed."""
        return Comparison(self.summaries)

    @cached_property
    def verdict(self) -> Trust:
        """Return whether to trust the results."""
        device, is_open = self.experiment.device, self.experiment.workload.is_open
        trust = verdict.verdict(device.disk, device.at_once, self.summaries, is_open=is_open)
        each = {outcome.experiment.scheduler.name: outcome.experiment for outcome in self.outcomes}
        return reduce(and_, map(second_run.trust, each.values()), trust)

    @cached_property
    def picks(self) -> tuple[Choice, ...]:
        """Return the recommended schedulers; none if runs or profile are known to be wrong."""
        if self.verdict.trusted is False:
            return ()
        picks = choice.choices(self.comparison)
        return tuple(pick for pick in picks if pick.goal != TAIL or not self.verdict.tail_because)

    @property
    def platform(self) -> str:
        """Return the platform of all runs."""
        return self.experiment.platform.name

    @property
    def experiment(self) -> Experiment:
        """Return one of the experiments; they differ only in scheduler and seed."""
        return self.outcomes[0].experiment

    @cached_property
    def inputs(self) -> dict[str, Any]:
        """Return everything needed to repeat the runs."""
        return inputs(self.command, [outcome.experiment for outcome in self.outcomes])

    @cached_property
    def paper(self) -> PaperTable | None:
        """Return the papers' table for the same workload and disk, if there is one."""
        experiment = self.experiment
        return reproduction.table_beside(
            experiment.workload.name, experiment.device.disk.name, self.comparison.schedulers
        )

    def as_json(self) -> dict[str, Any]:
        """Return the content of result.json."""
        document = {
            "schema": SCHEMA,
            "inputs": self.inputs,
            "environment": environment(self.outcomes),
            "runs": [
                {**summary.as_json(), "facts": outcome.facts}
                for summary, outcome in zip(self.summaries, self.outcomes, strict=True)
            ],
            "comparison": choice.as_json(self.comparison, self.picks),
            **self.verdict.as_json(),
        }
        if self.failures:
            document["failed"] = dict(self.failures)
        if self.paper:
            document["paper"] = reproduction.as_json(self.paper, self.comparison)
        return document


def inputs(command: str, experiments: Sequence[Experiment]) -> dict[str, Any]:
    """Return everything needed to repeat the runs."""
    first = experiments[0]
    policies = first.policies().values()
    columns = {name: value for name, value in first.columns().items() if value is not None}
    return {
        "command": command,
        **columns,
        "disk": first.device.disk.model_dump(mode="json"),
        "schedulers": list(dict.fromkeys(run.scheduler.name for run in experiments)),
        "sources": {
            name: sha256(registry.source(known).text).hexdigest()
            for name in dict.fromkeys(run.scheduler.name for run in experiments)
            if registry.known(known := SIMULATED.get(name, name))
        }
        | {policy.name: sha256(policy.file.text).hexdigest() for policy in policies},
        "seeds": list(dict.fromkeys(run.seed for run in experiments)),
        "tunables": {
            run.scheduler.name: dict(run.scheduler.tunables)
            for run in experiments
            if run.scheduler.tunables
        }
        | {policy.name: dict(policy.tunables) for policy in policies if policy.tunables},
    }


def environment(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Return the software versions and the host's number of processors, for the record."""
    facts = outcomes[0].facts if outcomes else {}
    return {
        "understudy": __version__,
        "commit": commit(),
        "python": machine.python_version(),
        "machine": machine.machine(),
        "processors": os.cpu_count(),
        "kernel": facts.get("kernel_version"),
        "qemu": facts.get("qemu_version"),
        **facts.get("versions", {}),
    }


@cache
def commit() -> str | None:
    """Return the checkout's commit, followed by -dirty if a file is changed; None if unknown."""
    command = ["git", "-c", "safe.directory=*", "-C", str(ROOT)]
    command += ["describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    environment = {**os.environ, "GIT_CEILING_DIRECTORIES": str(ROOT.parent)}
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()


def requests_table(outcomes: Sequence[Outcome]) -> pl.DataFrame:
    """Return a table of every bio of every run; its first columns are scheduler and seed."""
    return pl.concat(
        outcome.requests.select(
            pl.lit(outcome.experiment.scheduler.name).alias("scheduler"),
            pl.lit(outcome.experiment.seed, dtype=pl.Int64).alias("seed"),
            pl.all(),
        )
        for outcome in outcomes
    )


def label(experiment: Experiment) -> str:
    """Return the label for a run folder's name."""
    return f"{experiment.workload.name}-{experiment.device.disk.name}"


def write(
    result: Result, folder: Path, report_html: str, more: Mapping[str, pl.DataFrame] | None = None
) -> None:
    """Write all three files, and more tables by name, into a temporary folder, which then replaces
    `folder`."""
    with run_folder.filled(folder) as partial:
        run_folder.write(partial, result.as_json(), report_html)
        tables = {"requests.parquet": requests_table(result.outcomes), **(more or {})}
        for name, frame in tables.items():
            parquet.write(frame, partial / name)
