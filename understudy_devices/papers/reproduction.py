# SPDX-License-Identifier: MIT
"""Compare this project's runs with a table of the papers: for each measure, figures and ranks.

Absolute figures are not expected to agree.  The papers claim to predict the order of the
schedulers (PERFORM 2010 section 6), so the ranks are compared.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from understudy_devices.measure.comparison import Comparison, ranks
from understudy_devices.measure.metrics import Measure
from understudy_devices.papers.tables import (
    AT_ONCE,
    MEASURES,
    PAPERS_DISK,
    SHADOW_HITS,
    SHADOW_SHARE,
    SHADOW_WORKLOAD,
    STAND_INS,
    STAND_INS_NAMED,
    TABLES,
    PaperTable,
)

OURS = "ours"
REAL = "real"
VIRTUAL = "virtual"


@dataclass(frozen=True)
class Row:
    """The figures of one measure from one source, for each of the papers' schedulers."""

    measure: Measure
    source: str
    values: dict[str, float]
    ranks: dict[str, int]
    agrees: bool  # ranked as on the papers' real disk

    @property
    def verdict(self) -> str:
        """Return the verdict in words; an empty string for the papers' real disk itself."""
        if self.source == REAL:
            return ""
        return "as real" if self.agrees else "differ"

    def as_json(self) -> dict[str, Any]:
        """Return the row's entry in result.json."""
        return {
            "measure": self.measure.key,
            "source": self.source,
            "values": self.values,
            "ranks": self.ranks,
            "ranked_as_real": self.agrees,
        }


def table_beside(workload: str, disk: str, schedulers: Sequence[str]) -> PaperTable | None:
    """Return the papers' table for this workload and disk.

    Return None if there is no such table, or if fewer than two of the papers' schedulers have a
    substitute among `schedulers`.
    """
    if disk != PAPERS_DISK or len(beside(schedulers)) < 2:
        return None
    return next((table for table in TABLES.values() if table.workload == workload), None)


def beside(schedulers: Sequence[str]) -> dict[str, str]:
    """Return the papers' schedulers, each with its substitute among `schedulers`."""
    substitutes = {
        theirs: next((name for name in ours if name in schedulers), None)
        for theirs, ours in STAND_INS.items()
    }
    return {theirs: ours for theirs, ours in substitutes.items() if ours}


def rows(table: PaperTable, comparison: Comparison) -> list[Row]:
    """Return three rows for each of the papers' measures: this project's runs, the papers' real
    disk, and the papers' virtual disk."""
    return [row for measure in MEASURES for row in _rows(table, comparison, measure)]


def _rows(table: PaperTable, comparison: Comparison, measure: Measure) -> list[Row]:
    pairs = beside(comparison.schedulers)
    ours = {theirs: comparison.estimate(name, measure).mean for theirs, name in pairs.items()}
    real, virtual = (
        {theirs: table.values(platform, measure)[theirs] for theirs in pairs}
        for platform in (REAL, VIRTUAL)
    )
    as_real = ranks(real, measure)
    return [
        Row(measure, source, values, order := ranks(values, measure), order == as_real)
        for source, values in ((OURS, ours), (REAL, real), (VIRTUAL, virtual))
    ]


def note(comparison: Comparison) -> str:
    """Return the note that explains the columns."""
    *others, last = (STAND_INS_NAMED[name] for name in beside(comparison.schedulers).values())
    return (
        f"real and virtual (k = 8) are the paper's, with up to {AT_ONCE} past the scheduler at "
        f"once (--queue-depth {AT_ONCE}), and service is from dispatch to completion; ours ran "
        f"{', '.join(others)}, and {last}"
    )


def ranks_sentence(table: PaperTable, comparison: Comparison) -> str:
    """Return in words for how many measures the ranks match those on the papers' real disk."""
    measures = rows(table, comparison)
    ours, virtual = (
        sum(row.agrees for row in measures if row.source == source) for source in (OURS, VIRTUAL)
    )
    return (
        f"{table.title.partition(':')[0]}: ranked as on the papers' real disk by {ours} of "
        f"{len(MEASURES)} measures (the papers' virtual disk: by {virtual})"
    )


def shadow_sentence(comparison: Comparison, scheduler: str, workload: str) -> str | None:
    """Return in words how many hits in the device's cache the scheduler's shadow cache predicted;
    None if there was no hit."""
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
    """Return the comparison's part of result.json."""
    return {
        "table": table.title,
        "stand_ins": beside(comparison.schedulers),
        "note": note(comparison),
        "rows": [row.as_json() for row in rows(table, comparison)],
        "paper_shadow_share": SHADOW_SHARE,
    }
