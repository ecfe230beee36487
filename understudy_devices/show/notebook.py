# SPDX-License-Identifier: MIT
"""Results in a notebook or in Python's shell: tables, sentences and a picture."""

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.console import Console

from understudy_devices.show import page
from understudy_devices.show.grid import Grid

if TYPE_CHECKING:  # Matplotlib takes half a second
    from understudy_devices.show.inline import Drawing

WIDTH = 120  # of the text


@dataclass(frozen=True)
class Section:
    """A part of a result, such as one platform's."""

    title: str
    grids: Sequence[Grid] = ()
    sentences: Sequence[str] = ()
    figure: "Drawing | None" = None


def html(command: str, sections: Sequence[Section], notes: Sequence[str] = ()) -> str:
    """Return a piece of a page; the notebook supplies the styles."""
    view = {"command": command, "sections": sections, "notes": notes}
    return page.render("notebook.html.j2", view)


def text(sections: Sequence[Section], notes: Sequence[str] = ()) -> str:
    """Return the same without the picture, as lines of text."""

    def show(console: Console) -> None:
        for section in sections:
            console.print(section.title, soft_wrap=True, markup=False, emoji=False)
            for grid in section.grids:
                grid.show(console)
            for sentence in section.sentences:
                console.print(sentence, soft_wrap=True, markup=False, emoji=False)

    return printed(show, notes)


def printed(show: Callable[[Console], None], notes: Sequence[str] = ()) -> str:
    """Return what a function prints, and the notes, as lines of text."""
    lines = io.StringIO()
    console = Console(
        file=lines, width=WIDTH, highlight=False, force_terminal=False, force_jupyter=False
    )
    show(console)
    for note in notes:
        console.print(note, soft_wrap=True, markup=False, emoji=False)
    return lines.getvalue().rstrip("\n")
