# SPDX-License-Identifier: MIT
"""Pictures, in a single style; the same figure always results in the same bytes.

Pictures use Matplotlib's defaults and STYLE, and ignore the user's matplotlibrc.  No file
contains a date.  The last bits of Matplotlib's layout differ from run to run, and would change
SVG and PDF files.  So the layout is computed once and rounded.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import style
from matplotlib.figure import Figure

from understudy_devices.base import scratch
from understudy_devices.base.errors import UserError

STYLE: dict[str, Any] = {
    "font.family": "sans-serif",
    "font.size": 10,
    "svg.hashsalt": "understudy",
    "axes.grid": True,
    "grid.alpha": 0.2,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
}
WITHOUT_DATE: dict[str, dict[str, Any]] = {
    ".png": {"Software": None},
    ".svg": {"Date": None},
    ".pdf": {"CreationDate": None},
}
DPI = 120
PLACES = 6  # decimal places of a fraction of the figure's size


def check(file: Path) -> None:
    """Check the file's name, whose ending chooses the format, and its folder."""
    if file.suffix not in WITHOUT_DATE:
        raise UserError(f"{file}: a picture's name ends in {', '.join(WITHOUT_DATE)}")
    if not file.parent.is_dir():
        raise UserError(f"{file}: {file.parent}: no such folder")


@contextmanager
def styled(more: dict[str, Any] | None = None) -> Iterator[None]:
    """Apply the style to figures made and saved in this block."""
    with style.context(["default", {**STYLE, **(more or {})}]):
        yield


def settle(figure: Figure) -> None:
    """Compute the figure's layout once, with rounded coordinates."""
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    for axes in figure.axes:
        left, bottom, width, height = np.round(axes.get_position().bounds, PLACES)
        axes.set_position((left, bottom, width, height))


def save(figure: Figure, file: Path) -> None:
    """Save the figure; the file appears when it is complete."""
    settle(figure)
    with scratch.replacing(file) as fresh:
        figure.savefig(fresh, format=file.suffix[1:], dpi=DPI, metadata=WITHOUT_DATE[file.suffix])
