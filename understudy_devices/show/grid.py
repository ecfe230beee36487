# SPDX-License-Identifier: MIT
"""Tables of figures, printed without wrapping or truncating a cell.

A table that is too wide for the terminal is split into several tables, one below the other.  Each
repeats the names of the rows, and has as many of the remaining columns as fit.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from rich import box
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table

Block = Sequence[tuple[str, Sequence[str]]]
"""Rows: a name, and a cell for each column."""

ENDLESS = 100_000  # columns; wider than any table, to find out the width that a table needs


@dataclass(frozen=True)
class Grid:
    """Blocks of rows, separated by lines.  Figures are right-aligned."""

    headings: Sequence[str]
    blocks: Sequence[Block]
    title: str | None = None
    words: Sequence[str] = ()  # headings of columns that hold words

    def show(self, console: Console) -> None:
        """Print the table."""
        for table in self._tables(console):
            console.print(table, soft_wrap=False)

    def _tables(self, console: Console) -> Iterator[Table]:
        first = 0
        while first < len(self.headings):
            end = len(self.headings)
            while end > first + 1 and not self._fits(first, end, console):
                end -= 1
            yield self._table(first, end)
            first = end

    def _fits(self, first: int, end: int, console: Console) -> bool:
        endless = console.options.update_width(ENDLESS)
        width = Measurement.get(console, endless, self._table(first, end)).maximum
        return width <= console.width

    def _table(self, first: int, end: int) -> Table:
        title = None if first else self.title
        table = Table("", title=title, box=box.HORIZONTALS, pad_edge=False, collapse_padding=True)
        for heading in self.headings[first:end]:
            table.add_column(heading, overflow="fold", justify=self._side(heading))
        for block in self.blocks:
            for name, cells in block:
                table.add_row(name, *cells[first:end])
            table.add_section()
        return table

    def _side(self, heading: str) -> Literal["left", "right"]:
        return "left" if heading in self.words else "right"
