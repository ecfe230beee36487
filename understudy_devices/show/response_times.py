# SPDX-License-Identifier: MIT
"""The distributions of response time, as SVG: for notebooks, and beside the papers' figures.

The first figure is like the papers' (Jones 2010 Figures 4.4 and 4.5): the fraction of requests by
response time, with a curve for each scheduler.  The second figure is cumulative, over a logarithmic
axis, which also shows cache hits and slow requests.  Requests of all seeds are combined. If there
are more schedulers than colours, each scheduler has a small frame.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from understudy_devices.ask.experiment import Outcome
from understudy_devices.measure.metrics import Times, percentile, response_times_ms
from understudy_devices.show import inline
from understudy_devices.show.inline import COLOURS, DASHES, INK, Drawing

BINS = 60
CURVE_POINTS = 400
PANELS = 4  # frames in a row
WIDTH = 8.0  # inches, like all lengths below
HEIGHT = 3.6
PANEL_HEIGHT = 1.5
LEFT, RIGHT, TOP, BOTTOM = 0.85, 0.15, 0.35, 0.5  # margins, which contain the labels
CUMULATED = "Share of requests answered within a time (logarithmic axis)."
X_LABEL = "response time (ms)"
Responses = dict[str, Times]


@dataclass(frozen=True)
class Plot:
    """Curves over response time by scheduler: x in ms, y named by `label`."""

    curves: dict[str, tuple[Times, Times]]
    label: str
    frame: dict[str, Any]  # limits and scales, by Matplotlib's names


def draw(outcomes: Sequence[Outcome]) -> list[Drawing]:
    """Draw both figures."""
    responses = _by_scheduler(outcomes)
    edge_ms = _right_edge_ms(responses)
    width_ms = edge_ms / BINS
    beyond = ", ".join(
        f"{name} {np.mean(times > edge_ms):.1%}" for name, times in responses.items()
    )
    return [
        Drawing(
            f"Fraction of requests by response time, in steps of {width_ms:.3g} ms. "
            f"Beyond the right edge: {beyond}.",
            _svg("density", _density(responses, edge_ms)),
        ),
        Drawing(CUMULATED, _svg("cumulated", _cumulated(responses))),
    ]


def draw_cumulated(outcomes: Sequence[Outcome]) -> Drawing:
    """Draw the second figure, for any page."""
    return Drawing(CUMULATED, _svg("", _cumulated(_by_scheduler(outcomes))))


def _by_scheduler(outcomes: Sequence[Outcome]) -> Responses:
    names = dict.fromkeys(outcome.experiment.scheduler.name for outcome in outcomes)
    return {
        name: np.concatenate(
            [response_times_ms(run) for run in outcomes if run.experiment.scheduler.name == name]
        )
        for name in names
    }


def _right_edge_ms(responses: Responses) -> float:
    """Return the right edge of the x axis: the largest 95th percentile, but at most three times
    the smallest.
    """
    bulk = [percentile(times, 95) for times in responses.values()]
    return min(max(bulk), 3 * min(bulk))


def _density(responses: Responses, edge_ms: float) -> Plot:
    edges = np.linspace(0, edge_ms, BINS + 1)
    middles = (edges[:-1] + edges[1:]) / 2
    curves = {
        name: (middles, np.histogram(times, edges)[0] / len(times))
        for name, times in responses.items()
    }
    most = max(np.max(fractions) for _, fractions in curves.values())
    limits = {"xlim": (0, edge_ms), "ylim": (0, 1.05 * most)}
    return Plot(curves, "fraction of requests", limits)


def _cumulated(responses: Responses) -> Plot:
    shares = np.linspace(0, 1, CURVE_POINTS)
    curves = {
        name: (np.quantile(times, shares, method="inverted_cdf"), shares)
        for name, times in responses.items()
    }
    return Plot(curves, "share of requests", {"xscale": "log", "ylim": (0, 1.01)})


def _svg(name: str, plot: Plot) -> str:
    with inline.styled():
        figure = _together(plot) if len(plot.curves) <= len(COLOURS) else _apart(plot)
        return inline.svg(figure, name)


def _together(plot: Plot) -> Figure:
    """Draw all curves in one frame, each with its own colour and dash."""
    figure = _figure(HEIGHT)
    axes = figure.subplots()
    for index, (name, (x, y)) in enumerate(plot.curves.items()):
        axes.plot(x, y, label=name, color=COLOURS[index], linestyle=DASHES[index], linewidth=1.8)
    _frame(axes, plot)
    axes.set(xlabel=X_LABEL, ylabel=plot.label)
    figure.legend(loc="upper center", ncols=len(COLOURS))
    return figure


def _apart(plot: Plot) -> Figure:
    """Draw a small frame for each curve, with the other curves in grey."""
    lines = -(-len(plot.curves) // PANELS)
    figure = _figure(TOP + BOTTOM + PANEL_HEIGHT * lines)
    figure.subplots_adjust(wspace=0.08, hspace=0.35)
    panels = figure.subplots(lines, PANELS, sharex=True, sharey=True, squeeze=False).flat
    all_curves = [np.column_stack(curve) for curve in plot.curves.values()]
    for axes, (name, (x, y)) in zip(panels, plot.curves.items(), strict=False):
        axes.add_collection(LineCollection(all_curves, color=INK, alpha=0.13, linewidth=0.7))
        axes.plot(x, y, color=COLOURS[0], linewidth=1.8)
        axes.set_title(name, fontsize=10)
        _frame(axes, plot)
    count = len(plot.curves)
    for axes in panels[count - PANELS : count]:
        axes.tick_params(labelbottom=True)
    for axes in panels[count:]:
        axes.set_axis_off()
    figure.supxlabel(X_LABEL, fontsize=10, y=0, va="bottom")
    figure.supylabel(plot.label, fontsize=10, x=0.01, ha="left")
    return figure


def _figure(height: float) -> Figure:
    """Make a figure with fixed margins, since computing margins would take longer than drawing."""
    figure = Figure(figsize=(WIDTH, height))
    figure.subplots_adjust(
        left=LEFT / WIDTH, right=1 - RIGHT / WIDTH, bottom=BOTTOM / height, top=1 - TOP / height
    )
    return figure


def _frame(axes: Axes, plot: Plot) -> None:
    axes.set(**plot.frame)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
