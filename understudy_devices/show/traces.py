# SPDX-License-Identifier: MIT
"""Traces as a picture: the times between arrivals and the sizes of requests (ICPE 2011, Figures 7
and 6)."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from understudy_devices.show import picture
from understudy_devices.traces.characterise import BINS, characterise
from understudy_devices.traces.trace import Trace

CAPTION = "Times between arrivals, and sizes of requests."
POINTS = 400  # points of a distribution: enough for a line
SHORTEST_MS = 1e-3  # shorter times are drawn at the left edge


def draw(traces: Sequence[Trace], file: Path) -> None:
    """Write the picture, with a curve and a row of bars for each trace; the file's ending chooses
    the format.
    """
    picture.check(file)
    with picture.styled():
        picture.save(figure(traces), file)


def figure(traces: Sequence[Trace]) -> Figure:
    """Draw the traces, in the current style."""
    drawn = Figure(figsize=(9, 3.8), layout="constrained")
    left, right = drawn.subplots(1, 2)
    for rank, trace in enumerate(traces):
        _draw_interarrivals(left, trace)
        _draw_sizes(right, trace, rank, len(traces))
    left.set(xscale="log", xlabel="interarrival time (ms)", ylabel="share of requests")
    left.set(ylim=(0, 1.02))
    left.legend()
    right.set(xlabel="size, up to blocks of 4 kB", ylabel="share of requests", ylim=(0, None))
    right.set_xticks(range(len(BINS)), BINS)
    return drawn


def _draw_interarrivals(axes: Axes, trace: Trace) -> None:
    """Draw the cumulative distribution; a single request has no interarrival times."""
    between_ms = np.sort(np.diff(trace.arrival_ns)) / 1e6
    count = len(between_ms)
    ranks = np.unique(np.linspace(0, count - 1, min(count, POINTS)).astype(int))
    reached = np.maximum(between_ms[ranks], SHORTEST_MS)
    share = (ranks + 1) / max(count, 1)
    axes.step(reached, share, where="post", label=Path(trace.name).name)


def _draw_sizes(axes: Axes, trace: Trace, rank: int, of: int) -> None:
    width = 0.8 / of
    at = np.arange(len(BINS)) + (rank - (of - 1) / 2) * width
    axes.bar(at, np.array(characterise(trace).bins) / len(trace), width)
