# SPDX-License-Identifier: MIT
"""The results of `understudy consolidate --self-check`, as tables and as report.html."""

from collections.abc import Sequence
from typing import Any

from understudy_devices.campaign.self_check import Held
from understudy_devices.show import page
from understudy_devices.show.self_checked import figures, table
from understudy_devices.show.self_checked.table import doubts, show

__all__ = ["doubts", "render", "show"]

TEMPLATE = "self_checked/report.html.j2"


def render(document: dict[str, Any], checks: Sequence[Held]) -> str:
    """Return the page as HTML; `document` is the content of result.json."""
    return page.render(
        TEMPLATE,
        {
            "title": "VMs on one device: predicted, and as a kernel does it",
            "sentences": table.sentences(checks),
            "doubts": table.doubts(checks),
            "tables": table.tables(checks),
            "figures": figures.draw(checks),
            "inputs": page.flat(document["inputs"]),
            "environment": page.flat(document["environment"]),
        },
    )
