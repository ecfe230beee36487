# SPDX-License-Identifier: MIT
"""The results of `understudy consolidate` for a simulated disk, as tables and as report.html."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from rich.console import Console

from understudy_devices.consolidation.disk_answer import doubts
from understudy_devices.consolidation.disk_prediction import DiskPrediction
from understudy_devices.consolidation.trust import ALIGNED_ON_DISK, SAMPLED_ON_DISK, of_disk
from understudy_devices.show import inline, notebook, page
from understudy_devices.show.directions import DIRECTIONS
from understudy_devices.show.grid import Grid
from understudy_devices.show.inline import COLOURS, Drawing
from understudy_devices.show.on_disk.table import HEADINGS, directions, rows

__all__ = ["html", "render", "show", "text"]

TEMPLATE = "on_disk/report.html.j2"
CAPTION = "Share of requests answered within a time: alone (solid) and together (dashed), with {}."
SHORTEST_MS = 1e-3


def show(disk: str, predictions: Sequence[DiskPrediction], console: Console) -> None:
    """Print two tables for each scheduler."""
    for grid in _grids(disk, predictions):
        grid.show(console)
    for line in _sentences(disk, predictions):
        console.print(line, soft_wrap=True)


def text(disk: str, predictions: Sequence[DiskPrediction]) -> str:
    """Return what `show` prints."""
    return notebook.printed(lambda console: show(disk, predictions, console))


def html(command: str, disk: str, predictions: Sequence[DiskPrediction]) -> str:
    """Return the tables and a picture as a piece of a page."""
    grids, sentences = _grids(disk, predictions), list(_sentences(disk, predictions))
    section = notebook.Section(_title(disk, predictions), grids, sentences, _draw(predictions[0]))
    return notebook.html(command, [section], list(doubts(predictions)))


def render(document: dict[str, Any], predictions: Sequence[DiskPrediction]) -> str:
    """Return the page as HTML; `document` is the content of result.json."""
    disk = str(document["inputs"]["disk"])
    return page.render(
        TEMPLATE,
        {
            "title": _title(disk, predictions),
            "headings": HEADINGS,
            "direction_headings": DIRECTIONS,
            "schedulers": [(one.scheduler, rows(one), directions(one)) for one in predictions],
            "sentences": [*_sentences(disk, predictions), *doubts(predictions)],
            "figures": [_draw(one) for one in predictions],
            "inputs": page.flat(document["inputs"]),
            "environment": page.flat(document["environment"]),
        },
    )


def _title(disk: str, predictions: Sequence[DiskPrediction]) -> str:
    count = len(predictions[0].guests)
    return f"{count} VM{'s' * (count > 1)} on {disk}"


def _grids(disk: str, predictions: Sequence[DiskPrediction]) -> list[Grid]:
    grids = []
    for one in predictions:
        grids.append(Grid(HEADINGS, [rows(one)], f"response times on {disk} with {one.scheduler}"))
        if block := directions(one):
            grids.append(Grid(DIRECTIONS, [block], f"reads and writes with {one.scheduler}"))
    return grids


def _sentences(disk: str, predictions: Sequence[DiskPrediction]) -> Iterator[str]:
    for one in predictions:
        yield (
            f"{one.scheduler}: the VMs ask for {one.offered_load:.0%} of what {disk} can do; "
            f"{len(one.replications)} replications"
        )
    yield ALIGNED_ON_DISK if predictions[0].guests[0].aligned else SAMPLED_ON_DISK
    yield str(of_disk(disk))


def _draw(prediction: DiskPrediction) -> Drawing:
    with inline.styled():
        figure = Figure(figsize=(8.0, 3.4))
        figure.subplots_adjust(left=0.1, right=0.98, bottom=0.16, top=0.88)
        axes = figure.subplots()
        axes.set(xlabel="response time (ms)", ylabel="share of requests")
        for k, guest in enumerate(prediction.guests[: len(COLOURS)]):
            alone, together = prediction.alone[k], prediction.together[k]
            shares = np.arange(1, len(alone.distribution_ms) + 1) / len(alone.distribution_ms)
            colour = COLOURS[k]
            axes.plot(np.maximum(alone.distribution_ms, SHORTEST_MS), shares, color=colour,
                      label=guest.name, linewidth=1.6)  # fmt: skip
            axes.plot(np.maximum(together.distribution_ms, SHORTEST_MS), shares, color=colour,
                      linestyle="--", linewidth=1.6)  # fmt: skip
        axes.set(xscale="log", ylim=(0, 1.01))
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
        figure.legend(loc="upper center", ncols=len(COLOURS))
        return Drawing(CAPTION.format(prediction.scheduler), inline.svg(figure))
