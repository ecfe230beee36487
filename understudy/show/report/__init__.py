# SPDX-License-Identifier: MIT
"""report.html: a run folder as a self-contained page.

It contains tables, recommendation, the distributions of response time (Jones 2010 Figures 4.4 and
4.5), inputs, environment and QEMU lines.
"""

import json
import shlex
from typing import Any

from understudy.campaign import result
from understudy.papers import reproduction
from understudy.show import page, table
from understudy.show.report import figures

TEMPLATE = "report/report.html.j2"


def render(found: result.Result) -> str:
    """Return the page."""
    return page.render(TEMPLATE, _view(found))


def _view(found: result.Result) -> dict[str, Any]:
    comparison = found.comparison
    experiments = [outcome.experiment for outcome in found.outcomes]
    return {
        "title": table.headline(found.experiment, len(comparison.seeds), found.platform),
        "summary": found.experiment.workload.summary,
        "disk": found.experiment.device.disk,
        "schedulers": comparison.schedulers,
        "blocks": table.rows(comparison),
        "ranked": _ranked(found),
        "ranked_by": table.RANKED_HEADINGS,
        "sentences": table.sentences(found),
        "several_seeds": len(comparison.seeds) > 1,
        "figures": figures.draw(found.outcomes),
        "paper": found.paper,
        "paper_rows": reproduction.rows(found.paper, comparison) if found.paper else [],
        "stand_ins": reproduction.beside(comparison.schedulers),
        "stand_in_note": reproduction.note(comparison) if found.paper else "",
        "inputs": page.flat(result.inputs(found.command, experiments)),
        "environment": page.flat(result.environment(found.outcomes)),
        "runs": [
            _run(outcome.facts, outcome.experiment.scheduler.name, outcome.experiment.seed)
            for outcome in found.outcomes
        ],
    }


def _ranked(found: result.Result) -> table.Rows:
    """Return the ranked table, with a row per scheduler, if there are too many for columns."""
    comparison = found.comparison
    if not table.is_wide(comparison):
        return []
    return table.ranked(comparison, trusted=found.verdict.trusted)


def _run(facts: dict[str, Any], scheduler: str, seed: int) -> dict[str, Any]:
    others = {key: value for key, value in facts.items() if key != "qemu"}
    return {
        "name": f"{scheduler}, seed {seed}",
        "qemu": shlex.join(facts.get("qemu", [])),
        "facts": json.dumps(others, indent=2, ensure_ascii=False),
    }
