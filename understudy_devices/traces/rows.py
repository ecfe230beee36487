# SPDX-License-Identifier: MIT
"""Converts the rows of a table to checked numbers; UserError names the first wrong row.

arrival_ns, sectors, and sector or completion_ns are required. op, owner, volume, dispatch_ns and
completion_ns are used if present, request_id only in a run folder's table.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl

from understudy_devices.base.errors import UserError
from understudy_devices.traces.trace import Ints

NEEDED = ("arrival_ns", "sector", "sectors")
OPS = {"read": 0, "write": 1}
SECTORS_MAX = 2**31
VOLUME = "volume"
ROW = "row of the file"  # an additional column, from 1
REQUEST = "request_id"


def transfers(frame: pl.DataFrame, path: Path) -> pl.DataFrame:
    """Return the rows with reads and writes."""
    if "op" not in frame.columns:
        return frame
    op = words(frame, "op", path)
    _refuse(frame, ~op.is_in([*OPS, "other"]), "op", path, "is neither read nor write")
    return frame.with_columns(op=op).filter(op != "other")


def columns(frame: pl.DataFrame, path: Path, relative: bool, ours: bool) -> dict[str, Ints]:
    """Return all columns except `owner`; times may be negative if they are relative."""
    names = (*NEEDED, REQUEST) if ours and REQUEST in frame.columns else NEEDED
    values = {name: integers(frame, name, path) for name in names if name in frame.columns}
    sector = values.get("sector", np.zeros(0, np.int64))
    bad = {
        "arrival_ns": (values["arrival_ns"] < 0) & (not relative),
        "sector": (sector < 0) | (sector >= 2**47),
        "sectors": (values["sectors"] < 1) | (values["sectors"] > SECTORS_MAX),
    }
    for name, wrong in bad.items():
        if name in values:
            _refuse(frame, pl.Series(wrong), name, path, "is impossible")
    return {**values, **dict(_ends(frame, path, values["arrival_ns"])), "op": _ops(frame)}


def owners(frame: pl.DataFrame, path: Path) -> pl.Series:
    """Return the owners; 0 if the table has none."""
    if "owner" not in frame.columns:
        return pl.Series(np.zeros(frame.height, np.int64))
    if frame["owner"].dtype.is_integer():
        return _full(frame, "owner", path)
    return words(frame, "owner", path)


def volumes(frame: pl.DataFrame, path: Path) -> pl.Series | None:
    """Return the volumes; None if the table has none."""
    if VOLUME not in frame.columns:
        return None
    if frame[VOLUME].dtype.is_integer():
        return _full(frame, VOLUME, path).cast(pl.String)
    return words(frame, VOLUME, path)


def integers(frame: pl.DataFrame, name: str, path: Path) -> Ints:
    """Return a column of whole numbers."""
    column = _full(frame, name, path)
    if not column.dtype.is_integer():
        raise UserError(f"{path}: {name} has to hold whole numbers, not {column.dtype}")
    numbers = column.cast(pl.Int64, strict=False)
    _refuse(frame, numbers.is_null(), name, path, "is far too large")
    return numbers.to_numpy()


def words(frame: pl.DataFrame, name: str, path: Path) -> pl.Series:
    """Return a column of text."""
    column = _full(frame, name, path)
    if column.dtype not in (pl.String, pl.Categorical, pl.Enum):
        raise UserError(f"{path}: {name} has to hold words, not {column.dtype}")
    return column.cast(pl.String)


def _full(frame: pl.DataFrame, name: str, path: Path) -> pl.Series:
    """Return a column without missing values."""
    column = frame[name]
    _refuse(frame, column.is_null(), name, path, "is there")
    return column


def _refuse(frame: pl.DataFrame, wrong: pl.Series, name: str, path: Path, why: str) -> None:
    """Raise UserError for the first wrong row, if there is one."""
    if wrong.any():
        at = wrong.to_list().index(True)
        value = frame[name][at]
        text = "nothing" if value is None else value
        raise UserError(f"{path}: row {frame[ROW][at]}: {name}: {text} {why}")


def _ops(frame: pl.DataFrame) -> Ints:
    if "op" not in frame.columns:
        return np.zeros(frame.height, np.int64)
    return (frame["op"] == "write").cast(pl.Int64).to_numpy()


def _ends(frame: pl.DataFrame, path: Path, arrival_ns: Ints) -> Iterator[tuple[str, Ints]]:
    """Yield the columns of completion and dispatch times; without completions, neither of them."""
    if "completion_ns" not in frame.columns:
        return
    completion_ns = integers(frame, "completion_ns", path)
    early = pl.Series(completion_ns < arrival_ns)
    _refuse(frame, early, "completion_ns", path, "is before the arrival")
    yield "completion_ns", completion_ns
    if "dispatch_ns" not in frame.columns:
        return
    dispatch_ns = integers(frame, "dispatch_ns", path)
    wrong = pl.Series((dispatch_ns < arrival_ns) | (dispatch_ns > completion_ns))
    _refuse(frame, wrong, "dispatch_ns", path, "is not between arrival and completion")
    yield "dispatch_ns", dispatch_ns
