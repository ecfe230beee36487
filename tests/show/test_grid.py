# SPDX-License-Identifier: MIT
"""Tables on narrow terminals: no line is wrapped, and no column is lost."""

import io

import pytest
from rich.console import Console

from understudy_devices.show.grid import Grid

NAMES = [f"scheduler{number}" for number in range(7)]
ROWS = [
    ("mean response (ms)", [f"{number}46.20 ± 12.34" for number in range(7)]),
    ("throughput", [f"{number}.50" for number in range(7)]),
]


def printed(grid: Grid, width: int) -> list[str]:
    console = Console(file=io.StringIO(), width=width)
    grid.show(console)
    return console.file.getvalue().splitlines()  # type: ignore[attr-defined,no-any-return]


@pytest.mark.parametrize("width", [40, 80, 120, 200])
def test_every_cell_is_whole_and_in_the_row_of_its_name(width: int) -> None:
    lines = printed(Grid(NAMES, [ROWS]), width)
    assert max(map(len, lines)) <= width
    for name, cells in ROWS:
        whole = [line.strip().removeprefix(name) for line in lines if line.strip().startswith(name)]
        assert " ".join(" ".join(whole).split()) == " ".join(cells)


def test_what_fits_is_one_table() -> None:
    assert sum("scheduler0" in line for line in printed(Grid(NAMES, [ROWS]), 200)) == 1
    assert sum("scheduler" in line for line in printed(Grid(NAMES, [ROWS]), 200)) == 1
    assert sum("scheduler" in line for line in printed(Grid(NAMES, [ROWS]), 80)) == 3


def test_a_single_column_that_is_too_wide_is_still_shown() -> None:
    assert "".join(printed(Grid(["a", "b"], [[("row", ["x" * 30, "y"])]]), 20)).count("x") == 30


def test_the_title_stands_above_the_first_table_only() -> None:
    assert sum("A title" in line for line in printed(Grid(NAMES, [ROWS], "A title"), 80)) == 1
