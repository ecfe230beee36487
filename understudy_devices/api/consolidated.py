# SPDX-License-Identifier: MIT
"""The answer of `consolidate`."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl
from rich.console import Console

from understudy_devices.api.answered import Answered
from understudy_devices.base import parquet

MEASURES = {
    "change": pl.String,
    "vm": pl.String,
    "measure": pl.String,
    "unit": pl.String,
    "mean": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "replications": pl.Int64,
}


@dataclass(frozen=True, repr=False)
class Consolidated(Answered):
    """The response times of VMs alone and together.

    `replications` has a row for each VM in each simulation of the given scenario.
    """

    command: str
    document: Mapping[str, Any]
    replications: pl.DataFrame
    show: Callable[[Console], None]
    text: str  # what `show` prints
    html: str
    page: str  # report.html
    notices: tuple[str, ...] = ()

    @cached_property
    def measures(self) -> pl.DataFrame:
        """Return a row for each VM and measure; `change` is empty for the given scenario.

        `low` and `high` are the limits of the mean's 95 % interval over the simulations.
        """
        answers = [{"change": "", **self.document}, *self.document["what_if"]]
        rows = [
            (one["change"], each["name"], measure, "ms", mean, *ends, one["replications"])
            for one in answers
            for each in one["vms"]
            for measure, mean, ends in _measured(each)
        ]
        return pl.DataFrame(rows, schema=MEASURES, orient="row")

    def write_tables(self, folder: Path) -> None:
        """Write the table of replications."""
        parquet.write(self.replications, folder / "replications.parquet")


def _measured(each: Mapping[str, Any]) -> list[tuple[str, float, Sequence[float | None]]]:
    """Return the measures of one VM in result.json: name, mean, limits."""
    unknown = (None, None)
    rows: list[tuple[str, float, Sequence[float | None]]] = []
    for place in ("alone", "together"):
        for key, value in each[place].items():
            if key.endswith("response_ms"):
                is_mean = place == "together" and key == "mean_response_ms"
                ends = (each[place]["ci95_ms"] or unknown) if is_mean else unknown
                rows.append((f"{place}_{key}", value, ends))
    return rows
