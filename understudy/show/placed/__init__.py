# SPDX-License-Identifier: MIT
"""The results of `understudy place`, as tables and as report.html."""

from typing import Any

from understudy.consolidate.placement.answer import occupied
from understudy.consolidate.placement.problem import Problem
from understudy.consolidate.placement.search import Outcome
from understudy.measure.trust import Trust
from understudy.show import page
from understudy.show.placed import figures, table
from understudy.show.placed.table import show

__all__ = ["render", "show"]

TEMPLATE = "placed/report.html.j2"


def render(document: dict[str, Any], problem: Problem, outcome: Outcome, trust: Trust) -> str:
    """Return the page as HTML; `document` is the content of result.json."""
    devices = occupied(problem, outcome)
    return page.render(
        TEMPLATE,
        {
            "title": f"{len(problem.vms)} VMs on {len(problem.devices)} devices",
            "sentences": table.sentences(problem, outcome, trust),
            "device_headings": table.DEVICE,
            "devices": table.devices(devices),
            "vm_headings": table.VM,
            "vms": [(one.device.name, table.vms(one)) for one in devices],
            "figures": figures.draw(devices) if devices else [],
            "inputs": page.flat(document["inputs"]),
            "environment": page.flat(document["environment"]),
        },
    )
