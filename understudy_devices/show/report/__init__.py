# SPDX-License-Identifier: MIT
"""report.html: a run folder as a self-contained page.

It contains tables, recommendation, the views of the studio's page with requests of the runs
(pictures.py), inputs, environment and QEMU lines.
"""

import json
import shlex
from typing import Any

from understudy_devices.campaign import result
from understudy_devices.papers import reproduction
from understudy_devices.show import page, table
from understudy_devices.show.report import pictures

TEMPLATE = "report/report.html.j2"


def render(answer: result.Result) -> str:
    """Return the page."""
    return page.render(TEMPLATE, _view(answer))


def _view(answer: result.Result) -> dict[str, Any]:
    comparison = answer.comparison
    return {
        "title": table.headline(answer.experiment, len(comparison.seeds), answer.platform),
        "summary": answer.experiment.workload.summary,
        "disk": answer.experiment.device.disk,
        "schedulers": comparison.schedulers,
        "blocks": table.rows(comparison),
        "ranked": _ranked(answer),
        "ranked_by": table.RANKED_HEADINGS,
        "sentences": table.sentences(answer),
        "several_seeds": len(comparison.seeds) > 1,
        "views": pictures.views(answer),
        "no_views": pictures.missing(),
        "paper": answer.paper,
        "paper_rows": reproduction.rows(answer.paper, comparison) if answer.paper else [],
        "stand_ins": reproduction.beside(comparison.schedulers),
        "stand_in_note": reproduction.note(comparison) if answer.paper else "",
        "inputs": page.flat(answer.inputs),
        "environment": page.flat(result.environment(answer.outcomes)),
        "runs": [
            _run(outcome.facts, outcome.experiment.scheduler.name, outcome.experiment.seed)
            for outcome in answer.outcomes
        ],
    }


def _ranked(answer: result.Result) -> table.Rows:
    """Return the ranked table, with a row per scheduler, if there are too many for columns."""
    comparison = answer.comparison
    if not table.is_wide(comparison):
        return []
    return table.ranked(comparison, trusted=answer.verdict.trusted)


def _run(facts: dict[str, Any], scheduler: str, seed: int) -> dict[str, Any]:
    others = {key: value for key, value in facts.items() if key != "qemu"}
    return {
        "name": f"{scheduler}, seed {seed}",
        "qemu": shlex.join(facts.get("qemu", [])),
        "facts": json.dumps(others, indent=2, ensure_ascii=False),
    }
