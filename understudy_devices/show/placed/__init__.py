# SPDX-License-Identifier: MIT
"""The results of `understudy place`, as tables and as report.html."""

from typing import Any

from understudy_devices.consolidation.placement.answer import occupied
from understudy_devices.consolidation.placement.problem import Problem
from understudy_devices.consolidation.placement.search import Outcome
from understudy_devices.measure.trust import Trust
from understudy_devices.show import page
from understudy_devices.show.placed import figures, table
from understudy_devices.show.placed.table import show

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
