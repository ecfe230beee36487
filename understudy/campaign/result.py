# SPDX-License-Identifier: MIT
"""A run folder: result.json, requests.parquet, report.html.

result.json's schema is understudy.result/1; requests.parquet holds every
bio of every run as recorded, times not divided by the scale.  The folder
is empty while the runs go on, then whole, or it is gone again; nothing that
exists is written over.
"""

import json
import os
import platform as machine
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from itertools import chain, count
from pathlib import Path
from typing import Any

import polars as pl

from understudy import __version__
from understudy.ask.experiment import Experiment, Outcome
from understudy.base import scratch
from understudy.base.errors import RunFailed, UserError
from understudy.base.paths import runs_dir
from understudy.measure.comparison import Comparison
from understudy.measure.metrics import Summary, summarise
from understudy.papers import reproduction
from understudy.papers.tables import PaperTable

SCHEMA = "understudy.result/1"
HIDDEN = ".understudy-"


@dataclass(frozen=True)
class Result:
    """Everything that one command found out."""

    command: str
    outcomes: tuple[Outcome, ...]
    failures: Mapping[str, str] = field(default_factory=dict)  # schedulers that failed, and how

    @cached_property
    def summaries(self) -> list[Summary]:
        """The runs as figures, in their order."""
        return [summarise(outcome) for outcome in self.outcomes]

    @cached_property
    def comparison(self) -> Comparison:
        """The same by scheduler and seed."""
        return Comparison(self.summaries)

    @property
    def platform(self) -> str:
        """Where all of it was run."""
        return self.experiment.platform.name

    @property
    def experiment(self) -> Experiment:
        """Any one of the experiments: they differ in scheduler and seed only."""
        return self.outcomes[0].experiment

    @cached_property
    def paper(self) -> PaperTable | None:
        """The papers' table of the same question."""
        asked = self.experiment
        return reproduction.table_beside(
            asked.workload.name, asked.device.disk.name, self.comparison.schedulers
        )

    def as_json(self) -> dict[str, Any]:
        """The content of result.json."""
        document = {
            "schema": SCHEMA,
            "inputs": inputs(self.command, [outcome.experiment for outcome in self.outcomes]),
            "environment": environment(self.outcomes),
            "runs": [
                {**summary.as_json(), "facts": outcome.facts}
                for summary, outcome in zip(self.summaries, self.outcomes, strict=True)
            ],
            "comparison": self.comparison.as_json(),
        }
        if self.failures:
            document["failed"] = dict(self.failures)
        if self.paper:
            document["paper"] = reproduction.as_json(self.paper, self.comparison)
        return document


def inputs(command: str, experiments: Sequence[Experiment]) -> dict[str, Any]:
    """All that it takes to repeat the runs."""
    first = experiments[0]
    asked = {name: value for name, value in first.columns().items() if value is not None}
    return {
        "command": command,
        **asked,
        "disk": first.device.disk.model_dump(mode="json"),
        "schedulers": list(dict.fromkeys(run.scheduler.name for run in experiments)),
        "seeds": list(dict.fromkeys(run.seed for run in experiments)),
        "tunables": {
            run.scheduler.name: dict(run.scheduler.tunables)
            for run in experiments
            if run.scheduler.tunables
        },
    }


def environment(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Versions that the bytes depend on, and the processors that the wall seconds do."""
    facts = outcomes[0].facts
    return {
        "understudy": __version__,
        "python": machine.python_version(),
        "machine": machine.machine(),
        "processors": os.cpu_count(),
        "kernel": facts.get("kernel_version"),
        "qemu": facts.get("qemu_version"),
        **facts.get("versions", {}),
    }


def requests_table(outcomes: Sequence[Outcome]) -> pl.DataFrame:
    """Every bio of every run, with the scheduler and the seed in front."""
    return pl.concat(
        outcome.requests.select(
            pl.lit(outcome.experiment.scheduler.name).alias("scheduler"),
            pl.lit(outcome.experiment.seed, dtype=pl.Int64).alias("seed"),
            pl.all(),
        )
        for outcome in outcomes
    )


@contextmanager
def reserved(out: Path | None, experiment: Experiment) -> Iterator[Path]:
    """The run folder to be: a new one, or an empty one, empty until `write` replaces it.

    What can't be written is refused here, before any run.  What is empty in the end is
    taken away again.
    """
    with scratch.unless_filled() as made:
        try:
            folder = _default(experiment, made) if out is None else _named(out, made)
            with scratch.folder(HIDDEN, folder.parent):
                pass
        except OSError as error:
            raise UserError(
                f"--out: cannot write {out or runs_dir()}: {error.strerror}; try another"
            ) from error
        except RunFailed as error:
            raise UserError(f"--out: {error}; try another") from error
        yield folder


def _named(out: Path, made: scratch.Reserved) -> Path:
    if out.exists() and not (out.is_dir() and not any(out.iterdir())):
        raise UserError(f"--out: {out} already holds something; name a new folder or remove it")
    _make(out, made)
    return out


def _default(experiment: Experiment, made: scratch.Reserved) -> Path:
    """A name says when and what; of several runs that begin at once each gets its own."""
    now = datetime.now().strftime("%Y%m%d-%H%M%S")
    name = f"{now}-{experiment.workload.name}-{experiment.device.disk.name}"
    _make(runs_dir(), made)
    names = chain([name], (f"{name}-{number}" for number in count(2)))
    return next(folder for other in names if made.new(folder := runs_dir() / other))


def _make(folder: Path, made: scratch.Reserved) -> None:
    """With its parents."""
    for place in (*reversed(folder.parents), folder):
        made.new(place)


def write(result: Result, folder: Path, report_html: str) -> None:
    """Write all three files, then put the folder in its place."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RunFailed(f"cannot write {folder}: {error.strerror}; try another --out") from error
    with scratch.folder(HIDDEN, folder.parent) as partial:
        _fill(partial, result, report_html)
        partial.chmod(0o755)
        partial.rename(folder)


def _fill(folder: Path, result: Result, report_html: str) -> None:
    document = json.dumps(result.as_json(), indent=2, ensure_ascii=False, allow_nan=False)
    (folder / "result.json").write_text(document + "\n", encoding="utf-8")
    requests_table(result.outcomes).write_parquet(folder / "requests.parquet")
    (folder / "report.html").write_text(report_html, encoding="utf-8")
