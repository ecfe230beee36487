# SPDX-License-Identifier: MIT
"""The distributions of response time, as SVG to put into a page.

First as the papers draw them (Jones 2010 Figures 4.4 and 4.5): the fraction of
requests by response time, a curve for each scheduler.  Then cumulated over a
logarithmic axis, where hits and tail are visible as well.  Seeds are pooled.

Text and axes take the colour of the page around them, so one drawing fits a
light and a dark page.
"""

import io
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from understudy.experiment import Outcome
from understudy.metrics import Times, percentile, response_times_ms

BINS = 60
CURVE_POINTS = 400
INK = "#010203"  # becomes currentColor
COLOURS = ("#3f86d6", "#e0831a", "#2fa36b", "#cc5fa3", "#8a70dc", "#d1504c", "#8f8f25")
DASHES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (8, 2)), (0, (1, 1)))
STYLE: dict[Any, Any] = {
    "font.family": "sans-serif",
    "font.size": 10,
    "svg.fonttype": "none",
    "svg.hashsalt": "understudy",
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "grid.color": INK,
    "grid.alpha": 0.15,
    "axes.grid": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
}

Responses = dict[str, Times]


@dataclass(frozen=True)
class Drawing:
    """A figure and what it shows."""

    caption: str
    svg: str


def draw(outcomes: Sequence[Outcome]) -> list[Drawing]:
    """Both figures."""
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
            _figure("density", lambda axes: _density(axes, responses, edge_ms)),
        ),
        Drawing(
            "Share of requests answered within a time (logarithmic axis).",
            _figure("cumulated", lambda axes: _cumulated(axes, responses)),
        ),
    ]


def _by_scheduler(outcomes: Sequence[Outcome]) -> Responses:
    names = dict.fromkeys(outcome.experiment.scheduler for outcome in outcomes)
    return {
        name: np.concatenate(
            [response_times_ms(run) for run in outcomes if run.experiment.scheduler == name]
        )
        for name in names
    }


def _right_edge_ms(responses: Responses) -> float:
    """Most of every curve, but no slow scheduler may press the fast ones flat."""
    bulk = [percentile(times, 95) for times in responses.values()]
    return min(max(bulk), 3 * min(bulk))


def _density(axes: Axes, responses: Responses, edge_ms: float) -> None:
    edges = np.linspace(0, edge_ms, BINS + 1)
    for index, (name, times) in enumerate(responses.items()):
        counts, _ = np.histogram(times, edges)
        axes.plot((edges[:-1] + edges[1:]) / 2, counts / len(times), label=name, **_pen(index))
    axes.set(xlabel="response time (ms)", ylabel="fraction of requests", xlim=(0, edge_ms))
    axes.set_ylim(bottom=0)


def _cumulated(axes: Axes, responses: Responses) -> None:
    shares = np.linspace(0, 1, CURVE_POINTS)
    for index, (name, times) in enumerate(responses.items()):
        quantiles = np.quantile(times, shares, method="inverted_cdf")
        axes.plot(quantiles, shares, label=name, **_pen(index))
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.set(xlabel="response time (ms)", ylabel="share of requests", ylim=(0, 1.01))


def _pen(index: int) -> dict[str, Any]:
    return {
        "color": COLOURS[index % len(COLOURS)],
        "linestyle": DASHES[index % len(DASHES)],
        "linewidth": 1.8,
    }


def _figure(name: str, paint: Callable[[Axes], None]) -> str:
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(8, 3.6), layout="constrained")
        axes = figure.subplots()
        paint(axes)
        figure.legend(loc="outside upper center", ncols=len(COLOURS))
        text = io.StringIO()
        figure.savefig(text, format="svg", transparent=True, metadata={"Date": None})
    return _inline(text.getvalue(), name)


def _inline(svg: str, name: str) -> str:
    """What an HTML page wants: no prologue, no size of its own, ids that are its own."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r' xmlns(:xlink)?="[^"]*"', "", svg)
    svg = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", svg, count=1)
    svg = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", svg, count=1)
    svg = re.sub(r'\bid="', f'id="{name}-', svg)
    svg = svg.replace("url(#", f"url(#{name}-").replace('href="#', f'href="#{name}-')
    return svg.replace(INK, "currentColor")
