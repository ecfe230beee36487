# SPDX-License-Identifier: MIT
"""The results of `understudy consolidate`, as tables and as report.html."""

from collections.abc import Sequence
from typing import Any

from understudy_devices.consolidation.prediction import Prediction
from understudy_devices.consolidation.what_if import Change
from understudy_devices.show import page
from understudy_devices.show.consolidated import figures, table
from understudy_devices.show.consolidated.table import doubts, show

__all__ = ["doubts", "render", "show"]

TEMPLATE = "consolidated/report.html.j2"


def render(
    document: dict[str, Any], predictions: Sequence[Prediction], changes: Sequence[Change]
) -> str:
    """Return the page as HTML; `document` is the content of result.json."""
    first = predictions[0]
    return page.render(
        TEMPLATE,
        {
            "title": f"{len(first.scenario.tenants)} VMs on one device of "
            f"{first.scenario.servers} servers",
            "headings": table.HEADINGS,
            "rows": table.rows(first),
            "sentences": [*table.sentences(first), *table.doubts(first)],
            "fewer_headings": table.LESS,
            "what_if": [
                (str(change), table.fewer(other))
                for change, other in zip(changes, predictions[1:], strict=True)
            ],
            "figures": figures.draw(first),
            "fit_headings": table.FIT,
            "fits": table.fits(first),
            "inputs": page.flat(document["inputs"]),
            "runs": [run for tenant in first.scenario.tenants for run in tenant.vm.runs],
            "environment": page.flat(document["environment"]),
        },
    )
