# SPDX-License-Identifier: MIT
"""The papers' table (PERFORM 2010 Tables 2 and 3), for a terminal and for the report.

Rows are measures, columns schedulers.  `rows` returns the cells as text; the other functions lay
them out with Rich.  Figures of several seeds are means with half the width of their 95 %
interval; counts and seconds are sums over the seeds.
"""

import math
from collections.abc import Callable, Sequence

from rich.console import Console
from rich.markup import escape

from understudy_devices.ask.experiment import Experiment
from understudy_devices.campaign.result import Result
from understudy_devices.measure.comparison import Comparison, Estimate
from understudy_devices.measure.metrics import MORE_MEASURES, PAPER_MEASURES, Measure
from understudy_devices.papers import reproduction
from understudy_devices.papers.tables import PaperTable
from understudy_devices.recommend import verdict
from understudy_devices.recommend.choice import Best, best
from understudy_devices.show.grid import Grid

# Fields of Summary in the table's last block: a label, and the format of the sum over the seeds.
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

# Fields of TOTALS that a platform lacks: a simulation has no kernel, and a real disk no throttle.
NOT_OF = {
    "sim": ("late", "stale", "virtual_seconds", "boot_wall_seconds", "wall_seconds"),
    "real": ("late", "stale", "virtual_seconds", "boot_wall_seconds"),
}
UNSEEN = "-"

COLUMNS_MAX = 6
LARGE = 10_000  # larger numbers have no decimals
NOTHING = 1e-6  # smaller numbers are shown as 0
RANKED = (
    Measure("mean_response_ms", "mean response", "ms"),
    Measure("p99_response_ms", "p99 response", "ms"),
    Measure("p999_response_ms", "p99.9 response", "ms"),
    Measure("max_response_ms", "longest response", "ms"),
    Measure("mean_service_ms", "mean service", "ms"),
    Measure("throughput_sectors_per_ms", "throughput", "sectors/ms", higher_is_better=True),
)

_MEAN, *_OTHERS = (f"{measure.label}\n({measure.unit})" for measure in RANKED)
RANKED_HEADINGS = (_MEAN, "", *_OTHERS)

Layout = Callable[[Result], Grid]
Rows = list[tuple[str, list[str]]]


def rows(comparison: Comparison) -> list[Rows]:
    """Return the table as text, in three blocks: papers' measures, further measures, totals."""
    return [
        [_measure_row(comparison, measure) for measure in PAPER_MEASURES],
        [_measure_row(comparison, measure) for measure in MORE_MEASURES if comparison.saw(measure)],
        [
            (
                label,
                [_total(comparison, name, key, number_format) for name in comparison.schedulers],
            )
            for key, (label, number_format) in TOTALS.items()
            if key not in NOT_OF.get(comparison.platform, ())
        ],
    ]


def _measure_row(comparison: Comparison, measure: Measure) -> tuple[str, list[str]]:
    cells = [number(comparison.estimate(name, measure)) for name in comparison.schedulers]
    return f"{measure.label} ({measure.unit})", cells


def number(estimate: Estimate) -> str:
    """Return a number with the interval, if there is one.

    There are two decimals, as in the papers, but at least three significant digits.
    """
    if math.isnan(estimate.mean):
        return UNSEEN
    places = _places(estimate.mean)
    if NOTHING <= abs(estimate.mean) < 1:
        places -= math.floor(math.log10(abs(estimate.mean)))
    interval = "" if estimate.half_width is None else f" ± {estimate.half_width:,.{places}f}"
    return f"{estimate.mean:,.{places}f}{interval}"


def _places(value: float) -> int:
    """Return the number of decimals to show."""
    return 0 if abs(value) >= LARGE else 2


def _total(comparison: Comparison, scheduler: str, key: str, number_format: str) -> str:
    return format(sum(getattr(run, key) for run in comparison.runs(scheduler)), number_format)


def headline(experiment: Experiment, seeds: int, platform: str) -> str:
    """Return a description of the experiment, without the scheduler."""
    setting = experiment.platform
    where = {
        "sim": "simulated",
        "vm": f"in a VM, {setting.clock} clock, k = {setting.scale:g}",
        "real": "measured",
    }[platform]
    draws = f"seed {experiment.seed}" if seeds == 1 else f"{seeds} seeds"
    workload = experiment.workload
    processes = "1 process" if workload.processes == 1 else f"{workload.processes} processes"
    return (
        f"{workload.name} on {experiment.device.disk.name}: "
        f"{workload.measured(experiment.requests):,} requests, "
        f"{', '.join([processes, *workload.told(), *experiment.device.told(), draws])}; {where}"
    )


def show(result: Result, console: Console, layout: Layout | None = None) -> None:
    """Print the tables; by default in the layout that suits the number of schedulers."""
    comparison = result.comparison
    say(headline(result.experiment, len(comparison.seeds), result.platform), console)
    laid_out(result, layout).show(console)
    if result.paper:
        _paper_grid(result.paper, comparison).show(console)
        say(reproduction.note(comparison), console)


