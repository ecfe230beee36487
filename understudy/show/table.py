# SPDX-License-Identifier: MIT
"""The papers' table (PERFORM 2010 Tables 2 and 3), for a terminal and for the report.

Rows are measures, columns schedulers.  `rows` is the table as text; the rest
lays it out with Rich.  Figures of several seeds are means with half the width
of their 95 % interval; counts and seconds are sums over the seeds.
"""

from collections.abc import Callable

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from understudy.ask.experiment import Experiment
from understudy.campaign.result import Result
from understudy.measure.comparison import Comparison, Estimate
from understudy.measure.metrics import MORE_MEASURES, PAPER_MEASURES, Measure
from understudy.papers import reproduction
from understudy.papers.tables import STAND_IN_NOTE, PaperTable

# Fields of Summary below the measures: label, how to show the sum over the seeds.
TOTALS = {
    "requests": ("requests", ",.0f"),
    "dispatched": ("sent to the disk", ",.0f"),
    "merged": ("merged into others", ",.0f"),
    "late": ("late", ",.0f"),
    "stale": ("chosen while busy", ",.0f"),
    "device_seconds": ("disk seconds", ",.2f"),
    "virtual_seconds": ("virtual seconds", ",.1f"),
    "boot_wall_seconds": ("wall seconds to boot", ",.1f"),
    "measure_wall_seconds": ("wall seconds to measure", ",.1f"),
    "wall_seconds": ("wall seconds in all", ",.1f"),
}

# Figures of TOTALS that a simulation can't have.
OF_A_KERNEL = ("late", "stale", "virtual_seconds", "boot_wall_seconds", "wall_seconds")

COLUMNS_MAX = 6
RANKED = (
    Measure("mean_response_ms", "mean response", "ms"),
    Measure("p95_response_ms", "p95 response", "ms"),
    Measure("p99_response_ms", "p99 response", "ms"),
    Measure("mean_service_ms", "mean service", "ms"),
    Measure("throughput_sectors_per_ms", "throughput", "sectors/ms", higher_is_better=True),
)

Layout = Callable[[Comparison], Table]
Rows = list[tuple[str, list[str]]]


def rows(comparison: Comparison) -> list[Rows]:
    """The table as text, in three blocks: papers' measures, further measures, totals."""
    return [
        [_measure_row(comparison, measure) for measure in PAPER_MEASURES],
        [_measure_row(comparison, measure) for measure in MORE_MEASURES],
        [
            (label, [_total(comparison, name, key, shown) for name in comparison.schedulers])
            for key, (label, shown) in TOTALS.items()
            if comparison.platform != "sim" or key not in OF_A_KERNEL
        ],
    ]


def _measure_row(comparison: Comparison, measure: Measure) -> tuple[str, list[str]]:
    cells = [number(comparison.estimate(name, measure)) for name in comparison.schedulers]
    return f"{measure.label} ({measure.unit})", cells


def number(estimate: Estimate) -> str:
    """Two decimals, as in the papers, with the interval if there is one."""
    interval = "" if estimate.half_width is None else f" ± {estimate.half_width:,.2f}"
    return f"{estimate.mean:,.2f}{interval}"


def _total(comparison: Comparison, scheduler: str, key: str, shown: str) -> str:
    return format(sum(getattr(run, key) for run in comparison.runs(scheduler)), shown)


def headline(experiment: Experiment, seeds: int, platform: str) -> str:
    """The experiment's sentence, without the scheduler."""
    where = (
        "simulated"
        if platform == "sim"
        else f"in a VM, {experiment.platform.clock} clock, k = {experiment.platform.scale:g}"
    )
    draws = f"seed {experiment.seed}" if seeds == 1 else f"{seeds} seeds"
    workload = experiment.workload
    processes = "1 process" if workload.processes == 1 else f"{workload.processes} processes"
    return (
        f"{workload.name} on {experiment.device.disk.name}: "
        f"{workload.measured(experiment.requests):,} requests, "
        f"{', '.join([processes, *workload.told(), draws])}; {where}"
    )


def show(result: Result, console: Console, layout: Layout | None = None) -> None:
    """Print the whole answer; unless told, in the layout that fits the schedulers."""
    comparison = result.comparison
    console.print(
        headline(result.experiment, len(comparison.seeds), result.platform), soft_wrap=True
    )
    fits = ranking if is_wide(comparison) else by_measure
    console.print((layout or fits)(comparison))
    if result.paper:
        console.print(_paper_table(result.paper, comparison))
        console.print(STAND_IN_NOTE, soft_wrap=True)
    for sentence in sentences(result):
        console.print(escape(sentence), soft_wrap=True, highlight=False)


def by_measure(comparison: Comparison) -> Table:
    """The papers' way: a row for each measure."""
    table = _lean(None, "", *comparison.schedulers)
    for column in table.columns[1:]:
        column.justify = "right"
    for block in rows(comparison):
        for label, cells in block:
            table.add_row(label, *cells)
        table.add_section()
    return table


def is_wide(comparison: Comparison) -> bool:
    """Are there too many schedulers for a column each?"""
    return len(comparison.schedulers) > COLUMNS_MAX


def ranked(comparison: Comparison) -> Rows:
    """For each scheduler, the best mean response first: figures, and what sets it apart."""
    order = comparison.ranks(RANKED[0])
    names = sorted(comparison.schedulers, key=lambda name: order[name])
    return [
        (
            name,
            [
                *(number(comparison.estimate(name, measure)) for measure in RANKED),
                _against(comparison, name, names[0]),
            ],
        )
        for name in names
    ]


def ranking(comparison: Comparison) -> Table:
    """A row for each scheduler."""
    table = _lean(None, "", *(f"{measure.label}\n({measure.unit})" for measure in RANKED), "")
    for column in table.columns[1:-1]:
        column.justify = "right"
    for name, cells in ranked(comparison):
        table.add_row(name, *cells)
    return table


def _against(comparison: Comparison, name: str, best: str) -> str:
    """What can be said of a scheduler's mean response beside the best one's."""
    if name == best:
        return "best"
    if comparison.difference(name, best, RANKED[0]).includes_zero:
        return f"tied with {best}"
    return ""


def _lean(title: str | None, *headers: str) -> Table:
    """A table that fits a narrow terminal."""
    return Table(*headers, title=title, box=box.HORIZONTALS, pad_edge=False, collapse_padding=True)


def sentences(result: Result) -> list[str]:
    """What to pick, then what the shadow caches were worth."""
    comparison = result.comparison
    shadows = (
        reproduction.shadow_sentence(comparison, name, result.experiment.workload.name)
        for name in comparison.schedulers
        if any(run.predicted for run in comparison.runs(name))
    )
    picks = [choice.sentence() for choice in comparison.choices()]
    return [*picks, *(sentence for sentence in shadows if sentence)]


def _paper_table(paper: PaperTable, comparison: Comparison) -> Table:
    table = _lean(f"{paper.title} (rank in brackets)", "", "from", *paper.real, "ranks")
    for row in reproduction.rows(paper, comparison):
        first = row.source == reproduction.OURS
        if first:
            table.add_section()
        cells = [f"{row.values[name]:,.2f} ({row.ranks[name]})" for name in paper.real]
        table.add_row(row.measure.label if first else "", row.source, *cells, row.verdict)
    for column in table.columns[2:5]:
        column.justify = "right"
    return table
