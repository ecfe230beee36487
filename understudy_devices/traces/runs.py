# SPDX-License-Identifier: MIT
"""Chooses one of the runs in a run folder's requests.parquet."""

from pathlib import Path

import polars as pl

from understudy_devices.base.errors import UserError
from understudy_devices.traces import rows

COLUMNS = {"scheduler", "seed"}

Run = tuple[str, int]
"""Scheduler and seed."""


def has_runs(frame: pl.DataFrame) -> bool:
    """Return whether the table has the columns that name each row's run."""
    return set(frame.columns) >= COLUMNS


def runs_in(frame: pl.DataFrame) -> list[Run]:
    """Return all runs, in the order of their first rows."""
    return frame.select("scheduler", "seed").unique(maintain_order=True).rows()


class Choice:
    """The choice of a run by FILE, FILE:SCHEDULER or FILE:SCHEDULER:SEED."""

    def __init__(self, text: str, scheduler: str | None, seed: str | None) -> None:
        """Begin without rows."""
        self._text, self._scheduler, self._seed = text, scheduler, seed
        self._seen: dict[Run, None] = {}

    def of(self, frame: pl.DataFrame, path: Path) -> pl.DataFrame:
        """Return the chosen run's rows."""
        if not has_runs(frame):
            if self._scheduler:
                raise UserError(f"{self._text}: the file has no runs to choose from")
            return frame
        frame = frame.with_columns(
            scheduler=rows.words(frame, "scheduler", path), seed=rows.integers(frame, "seed", path)
        )
        self._seen |= dict.fromkeys(runs_in(frame))
        name, number = pl.col("scheduler"), pl.col("seed").cast(pl.String)
        if self._scheduler is not None:
            frame = frame.filter(name == self._scheduler)
        return frame if self._seed is None else frame.filter(number == self._seed)

    def check(self) -> None:
        """Raise UserError if the table names runs and not exactly one is chosen; call this after
        all rows."""
        fitting = [
            (name, number)
            for name, number in self._seen
            if self._scheduler in (None, name) and self._seed in (None, str(number))
        ]
        if self._seen and len(fitting) != 1:
            known = ", ".join(f"{name}:{number}" for name, number in self._seen)
            raise UserError(
                f"{self._text}: name one run, as FILE:SCHEDULER:SEED; there are: {known}"
            )
