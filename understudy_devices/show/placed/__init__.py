# SPDX-License-Identifier: MIT
"""The results of `understudy place`, as tables and as report.html."""

from typing import Any

from understudy_devices.consolidation.placement.answer import occupied
from understudy_devices.consolidation.placement.problem import Problem
from understudy_devices.consolidation.placement.search import Outcome
from understudy_devices.measure.trust import Trust
from understudy_devices.show import notebook, page
from understudy_devices.show.placed import figures, table
from understudy_devices.show.placed.table import show

__all__ = ["html", "render", "show", "text"]

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
            "move_headings": table.MOVE,
            "moves": table.moves(problem, outcome),
            "figures": figures.draw(devices) if devices else [],
            "inputs": page.flat(document["inputs"]),
            "environment": page.flat(document["environment"]),
        },
    )


def text(problem: Problem, outcome: Outcome, trust: Trust) -> str:
    """Return what `show` prints."""
    return notebook.printed(lambda console: show(problem, outcome, trust, console))


def html(command: str, problem: Problem, outcome: Outcome, trust: Trust) -> str:
    """Return the tables and a picture as a piece of a page."""
    devices = occupied(problem, outcome)
    section = notebook.Section(
        f"{len(problem.vms)} VMs on {len(problem.devices)} devices",
        [*table.grids(devices), *table.moves_grid(problem, outcome)],
        table.sentences(problem, outcome, trust),
        figures.draw_one(devices) if devices else None,
    )
    return notebook.html(command, [section])
