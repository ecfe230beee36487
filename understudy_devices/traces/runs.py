# SPDX-License-Identifier: MIT
"""Chooses one of the runs in a run folder's requests.parquet, or one of a file's volumes."""

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from understudy_devices.base.errors import UserError
from understudy_devices.traces import rows

NAMES_SHOWN = 12
COLUMNS = {"scheduler", "seed"}

Run = tuple[str, int]
"""Scheduler and seed."""


def has_runs(frame: pl.DataFrame) -> bool:
    """Return whether the table has the columns that name each row's run."""
    return set(frame.columns) >= COLUMNS


def runs_in(frame: pl.DataFrame) -> list[Run]:
    """Return all runs, in the order of their first rows."""
    return frame.select("scheduler", "seed").unique(maintain_order=True).rows()


def listed(names: Sequence[str]) -> str:
    """Return the first of the names, and how many more there are."""
    more = len(names) - NAMES_SHOWN
    return ", ".join([*names[:NAMES_SHOWN], *([f"and {more:,} more"] if more > 0 else [])])


class Choice:
    """The choice of a run by FILE, FILE:SCHEDULER or FILE:SCHEDULER:SEED, or by FILE:VOLUME."""

    def __init__(self, text: str, scheduler: str | None, seed: str | None) -> None:
        """Begin without rows."""
        self._text, self._scheduler, self._seed = text, scheduler, seed
        self._seen: dict[Run, None] = {}
        self._volumes: dict[str, None] = {}

    def of(self, frame: pl.DataFrame, path: Path) -> pl.DataFrame:
        """Return the rows of the chosen run or volume."""
        if not has_runs(frame):
            if rows.VOLUME in frame.columns:
                return self._of_volume(frame, path)
            if self._scheduler:
                raise UserError(f"{self._text}: the file has no runs or volumes to choose from")
            return frame
        frame = frame.with_columns(
            scheduler=rows.words(frame, "scheduler", path), seed=rows.integers(frame, "seed", path)
        )
        self._seen |= dict.fromkeys(runs_in(frame))
        name, number = pl.col("scheduler"), pl.col("seed").cast(pl.String)
        if self._scheduler is not None:
            frame = frame.filter(name == self._scheduler)
        return frame if self._seed is None else frame.filter(number == self._seed)

    @property
    def _volume(self) -> str | None:
        """Return the name of the chosen volume, which may contain colons."""
        if not self._volumes or self._scheduler is None:
            return None
        return self._scheduler if self._seed is None else f"{self._scheduler}:{self._seed}"

    def _of_volume(self, frame: pl.DataFrame, path: Path) -> pl.DataFrame:
        names = rows.volumes(frame, path)
        if names is None:
            return frame
        self._volumes |= dict.fromkeys(names.unique(maintain_order=True))
        if self._volume is None:
            return frame
        return frame.filter(names == self._volume)

    def counts(self, volume: str | None) -> bool:
        """Return whether what was left out of a volume, or of the file (None), is left out of the
        chosen part.
        """
        return volume is None or self._scheduler is None or volume == self._volume

    def check(self) -> None:
        """Raise UserError if the table names runs and not exactly one is chosen, or if the chosen
        volume is not in it; call this after all rows."""
        if self._volume and self._volume not in self._volumes:
            raise UserError(f"{self._text}: no such volume; there are: {listed([*self._volumes])}")
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
