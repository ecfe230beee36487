# SPDX-License-Identifier: MIT
"""Tables of a profile: comma-separated values below a line of names with their units.

A short table is in the TOML file, between triple quotes.  A long table is in a separate file in
the same folder; the TOML file then has the separate file's name in place of the table.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationInfo

from understudy_devices.device.section import wrong

LONG = 40  # rows; a longer table has a separate file


@dataclass(frozen=True)
class Column:
    """A column of whole numbers from `least` to `most`, or of fractions below 1 (`share`)."""

    least: int = 0
    most: int = 2**40
    share: bool = False

    def value(self, cell: str) -> float | int:
        """Return the number in a cell; if the cell is wrong, raise a ValueError with the reason."""
        try:
            number = float(cell) if self.share else int(cell)
        except ValueError:
            raise ValueError(f"is not a {'number' if self.share else 'whole number'}") from None
        if self.share and not 0 <= number < 1:
            raise ValueError("is not from 0 up to 1")
        if not self.share and not self.least <= number <= self.most:
            raise ValueError(f"is not from {self.least} to {self.most}")
        return number


Row = dict[str, Any]


def rows(value: object, info: ValidationInfo, columns: Mapping[str, Column]) -> list[Row]:
    """Return the rows of the table that a key holds, or of the file that the key names.

    The file is in the profile's folder.
    """
    if not isinstance(value, str):
        raise wrong("", "is not a table; it must begin with a line of names, between triple quotes")
    if not value.endswith(".csv"):
        return _parsed(value, columns, "")
    name = Path(value)
    if name.name != value:
        raise wrong("", f"{value}: must be a file beside the profile, without a folder")
    folder = (info.context or {}).get("folder", Path())
    try:
        text = (folder / name).read_text(encoding="utf-8")
    except OSError as error:
        raise wrong("", f"{value}: {error.strerror}; it belongs beside the profile") from None
    except ValueError:
        raise wrong("", f"{value}: is not text") from None
    return _parsed(text, columns, f"{value}: ")


def _parsed(text: str, columns: Mapping[str, Column], where: str) -> list[Row]:
    lines = text.strip().splitlines()
    if text and not text.endswith("\n"):
        raise wrong("", f"{where}line {len(lines)} has no end: is the table cut?")
    names = lines[0].split(",") if lines else []
    for number, name in enumerate(names, 1):
        if name not in columns or name in names[: number - 1]:
            known = ", ".join(columns)
            raise wrong("", f"{where}line 1, column {number}: {name} is not one of {known}, once")
    table = []
    for number, line in enumerate(lines[1:], 2):
        cells = line.split(",")
        if len(cells) != len(names):
            raise wrong("", f"{where}line {number}: has {len(cells)} columns for {len(names)}")
        table.append(_row(cells, names, columns, f"{where}line {number}, column"))
    if not table:
        raise wrong("", f"{where}has no rows below its names")
    return table


def _row(
    cells: Sequence[str], names: Sequence[str], columns: Mapping[str, Column], where: str
) -> Row:
    row: Row = {}
    for name, cell in zip(names, map(str.strip, cells), strict=True):
        try:
            row[name] = columns[name].value(cell) if cell else None
        except ValueError as error:
            raise wrong("", f"{where} {name}: {cell} {error}") from None
    return row


def text(names: Sequence[str], table: Sequence[Sequence[object]]) -> str:
    """Return the table as text, without empty columns."""
    used = [i for i in range(len(names)) if any(row[i] is not None for row in table)]
    lines = [[names[i] for i in used]]
    lines += [["" if row[i] is None else str(row[i]) for i in used] for row in table]
    return "".join(",".join(line) + "\n" for line in lines)