def laid_out(result: Result, layout: Layout | None = None) -> Grid:
    """Return the table; by default in the layout that suits the number of schedulers."""
    fits = ranking if is_wide(result.comparison) else by_measure
    return (layout or fits)(result)


def conclude(results: Sequence[Result], console: Console) -> None:
    """Print the conclusions from the results, recommendations last.

    A sentence that applies to only some platforms begins with their names.
    """
    for kind in (remarks, picks):
        pairs = [(sentence, result.platform) for result in results for sentence in kind(result)]
        for sentence in dict(pairs):
            whose = [platform for other, platform in pairs if other == sentence]
            of = "" if len(whose) == len(results) else f"{', '.join(whose)}: "
            say(of + sentence, console)


def say(sentence: str, console: Console) -> None:
    """Print a line, wrapped between words on a terminal."""
    console.print(escape(sentence), soft_wrap=not console.is_terminal, highlight=False)


def by_measure(result: Result) -> Grid:
    """Return the table in the papers' layout: a row for each measure."""
    return Grid(result.comparison.schedulers, rows(result.comparison))


def is_wide(comparison: Comparison) -> bool:
    """Return whether there are too many schedulers for a column each."""
    return len(comparison.schedulers) > COLUMNS_MAX


def ranked(comparison: Comparison, *, trusted: bool | None) -> Rows:
    """Return a row of figures for each scheduler, best mean response time first.

    The column after the mean response time compares it with the best scheduler's, unless the
    results are known to be wrong.
    """
    order = comparison.ranks(RANKED[0])
    names = sorted(comparison.schedulers, key=lambda name: order[name])
    first = None if trusted is False else best(comparison, RANKED[0])
    return [(name, _ranked_cells(comparison, first, name)) for name in names]


def _ranked_cells(comparison: Comparison, first: Best | None, name: str) -> list[str]:
    mean, *others = (number(comparison.estimate(name, measure)) for measure in RANKED)
    return [mean, _against(first, name), *others]


def ranking(result: Result) -> Grid:
    """Return a row for each scheduler."""
    block = ranked(result.comparison, trusted=result.verdict.trusted)
    return Grid(RANKED_HEADINGS, [block], words=("",))


def _against(first: Best | None, name: str) -> str:
    """Return in words how a scheduler's mean response time compares with the best scheduler's."""
    if first is None:
        return ""
    if name == first.best:
        return "best"
    return "tied" if name in first.tied else ""


def sentences(result: Result) -> list[str]:
    """Return the recommendation, then the remarks."""
    return [*picks(result), *remarks(result)]


def picks(result: Result) -> list[str]:
    """Return the agreement with the papers' ranks, and the recommendation, or why there is none."""
    ranks = [reproduction.ranks_sentence(result.paper, result.comparison)] if result.paper else []
    return [
        *ranks,
        *(choice.sentence() for choice in result.picks),
        *verdict.missing(result.verdict),
    ]


def remarks(result: Result) -> list[str]:
    """Return sentences on unchecked demands, and on the hits that shadow caches predicted."""
    comparison = result.comparison
    shadows = (
        reproduction.shadow_sentence(comparison, name, result.experiment.workload.name)
        for name in comparison.schedulers
        if any(run.predicted for run in comparison.runs(name))
    )
    shadowed = (sentence for sentence in shadows if sentence)
    return [*verdict.doubts(result.verdict), *shadowed, *_instruments(result)]


def _instruments(result: Result) -> list[str]:
    """Return sentences on how a real disk was measured, and on what the measurement can't show."""
    lines = []
    for name in dict.fromkeys(run.facts.get("instrument", "") for run in result.outcomes):
        runs = [run for run in result.outcomes if run.facts.get("instrument") == name]
        why = runs[0].facts["instrument_missing"] if runs else ""
        lines += [f"recorded by {name}"] if name and not why else []
        lines += [f"recorded by {name}, so without service times: {why}"] if why else []
    return lines


def _paper_grid(paper: PaperTable, comparison: Comparison) -> Grid:
    """Return, for each measure, our figures and those of the papers' real and virtual disks."""
    beside = reproduction.beside(comparison.schedulers)
    blocks: list[Rows] = []
    for row in reproduction.rows(paper, comparison):
        first = row.source == reproduction.OURS
        if first:
            blocks.append([])
        cells = [
            f"{row.values[name]:,.{_places(row.values[name])}f} ({row.ranks[name]})"
            for name in beside
        ]
        measure = f"{row.measure.label} ({row.measure.unit}), " if first else "  "
        blocks[-1].append((f"{measure}{row.source}", [*cells, row.verdict]))
    title = f"{paper.title} (rank in brackets)"
    return Grid([*beside, "ranks"], blocks, title, words=("ranks",))
