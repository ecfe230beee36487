# SPDX-License-Identifier: MIT
"""A recorded trace: who asked for what, when, and, if it was seen, when it was done.

Read from a Parquet or CSV file with the columns of requests.parquet (docs/method.md):
arrival_ns, sector, sectors; and, if they are there, op, owner, completion_ns.  A run
folder's requests.parquet holds several runs; FILE:SCHEDULER or FILE:SCHEDULER:SEED
chooses one of them.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from understudy.errors import UserError
from understudy.vm.cached import digest

Ints = npt.NDArray[np.int64]
NEEDED = ("arrival_ns", "sector", "sectors")
OPS = {"read": 0, "write": 1}
SECTORS_MAX = 2**31


@dataclass(frozen=True, eq=False)
class Trace:
    """Requests in order of arrival, the first at 0; times in ns, places in sectors."""

    name: str
    arrival_ns: Ints
    sector: Ints
    sectors: Ints
    op: Ints  # 0 read, 1 write
    owner: Ints
    completion_ns: Ints | None

    def __len__(self) -> int:
        """Count the requests."""
        return len(self.arrival_ns)

    @property
    def digest(self) -> str:
        """Name of its content."""
        columns = (self.arrival_ns, self.sector, self.sectors, self.op, self.owner)
        ends = () if self.completion_ns is None else (self.completion_ns,)
        return digest(column.tobytes() for column in (*columns, *ends))

    @property
    def end_sector(self) -> int:
        """The smallest disk that holds every request has so many sectors."""
        return int((self.sector + self.sectors).max())


def load(text: str) -> Trace:
    """The trace that FILE, FILE:SCHEDULER or FILE:SCHEDULER:SEED names."""
    path, scheduler, seed = _parts(text)
    frame = _choose(_read(path), text, scheduler, seed)
    for name in NEEDED:
        if name not in frame.columns:
            raise UserError(f"--trace: {path}: no column {name}; it has {', '.join(frame.columns)}")
    if not frame.height:
        raise UserError(f"--trace: {path}: no request in it")
    frame = _only_reads_and_writes(frame, path).sort("arrival_ns", maintain_order=True)
    columns = {name: _column(frame, name, path) for name in NEEDED}
    _check(columns, path)
    origin = int(columns["arrival_ns"][0])
    return Trace(
        name=text,
        arrival_ns=columns["arrival_ns"] - origin,
        sector=columns["sector"],
        sectors=columns["sectors"],
        op=_column(frame, "op", path) if "op" in frame.columns else _zeros(frame),
        owner=_owners(frame),
        completion_ns=_completions(frame, path, columns["arrival_ns"], origin),
    )


def _parts(text: str) -> tuple[Path, str | None, str | None]:
    if Path(text).exists() or ":" not in text:
        return Path(text), None, None
    path, _, rest = text.partition(":")
    scheduler, _, seed = rest.partition(":")
    return Path(path), scheduler, seed or None


def _read(path: Path) -> pl.DataFrame:
    try:
        return pl.read_csv(path) if path.suffix == ".csv" else pl.read_parquet(path)
    except OSError as error:
        reason = error.strerror or str(error)
    except pl.exceptions.PolarsError as error:
        reason = f"neither Parquet nor CSV: {str(error).splitlines()[0]}"
    raise UserError(f"--trace: {path}: {reason}; it takes FILE.parquet or FILE.csv")


def _choose(
    frame: pl.DataFrame, text: str, scheduler: str | None, seed: str | None
) -> pl.DataFrame:
    """One run of those that a run folder's file holds."""
    if not {"scheduler", "seed"} <= set(frame.columns):
        if scheduler:
            raise UserError(f"--trace: {text}: the file has no runs to choose from")
        return frame
    runs = frame.select("scheduler", "seed").unique(maintain_order=True).rows()
    fitting = [run for run in runs if scheduler in (None, run[0]) and seed in (None, str(run[1]))]
    if len(fitting) != 1:
        known = ", ".join(f"{name}:{number}" for name, number in runs)
        raise UserError(
            f"--trace: {text}: name one run, as FILE:SCHEDULER:SEED; there are: {known}"
        )
    name, number = fitting[0]
    return frame.filter((pl.col("scheduler") == name) & (pl.col("seed") == number))


def _only_reads_and_writes(frame: pl.DataFrame, path: Path) -> pl.DataFrame:
    if "op" not in frame.columns:
        return frame
    known = pl.col("op").cast(pl.String).is_in(["read", "write", "other"])
    strange = frame.filter(~known | pl.col("op").is_null())
    if strange.height:
        raise UserError(f'--trace: {path}: op "{strange["op"][0]}" is neither read nor write')
    return frame.filter(pl.col("op").cast(pl.String) != "other").with_columns(
        op=(pl.col("op").cast(pl.String) == "write").cast(pl.Int64)
    )


def _column(frame: pl.DataFrame, name: str, path: Path) -> Ints:
    column = frame[name]
    if column.null_count() or not column.dtype.is_integer():
        raise UserError(f"--trace: {path}: {name} has to hold whole numbers, one in each row")
    return column.cast(pl.Int64).to_numpy()


def _zeros(frame: pl.DataFrame) -> Ints:
    return np.zeros(frame.height, np.int64)


def _owners(frame: pl.DataFrame) -> Ints:
    """Numbers from 0, in the order in which owners first ask."""
    if "owner" not in frame.columns:
        return _zeros(frame)
    ranks: Any = frame["owner"].cast(pl.String)
    first_seen = {name: rank for rank, name in enumerate(ranks.unique(maintain_order=True))}
    return np.array([first_seen[name] for name in ranks], np.int64)


def _completions(frame: pl.DataFrame, path: Path, arrival_ns: Ints, origin: int) -> Ints | None:
    if "completion_ns" not in frame.columns:
        return None
    completion_ns = _column(frame, "completion_ns", path)
    if (completion_ns < arrival_ns).any():
        row = int((completion_ns < arrival_ns).argmax())
        raise UserError(f"--trace: {path}: request {row} completes before it arrives")
    return completion_ns - origin


def _check(columns: dict[str, Ints], path: Path) -> None:
    bad = {
        "arrival_ns": columns["arrival_ns"] < 0,
        "sector": (columns["sector"] < 0) | (columns["sector"] >= 2**47),
        "sectors": (columns["sectors"] < 1) | (columns["sectors"] > SECTORS_MAX),
    }
    for name, rows in bad.items():
        if rows.any():
            row = int(rows.argmax())
            raise UserError(f"--trace: {path}: request {row}: {name} is {columns[name][row]}")
