# SPDX-License-Identifier: MIT
"""The table of a sweep: the schedulers of each disk and workload, best first."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import polars as pl
from rich import box
from rich.console import Console
from rich.table import Table

from understudy_devices.campaign import sweep
from understudy_devices.measure.comparison import Comparison, Estimate
from understudy_devices.show import notebook, table
from understudy_devices.show.grid import Grid

MEASURE = table.RANKED[0]
HEADINGS = ("disk", "workload", "scheduler", f"{MEASURE.label} ({MEASURE.unit})", "")


@dataclass(frozen=True)
class Line:
    """The result of a scheduler on one disk with one workload, over all seeds."""

    disk: str
    workload: str
    scheduler: str
    mean: Estimate | None  # None: requests arrive faster than the disk can serve them
    utilisation: float | None  # the load that arrives, if `mean` is None
    verdict: str

    def as_json(self) -> dict[str, Any]:
        """Return the line's entry in the output of --json."""
        mean = {"mean": None, "half_width": None} if self.mean is None else asdict(self.mean)
        return {**asdict(self), **mean}


def groups(frame: pl.DataFrame) -> list[list[Line]]:
    """Return the lines of each disk with each workload."""
    return [_lines(rows) for _, rows in frame.group_by("disk", "workload", maintain_order=True)]


def show(frame: pl.DataFrame, seeds: int, console: Console) -> None:
    """Print the table and the sentences below it."""
    printed = Table(*HEADINGS, box=box.HORIZONTALS)
    for group in groups(frame):
        for line in group:
            printed.add_row(*_cells(line))
        printed.add_section()
    console.print(printed)
    for sentence in sentences(frame, seeds):
        console.print(sentence, soft_wrap=True, markup=False, emoji=False)


def html(command: str, frame: pl.DataFrame, seeds: int, notes: Sequence[str]) -> str:
    """Return the same as a piece of a page."""
    rows = [[(line.disk, _cells(line)[1:]) for line in group] for group in groups(frame)]
    section = notebook.Section(
        f"{frame.height:,} runs", [Grid(HEADINGS[1:], rows)], sentences(frame, seeds)
    )
    return notebook.html(command, [section], notes)


def sentences(frame: pl.DataFrame, seeds: int) -> list[str]:
    """Return the sentences below the table."""
    one = ["one seed: no intervals; --seeds 10 says which schedulers can be told apart"]
    return [*verdicts(frame), *(one if seeds == 1 else [])]


def _cells(line: Line) -> tuple[str, ...]:
    mean = table.number(line.mean) if line.mean else sweep.UNSTABLE
    return (line.disk, line.workload, line.scheduler, mean, line.verdict)


def trusted(rows: pl.DataFrame) -> bool | None:
    """Return the verdict on the least trusted run."""
    states = set(rows["trusted"])
    return False if False in states else None if None in states else True


def verdicts(frame: pl.DataFrame) -> list[str]:
    """Return the reasons against trusting results, each once, with the results that it concerns."""
    stable = frame.filter(status=sweep.STABLE)
    reasons = (
        f"{disk}, {workload}: {because}"
        for disk, workload, because in stable.select("disk", "workload", "because").rows()
        if because
    )
    return list(dict.fromkeys(reasons))


def _overload(load: float | None) -> str:
    """Return the text for an overloaded disk; the load is None if no request was served."""
    prefix = "" if load is None else f"load {load:.2f}: "
    return f"{prefix}more than the disk can serve"


def _lines(rows: pl.DataFrame) -> list[Line]:
    """Return the lines of one disk with one workload, a line for each scheduler.

    A scheduler has a mean response time only if no seed's run was overloaded.
    """
    place = (rows["disk"][0], rows["workload"][0])
    loads = dict(
        rows.filter(status=sweep.UNSTABLE)
        .group_by("scheduler", maintain_order=True)
        .agg(pl.col("utilisation").max())
        .rows()
    )
    unstable = [Line(*place, name, None, load, _overload(load)) for name, load in loads.items()]
    stable = rows.filter(~pl.col("scheduler").is_in(list(loads)))
    if not stable.height:
        return unstable
    compared = Comparison(sweep.summaries(stable))
    ranked = [
        Line(*place, name, compared.estimate(name, MEASURE), None, verdict)
        for name, (_, verdict, *_) in table.ranked(compared, trusted=trusted(stable))
    ]
    return [*ranked, *unstable]
