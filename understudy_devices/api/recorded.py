# SPDX-License-Identifier: MIT
"""The recorded requests of a run folder, of all runs or of some."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl

from understudy_devices.base.errors import UserError
from understudy_devices.campaign import result_files
from understudy_devices.measure.records import INSTANTS, SCHEMA
from understudy_devices.traces.read import REQUESTS, parts
from understudy_devices.traces.runs import listed

COLUMNS = ("scheduler", "seed", *SCHEMA)


def name(text: str) -> str:
    """Return a name for a file made of what RUN, RUN:SCHEDULER or RUN:SCHEDULER:SEED names."""
    folder, scheduler, seed = parts(text)
    return "-".join(filter(None, [_folder(folder).resolve().name, scheduler, seed]))


def requests(text: str) -> tuple[pl.DataFrame, int, float]:
    """Return the same as `of` for RUN, RUN:SCHEDULER or RUN:SCHEDULER:SEED; RUN is a run folder, or
    the requests.parquet in it."""
    path, scheduler, seed = parts(text)
    return of(_folder(path), scheduler, seed)


def of(
    folder: Path, scheduler: str | None, seed: str | None, most: int | None = None
) -> tuple[pl.DataFrame, int, float]:
    """Return the requests that completed, the number of those that did not, and the slowdown k.

    None: of all schedulers, or with all seeds.  `most`: if there are more rows, they are refused.
    A UserError of one line says what is wrong.
    """
    slowdown = result_files.load(folder).runs[0].scale
    table = _table(folder)
    chosen = table
    for column, value in (("scheduler", scheduler), ("seed", seed)):
        if value:
            chosen = chosen.filter(pl.col(column).cast(pl.String) == value)
    frame = _collected(chosen if most is None else chosen.head(most + 1), folder)
    name = ":".join(filter(None, [str(folder), scheduler, seed]))
    if most is not None and frame.height > most:
        raise UserError(f"{name}: more than {most:,} requests; understudy export can read them")
    if frame.is_empty():
        known = _runs(table, folder, most)
        there = listed([f"{folder}:{one}:{number}" for one, number, _ in known])
        raise UserError(f"{name}: no such run; there are: {there}")
    # Where no pick was seen, the driver took the request at once.
    picked = frame.with_columns(pl.col("pick_ns").fill_null(pl.col("dispatch_ns")))
    whole = picked.drop_nulls([time for time in INSTANTS if time != "due_ns"])
    if whole.is_empty():
        raise UserError(f"{name}: no request has the times of both its dispatch and its completion")
    return whole, frame.height - whole.height, slowdown


def runs(folder: Path, most: int | None = None) -> list[tuple[str, int, int]]:
    """Return the scheduler, the seed and the number of requests of each run in a run folder.

    `most`: if all runs together have more requests, they are refused.
    """
    return _runs(_table(folder), folder, most)


def _folder(path: Path) -> Path:
    return path.parent if path.name == REQUESTS else path


def _runs(table: pl.LazyFrame, folder: Path, most: int | None) -> list[tuple[str, int, int]]:
    # The number of rows is in the file's metadata, and the columns are not read for it.
    if most is not None and (rows := _collected(table.select(pl.len()), folder).item()) > most:
        raise UserError(f"{folder}: {rows:,} requests, more than {most:,}; run it with fewer seeds")
    named = table.drop_nulls(["scheduler", "seed"])
    counted = named.group_by("scheduler", "seed", maintain_order=True).len()
    return [(str(name), int(seed), rows) for name, seed, rows in _collected(counted, folder).rows()]


def _table(folder: Path) -> pl.LazyFrame:
    """Return the table, of which only what is used is read."""
    file = folder / REQUESTS
    with _said(file):
        table = pl.scan_parquet(file).select(COLUMNS)
        kinds = table.collect_schema()
    expected = {"scheduler": pl.String(), "seed": pl.Int64(), **SCHEMA}
    if wrong := [name for name, kind in expected.items() if not _fits(kinds[name], kind)]:
        raise UserError(f"{file}: {wrong[0]} has a wrong type; run it again")
    return table


def _collected(table: pl.LazyFrame, folder: Path) -> pl.DataFrame:
    with _said(folder / REQUESTS):
        return table.collect()


@contextmanager
def _said(file: Path) -> Iterator[None]:
    """Raise UserError for a file that cannot be read."""
    try:
        yield
    except FileNotFoundError:
        raise UserError(f"{file}: is missing; keep the files of a run folder together") from None
    except OSError as error:
        raise UserError(f"{file}: {error.strerror or error}") from error
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        reason = str(error).splitlines()[0]
        raise UserError(f"{file}: is not a table of requests ({reason}); run it again") from error


def _fits(dtype: pl.DataType, kind: pl.DataType | type[pl.DataType]) -> bool:
    if kind == pl.Int64:
        return dtype.is_integer()
    return dtype == kind or (isinstance(kind, pl.Enum) and dtype in (pl.String, pl.Categorical))
