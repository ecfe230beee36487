# SPDX-License-Identifier: MIT
"""Our runs beside a table of the papers, measure by measure, with the ranks.

Absolute figures are not expected to agree (docs/method.md: merging and
overlap are not stated in the papers); the order of the schedulers is what the
papers claim to predict (PERFORM 2010 section 6), so that is what is compared.
"""

from dataclasses import dataclass
from typing import Any

from understudy.measure.comparison import Comparison, ranks
from understudy.measure.metrics import PAPER_MEASURES, Measure
from understudy.papers.tables import (
    SHADOW_HITS,
    SHADOW_SHARE,
    SHADOW_WORKLOAD,
    STAND_IN_NOTE,
    STAND_INS,
    PaperTable,
)

OURS = "ours"
REAL = "real"


@dataclass(frozen=True)
class Row:
    """One measure from one source, by the papers' schedulers."""

    measure: Measure
    source: str
    values: dict[str, float]
    ranks: dict[str, int]
    agrees: bool  # ranked as on the papers' real disk

    @property
    def verdict(self) -> str:
        """For people: nothing to say of the real disk itself."""
        if self.source == REAL:
            return ""
        return "as real" if self.agrees else "differ"

    def as_json(self) -> dict[str, Any]:
        """The row's entry in result.json."""
        return {
            "measure": self.measure.key,
            "source": self.source,
            "values": self.values,
            "ranks": self.ranks,
            "ranked_as_real": self.agrees,
        }


def rows(table: PaperTable, comparison: Comparison) -> list[Row]:
    """For each of the papers' measures: ours, their real disk, their virtual disk."""
    return [
        _row(measure, source, values, table)
        for measure in PAPER_MEASURES
        for source, values in (
            (OURS, _ours(comparison, measure)),
            (REAL, table.values("real", measure)),
            ("virtual", table.values("virtual", measure)),
        )
    ]


def _row(measure: Measure, source: str, values: dict[str, float], table: PaperTable) -> Row:
    order = ranks(values, measure)
    return Row(measure, source, values, order, order == table.ranks("real", measure))


def _ours(comparison: Comparison, measure: Measure) -> dict[str, float]:
    return {theirs: comparison.estimate(ours, measure).mean for theirs, ours in STAND_INS.items()}


def shadow_sentence(comparison: Comparison, scheduler: str, workload: str) -> str | None:
    """How much of the device's cache the scheduler's shadow foresaw; None without a hit."""
    runs = comparison.runs(scheduler)
    hits = sum(run.hits for run in runs)
    foreseen = sum(run.predicted_hits for run in runs)
    wrong = sum(run.predicted for run in runs) - foreseen
    if not hits:
        return None
    paper = f"; the paper saw {SHADOW_SHARE:.0%} of {SHADOW_HITS:,}"
    return (
        f"{scheduler}: its shadow cache foresaw {foreseen:,} of {hits:,} device-cache hits "
        f"({foreseen / hits:.1%}) and promised {wrong:,} that missed"
        + (paper if workload == SHADOW_WORKLOAD else "")
    )


def as_json(table: PaperTable, comparison: Comparison) -> dict[str, Any]:
    """The comparison's part of result.json."""
    return {
        "table": table.title,
        "stand_ins": STAND_INS,
        "note": STAND_IN_NOTE,
        "rows": [row.as_json() for row in rows(table, comparison)],
        "paper_shadow_share": SHADOW_SHARE,
    }
