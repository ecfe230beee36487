# SPDX-License-Identifier: MIT
"""The papers' Tables 2 and 3, reproduced in VMs."""

from bench.part import Column, Row, Rows
from bench.runs import experiment, run_all
from understudy_devices.measure.comparison import Comparison
from understudy_devices.measure.metrics import Measure, Summary, summarise
from understudy_devices.papers import reproduction
from understudy_devices.papers.tables import AT_ONCE, MEASURES, REPRODUCED, STAND_INS, PaperTable
from understudy_devices.papers.tables import TABLES as PAPER_TABLES

TITLE = "The papers' tables"
TEXT = """
Compare the ranks. As in the papers, the disk has up to two requests at once, and service is the
time from dispatch to completion ([decision 55](decisions/0055-two-at-once.md)). Linux 5.0 removed
cfq, so `cfq` is Understudy's own scheduler; mq-deadline is deadline's successor. Each seed is one
run in a VM on the default virtual disk; figures are means with 95 % intervals. *Ranks* says whether
the schedulers rank as on the papers' real disk.
`understudy reproduce table2 --seeds 5 --requests 10000 --on vm` reproduces one of the tables. With
`--on sim` a table takes seconds.

{{ measures }}

This table has the number of hits on the device, the share of them that the shadow cache in CATS
predicted, and the number of predicted hits that missed. In the papers' Table 2 the share is 97 % of
31,949 hits.

{{ shadow }}
"""
OURS = REPRODUCED
TABLES = {
    "measures": (
        Column("table", "{table}"),
        Column("measure", "{measure}"),
        *(Column(name, f"{{{name}:,.2f}} ± {{{name} half_width:,.2f}}") for name in OURS),
        Column("the paper's real disk: " + ", ".join(STAND_INS), "{paper}"),
        Column("ranks", "{ranks}"),
    ),
    "shadow": (
        Column("table", "{table}"),
        Column("hits", "{hits:,}"),
        Column("foreseen", "{foreseen:,}"),
        Column("share (%)", "{share_percent:.1f}"),
        Column("promised and missed", "{promised:,}"),
    ),
}
BOTH = list(PAPER_TABLES)
SIZES = {
    "full": {"platform": "vm", "tables": BOTH, "seeds": 5, "requests": 10_000, "jobs": 2},
    "quick": {"platform": "vm", "tables": BOTH, "seeds": 2, "requests": 2000, "jobs": 1},
    "tiny": {"platform": "sim", "tables": ["table2"], "seeds": 2, "requests": 500, "jobs": 1},
}
IN_VM = True


def measure(platform: str, tables: list[str], seeds: int, requests: int, jobs: int) -> Rows:
    """Yield every measure of every table, then how well the shadow cache predicted hits."""
    for name in tables:
        paper = PAPER_TABLES[name]
        runs = [
            experiment(
                paper.workload,
                scheduler,
                platform=platform,
                requests=requests,
                seed=seed,
                queue_depth=AT_ONCE,
            )
            for scheduler in OURS
            for seed in range(1, seeds + 1)
        ]
        summaries = [summarise(outcome) for outcome in run_all(runs, jobs)]
        compared = Comparison(summaries)
        for one in MEASURES:
            yield "measures", _measure_row(name, paper, one, compared)
        yield "shadow", _shadow_row(name, compared.runs("cats"))


def _measure_row(name: str, paper: PaperTable, one: Measure, compared: Comparison) -> Row:
    ours = {scheduler: compared.estimate(scheduler, one) for scheduler in OURS}
    real = paper.values("real", one).values()
    [row] = (
        row
        for row in reproduction.rows(paper, compared)
        if row.measure == one and row.source == reproduction.OURS
    )
    return {
        "table": name,
        "measure": f"{one.label} ({one.unit})",
        **{scheduler: estimate.mean for scheduler, estimate in ours.items()},
        **{f"{scheduler} half_width": estimate.half_width for scheduler, estimate in ours.items()},
        "paper": ", ".join(f"{value:,.2f}" for value in real),
        "ranks": "same" if row.agrees else "differ",
    }


def _shadow_row(name: str, runs: list[Summary]) -> Row:
    hits = sum(run.hits for run in runs)
    foreseen = sum(run.predicted_hits for run in runs)
    return {
        "table": name,
        "hits": hits,
        "foreseen": foreseen,
        "share_percent": 100 * foreseen / hits if hits else None,
        "promised": sum(run.predicted for run in runs) - foreseen,
    }
