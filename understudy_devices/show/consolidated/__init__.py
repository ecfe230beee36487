# SPDX-License-Identifier: MIT
"""The results of `understudy consolidate`, as tables and as report.html."""

from collections.abc import Sequence
from typing import Any

from understudy_devices.consolidation.prediction import Prediction
from understudy_devices.consolidation.what_if import Change
from understudy_devices.show import notebook, page
from understudy_devices.show.consolidated import figures, table
from understudy_devices.show.consolidated.table import doubts, show
from understudy_devices.show.directions import DIRECTIONS

__all__ = ["doubts", "html", "render", "show", "text"]

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
            "direction_headings": DIRECTIONS,
            "directions": table.directions(first),
            "sentences": [*table.sentences(first), *table.doubts(first)],
            "fewer_headings": table.LESS,
            "what_if": table.others(predictions, changes),
            "figures": figures.draw(first),
            "fit_headings": table.FIT,
            "fits": table.fits(first),
            "inputs": page.flat(document["inputs"]),
            "runs": [run for tenant in first.scenario.tenants for run in tenant.vm.runs],
            "environment": page.flat(document["environment"]),
        },
    )


def text(predictions: Sequence[Prediction], changes: Sequence[Change]) -> str:
    """Return what `show` prints."""
    return notebook.printed(lambda console: show(predictions, changes, console))


def html(command: str, predictions: Sequence[Prediction], changes: Sequence[Change]) -> str:
    """Return the tables and a picture as a piece of a page."""
    first = predictions[0]
    title = f"{len(first.scenario.tenants)} VMs on one device of {first.scenario.servers} servers"
    sections = [
        notebook.Section(
            title, table.wholes(first), list(table.sentences(first)), figures.draw_responses(first)
        ),
        notebook.Section("", table.changed(predictions, changes)),
    ]
    return notebook.html(command, sections, list(doubts(first)))
