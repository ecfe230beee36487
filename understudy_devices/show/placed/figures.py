# SPDX-License-Identifier: MIT
"""Pictures of an assignment: each device's load, and each VM's response time relative to its
target.
"""

from collections.abc import Sequence
from math import isfinite

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from understudy_devices.consolidation.placement.answer import Occupied, Placed
from understudy_devices.show import inline
from understudy_devices.show.inline import COLOURS, Drawing

WIDTH, HEIGHT = 8.0, 3.4  # inches
WIDEST = 2.0  # times the target; larger values are drawn at this value
NAMES = 40  # largest number of VMs with names below the picture
GAP = 1  # width of the gap between two devices, in VMs

LOADS = "How busy each device is; at 1 requests would pile up. A VM is a part of its bar."
TARGETS = (
    "95th percentile of each VM's response time as a part of its target, device by device: the "
    "mean over replications (a dot, a cross where the target is missed), and what it is at most."
)


def draw(occupancies: Sequence[Occupied]) -> list[Drawing]:
    """Draw both pictures."""
    with inline.styled():
        return [
            Drawing(LOADS, inline.svg(_loads(occupancies), "loads")),
            Drawing(TARGETS, inline.svg(_targets(occupancies), "targets")),
        ]


def draw_one(occupancies: Sequence[Occupied]) -> Drawing:
    """Draw the second picture, for any page."""
    with inline.styled():
        return Drawing(TARGETS, inline.svg(_targets(occupancies)))


def _axes(y_label: str) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(WIDTH, HEIGHT))
    figure.subplots_adjust(left=0.1, right=0.98, top=0.94)
    axes = figure.subplots()
    axes.set(ylabel=y_label)
    axes.set_axisbelow(True)
    return figure, axes


def _loads(occupancies: Sequence[Occupied]) -> Figure:
    figure, axes = _axes("utilisation")
    for place, one in enumerate(occupancies):
        bottom = 0.0
        for rank, placed in enumerate(one.placed):
            part = placed.vm.erlangs / one.device.capacity
            alpha = 0.9 if rank % 2 else 0.6
            axes.bar(place, part, 0.6, bottom, color=COLOURS[place % len(COLOURS)], alpha=alpha)
            bottom += part
    axes.axhline(1, color=inline.INK, linewidth=1)
    axes.set_ylim(0, max(1.05, *(one.load * 1.05 for one in occupancies)))
    axes.set_xlim(-1, len(occupancies))
    _name(axes, list(range(len(occupancies))), [one.device.name for one in occupancies])
    return figure


def _targets(occupancies: Sequence[Occupied]) -> Figure:
    figure, axes = _axes("p95 / target")
    first, places, names = 0, [], []
    for k, one in enumerate(occupancies):
        for place, placed in enumerate(one.placed, first):
            _target(axes, place, placed, COLOURS[k % len(COLOURS)])
            places.append(place)
            names.append(placed.vm.name)
        first += len(one.placed) + GAP
    axes.axhline(1, color=inline.INK, linewidth=1)
    axes.set_ylim(0, axes.get_ylim()[1])
    axes.set_xlim(-1, first)
    if len(names) > NAMES:
        places, names = _middles(occupancies)
    _name(axes, places, names)
    return figure


def _target(axes: Axes, place: int, placed: Placed, colour: str) -> None:
    most_ms = placed.p95.most_ms if placed.verified else placed.p95.mean_ms
    mean, most = (
        min(WIDEST, time / placed.vm.target_ms) if isfinite(time) else WIDEST
        for time in (placed.p95.mean_ms, most_ms)
    )
    axes.plot([place, place], [mean, most], color=colour, linewidth=1.6)
    axes.plot(place, mean, "o" if placed.meets else "x", color=colour, markersize=4)


def _middles(occupancies: Sequence[Occupied]) -> tuple[list[int], list[str]]:
    """Return the x coordinate and the name of each device; the coordinate is the middle of its
    VMs.
    """
    first, places, names = 0, [], []
    for one in occupancies:
        if one.placed:
            places.append(first + len(one.placed) // 2)
            names.append(one.device.name)
        first += len(one.placed) + GAP
    return places, names


def _name(axes: Axes, places: list[int], names: list[str]) -> None:
    turned = len(names) > 8
    axes.set_xticks(places, names, rotation=45 if turned else 0, ha="right" if turned else "center")
    axes.figure.subplots_adjust(bottom=0.26 if turned else 0.1)
    axes.grid(visible=False, axis="x")
