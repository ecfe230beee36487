# SPDX-License-Identifier: MIT
"""The result of `predict` and `compare`: requests, measures with intervals, picks, trust."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, reduce
from operator import and_
from os import PathLike
from pathlib import Path
from typing import Any

import polars as pl

from understudy_devices.base import run_folder
from understudy_devices.campaign import result
from understudy_devices.campaign.result import Result
from understudy_devices.measure.metrics import MORE_MEASURES, PAPER_MEASURES
from understudy_devices.measure.trust import Trust
from understudy_devices.recommend.choice import Choice

MEASURES = {
    "platform": pl.String,
    "scheduler": pl.String,
    "measure": pl.String,
    "unit": pl.String,
    "mean": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "seeds": pl.Int64,
}


@dataclass(frozen=True)
class Pick:
    """The scheduler to pick for a goal, and those that cannot be told apart from it."""

    platform: str
    goal: str
    best: str | None  # None: no scheduler is among the best by all measures of the goal
    tied: tuple[str, ...]
    sentence: str

    def __str__(self) -> str:
        """Return the sentence."""
        return self.sentence


@dataclass(frozen=True, repr=False)
class Prediction:
    """The runs of several schedulers, on one platform or several.

    `command` is the shell command that does the same.  `failures` has the schedulers that failed,
    each with the reason.  `notices` says what else the user should know.  `answers` has the runs
    by platform.
    """

    command: str
    answers: Mapping[str, Result]
    failures: Mapping[str, str] = field(default_factory=dict)
    notices: tuple[str, ...] = ()
    ranked: bool = False  # shown with a row for each scheduler, best first
    files: Mapping[str, pl.DataFrame] = field(default_factory=dict)  # that the command needs

    @cached_property
    def requests(self) -> pl.DataFrame:
        """Return a row for each request of each run, with the columns of requests.parquet after
        the platform (docs/method.md)."""
        return pl.concat(
            result.requests_table(answer.outcomes).select(
                pl.lit(platform).alias("platform"), pl.all()
            )
            for platform, answer in self.answers.items()
        )

    @cached_property
    def measures(self) -> pl.DataFrame:
        """Return a row for each platform, scheduler and measure.

        `low` and `high` are the limits of the mean's 95 % interval over the seeds; they are null
        for a single seed.  `measure` is a key of result.json, and ends with the unit.
        """
        rows = [
            row for platform, answer in self.answers.items() for row in _measured(platform, answer)
        ]
        return pl.DataFrame(rows, schema=MEASURES, orient="row")

    @property
    def picks(self) -> tuple[Pick, ...]:
        """Return the recommended schedulers; none if the results are known to be wrong."""
        return tuple(
            _pick(platform, choice)
            for platform, answer in self.answers.items()
            for choice in answer.picks
        )

    @property
    def trust(self) -> Trust:
        """Return the lowest trust of the platforms."""
        return reduce(and_, (answer.verdict for answer in self.answers.values()))

    @property
    def trusted(self) -> bool | None:
        """Return True if everything was checked and is within the limits, None if something was
        not checked, and False if something is outside its limits."""
        return self.trust.trusted

    @property
    def because(self) -> tuple[str, ...]:
        """Return what was not checked, or is outside its limits."""
        return self.trust.because

    def as_json(self) -> dict[str, Any]:
        """Return the content of result.json; for several platforms, by platform."""
        documents = {platform: answer.as_json() for platform, answer in self.answers.items()}
        return documents if len(documents) > 1 else next(iter(documents.values()))

    def write(self, folder: str | PathLike[str]) -> Path:
        """Write a new run folder, as --out does; for several platforms, a folder for each."""
        with run_folder.reserved(Path(folder), "") as place:
            for platform, answer in self.answers.items():
                several = len(self.answers) > 1
                write_one(answer, place / platform if several else place, self.files)
        return Path(folder)

    def __repr__(self) -> str:
        """Return the tables and sentences that the command prints."""
        from understudy_devices.show import predicted

        return predicted.text(self.answers, self.notes, ranked=self.ranked)

    def _repr_html_(self) -> str:
        """Return a table and a picture for a notebook."""
        from understudy_devices.show import predicted

        return predicted.html(self.command, self.answers, self.notes, ranked=self.ranked)

    @property
    def notes(self) -> tuple[str, ...]:
        """Return the failures and the notices."""
        return (*self.failures.values(), *self.notices)


def write_one(answer: Result, place: Path, files: Mapping[str, pl.DataFrame]) -> None:
    """Write the run folder of one platform, with more tables in it."""
    from understudy_devices.show import report

    result.write(answer, place, report.render(answer), files)


def _measured(platform: str, answer: Result) -> list[tuple[Any, ...]]:
    compared = answer.comparison
    rows = []
    for scheduler in compared.schedulers:
        for measure in filter(compared.saw, (*PAPER_MEASURES, *MORE_MEASURES)):
            found = compared.estimate(scheduler, measure)
            figures = (found.mean, *found.limits, len(compared.seeds))
            rows.append((platform, scheduler, measure.key, measure.unit, *figures))
    return rows


def _pick(platform: str, choice: Choice) -> Pick:
    return Pick(platform, choice.goal, choice.best, choice.tied, choice.sentence())
