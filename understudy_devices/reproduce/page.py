# SPDX-License-Identifier: MIT
"""The page with all results: the papers' figures, ours, what differs and why, and the tables and
figures that are not reproduced."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from jinja2 import Environment, StrictUndefined

from understudy_devices import reproduce
from understudy_devices.papers.printed import PRINTED, TITLES, Printed
from understudy_devices.show.grid import Grid

if TYPE_CHECKING:
    from understudy_devices.reproduce.artifact import Part

# Read at once, since a checkout may change during the minutes of a command.
TEMPLATE = Path(__file__).with_suffix(".md.j2").read_text(encoding="utf-8")


def render(parts: "Sequence[Part]", lists: Mapping[str, str]) -> str:
    """Return the page as Markdown; `lists` has the lists of checksums, each with its meaning."""
    results = {part.result.name: part.result for part in parts}
    environment = Environment(  # makes Markdown from the project's own figures
        undefined=StrictUndefined,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.from_string(TEMPLATE).render(
        titles=TITLES,
        printed=PRINTED,
        of=reproducing,
        results=results,
        parts={name: [part for part in parts if part.result.name == name] for name in results},
        markdown=markdown,
        lists=lists,
        measured=[name for part in parts if part.platform == reproduce.HOST for name in part.files],
    )


def reproducing(printed: Printed) -> list[str]:
    """Return the names of the results that reproduce this table or figure."""
    key = (printed.paper, printed.name)
    return [name for name in reproduce.names() if key in reproduce.named(name).printed]


def markdown(grid: Grid) -> str:
    """Return the table as Markdown."""
    return "\n".join(f"| {' | '.join(cells)} |" for cells in _rows(grid))


def _rows(grid: Grid) -> Iterator[tuple[str, ...]]:
    yield ("", *grid.headings)
    yield ("---", *("---" if name in grid.words else "---:" for name in grid.headings))
    for block in grid.blocks:
        for name, cells in block:
            yield (name, *cells)
