# SPDX-License-Identifier: MIT
"""The differences between two platforms' figures for the same experiment, measure by measure.

A difference is a fraction of the second platform's figure.  With several seeds it is the difference
of the means, with the 95 % interval of the paired differences (measure.comparison).
"""

from dataclasses import dataclass

from rich.console import Console

from understudy_devices.campaign.result import Result
from understudy_devices.measure.comparison import Estimate, estimate
from understudy_devices.measure.metrics import PAPER_MEASURES, Measure
from understudy_devices.show.grid import Grid

MEASURES = (
    *PAPER_MEASURES,
    Measure("p50_response_ms", "p50 response", "ms"),
    Measure("p95_response_ms", "p95 response", "ms"),
    Measure("p99_response_ms", "p99 response", "ms"),
    Measure("p999_response_ms", "p99.9 response", "ms"),
    Measure("max_response_ms", "longest response", "ms"),
)


@dataclass(frozen=True)
class Pair:
    """One measure of one scheduler on both platforms."""

    scheduler: str
    measure: Measure
    first: float
    second: float
    difference: Estimate  # first - second, over the seeds

    def share(self, difference: float) -> float:
        """Return a difference as a fraction of the second platform's figure."""
        return difference / self.second if self.second else 0.0


def pairs(first: Result, second: Result) -> list[Pair]:
    """Return a row for each measure of each scheduler that ran on both platforms."""
    one, other = first.comparison, second.comparison
    both = [name for name in other.schedulers if name in one.schedulers]
    return [_pair(name, measure, first, second) for measure in MEASURES for name in both]


def _pair(name: str, measure: Measure, first: Result, second: Result) -> Pair:
    values = [
        [run.value(measure) for run in result.comparison.runs(name)] for result in (first, second)
    ]
    return Pair(
        name,
        measure,
        estimate(values[0]).mean,
        estimate(values[1]).mean,
        estimate([one - other for one, other in zip(*values, strict=True)]),
    )


def show(first: Result, second: Result, console: Console) -> None:
    """Print the table."""
    grid(first, second).show(console)


def grid(first: Result, second: Result) -> Grid:
    """Return the table."""
    differences = pairs(first, second)
    names = list(dict.fromkeys(pair.scheduler for pair in differences))
    rows = [
        (measure.label, [_cell(pair) for pair in differences if pair.measure == measure])
        for measure in MEASURES
    ]
    return Grid(names, [rows], f"{first.platform} against {second.platform}")


def _cell(pair: Pair) -> str:
    mean, half_width = pair.difference.mean, pair.difference.half_width
    interval = "" if half_width is None else f" ± {pair.share(half_width):.1%}"
    return f"{pair.share(mean):+.1%}{interval}"
