# SPDX-License-Identifier: MIT
"""Drawings for HTML pages, as SVG.

Text and axes have the colour of the page's text, so one drawing is readable on a light and on a
dark page.
"""

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from xml.sax.saxutils import escape

from matplotlib.figure import Figure

from understudy_devices.base.cache import digest
from understudy_devices.show import picture

INK = "#010203"  # becomes currentColor
COLOURS = ("#3f86d6", "#e0831a", "#2fa36b", "#cc5fa3", "#8a70dc", "#d1504c", "#8f8f25")
DASHES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (8, 2)), (0, (1, 1)))
STYLE: dict[str, Any] = {
    "svg.fonttype": "none",
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "grid.color": INK,
    "grid.alpha": 0.15,
}


@dataclass(frozen=True)
class Drawing:
    """A figure and its caption."""

    caption: str
    svg: str


@contextmanager
def styled(more: dict[str, Any] | None = None) -> Iterator[None]:
    """Apply the style to figures made and drawn in this block."""
    with picture.styled({**STYLE, **(more or {})}):
        yield


def svg(figure: Figure, name: str = "") -> str:
    """Return the figure as an SVG element; `name` must be unique on the page.

    Without a name, the name is a digest of the figure, so it is unique on any page.
    """
    text = io.StringIO()
    figure.savefig(text, format="svg", transparent=True, metadata={"Date": None})
    return _inline(text.getvalue(), name or f"u{digest([text.getvalue().encode()])}")


def standalone(drawing: Drawing) -> str:
    """Return the drawing as the text of an SVG file, black on white, with its caption as title."""
    names = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
    style = 'style="color: black; background: white"'
    opened = drawing.svg.replace("<svg", f"<svg {names} {style}", 1)
    end = opened.index(">") + 1
    return f"{opened[:end]}\n <title>{escape(drawing.caption)}</title>{opened[end:]}"


def _inline(svg: str, name: str) -> str:
    """Adapt an SVG to an HTML page: without prologue and size, with unique ids."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r' xmlns(:xlink)?="[^"]*"', "", svg)
    svg = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", svg, count=1)
    svg = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", svg, count=1)
    svg = re.sub(r'\bid="', f'id="{name}-', svg)
    svg = svg.replace("url(#", f"url(#{name}-").replace('href="#', f'href="#{name}-')
    return svg.replace(INK, "currentColor")
