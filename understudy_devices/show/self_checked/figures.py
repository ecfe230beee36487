# SPDX-License-Identifier: MIT
"""Pictures of a self-check: the measured and predicted mean response times of each VM, and the
times between arrivals, alone and together (ICPE 2011, Figure 8).
"""

from collections.abc import Iterator, Sequence

import numpy as np
from matplotlib.figure import Figure

from understudy_devices.campaign.self_check import Held
from understudy_devices.show import inline
from understudy_devices.show.inline import COLOURS, Drawing

WIDTH, HEIGHT = 8.0, 3.4  # inches; ROW is the height of a row of small pictures
ROW = 2.2
IN_A_ROW = 3
SHORTEST_MS = 1e-3  # shorter times are outside the logarithmic axis
GAP = 1  # between two configurations

MEANS = (
    "Mean response time of each VM: measured together (line), predicted (dot), and alone (tick). "
    "Each group is a configuration in so many VMs. The product form's are in a table."
)
ARRIVALS = (
    "Share of the times between two arrivals that are at most so long: alone (solid) and together "
    "with most others (dashed), a colour for each VM."
)


def draw(checks: Sequence[Held]) -> list[Drawing]:
    """Draw both pictures."""
    most = max(len(one.plan.vms) for one in checks)
    crowded = [one for one in checks if len(one.plan.vms) == most]
    with inline.styled():
        return [
            Drawing(MEANS, inline.svg(_means(checks), "means")),
            Drawing(ARRIVALS, inline.svg(_arrivals(crowded), "arrivals")),
        ]


def _means(checks: Sequence[Held]) -> Figure:
    figure = Figure(figsize=(WIDTH, HEIGHT))
    figure.subplots_adjust(left=0.1, right=0.98, top=0.96, bottom=0.3)
    axes = figure.subplots()
    axes.set(ylabel="ms")
    axes.set_axisbelow(True)
    ends = []
    for one, places in _placed(checks):
        for k, place in enumerate(places):
            colour = COLOURS[k]
            axes.plot([place - 0.4, place + 0.4], [one.measured_ms[k]] * 2, color=colour)
            axes.plot(place, one.predicted_ms[k], "o", color=colour, markersize=4)
            axes.plot(place, one.alone_ms[k], "_", color=inline.INK, markersize=5)
        ends.append((places[0] + places[-1]) / 2)
    names = [f"{one.plan.configuration} \u00d7{len(one.plan.vms)}" for one in checks]
    axes.set_xticks(ends, names, rotation=45, ha="right")
    axes.set_ylim(0, 1.1 * axes.dataLim.ymax)
    axes.grid(visible=False, axis="x")
    return figure


def _placed(checks: Sequence[Held]) -> Iterator[tuple[Held, range]]:
    first = 0
    for one in checks:
        places = range(first, first + len(one.plan.vms))
        yield one, places
        first = places.stop + GAP


def _arrivals(checks: Sequence[Held]) -> Figure:
    rows = -(-len(checks) // IN_A_ROW)
    figure = Figure(figsize=(WIDTH, 0.6 + ROW * rows))
    figure.subplots_adjust(
        left=0.08, right=0.98, top=1 - 0.3 / (0.6 + ROW * rows), hspace=0.45, wspace=0.2
    )
    panels = figure.subplots(rows, min(IN_A_ROW, len(checks)), squeeze=False, sharey=True).ravel()
    for axes in panels[len(checks) :]:
        axes.set_visible(False)
    for axes, one in zip(panels, checks, strict=False):
        axes.set_title(one.plan.configuration)
        axes.set(xscale="log", xlabel="ms")
        for k, sides in enumerate(one.interarrival_ms):
            for times, dashes in zip(sides, ("-", "--"), strict=True):
                shares = np.arange(1, len(times) + 1) / len(times)
                axes.plot(times, shares, dashes, color=COLOURS[k], linewidth=1)
        axes.set_xlim(left=SHORTEST_MS)
    return figure
