# SPDX-License-Identifier: MIT
"""The recorded requests of a run folder, of all runs or of some."""

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
    """Return the requests that completed, the number of those that did not, and the slowdown k.

    `text` is RUN, RUN:SCHEDULER or RUN:SCHEDULER:SEED; RUN is a run folder, or the
    requests.parquet in it.  A UserError of one line says what is wrong.
    """
    path, scheduler, seed = parts(text)
    folder = _folder(path)
    slowdown = result_files.load(folder).runs[0].scale
    frame = _table(folder)
    known = frame.select("scheduler", "seed").unique(maintain_order=True).rows()
    for column, value in (("scheduler", scheduler), ("seed", seed)):
        if value:
            frame = frame.filter(pl.col(column).cast(pl.String) == value)
    if frame.is_empty():
        there = listed([f"{folder}:{one}:{number}" for one, number in known])
        raise UserError(f"{text}: no such run; there are: {there}")
    # Where no pick was seen, the driver took the request at once.
    picked = frame.with_columns(pl.col("pick_ns").fill_null(pl.col("dispatch_ns")))
    whole = picked.drop_nulls([time for time in INSTANTS if time != "due_ns"])
    if whole.is_empty():
        raise UserError(f"{text}: no request has the times of both its dispatch and its completion")
    return whole, frame.height - whole.height, slowdown


def _folder(path: Path) -> Path:
    return path.parent if path.name == REQUESTS else path


def _table(folder: Path) -> pl.DataFrame:
    file = folder / REQUESTS
    try:
        frame = pl.read_parquet(file, columns=list(COLUMNS))
    except FileNotFoundError:
        raise UserError(f"{file}: is missing; keep the files of a run folder together") from None
    except OSError as error:
        raise UserError(f"{file}: {error.strerror or error}") from error
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        reason = str(error).splitlines()[0]
        raise UserError(f"{file}: is not a table of requests ({reason}); run it again") from error
    if wrong := [name for name, kind in SCHEMA.items() if not _fits(frame[name].dtype, kind)]:
        raise UserError(f"{file}: {wrong[0]} has a wrong type; run it again")
    return frame


def _fits(dtype: pl.DataType, kind: pl.DataType | type[pl.DataType]) -> bool:
    if kind == pl.Int64:
        return dtype.is_integer()
    return dtype == kind or (isinstance(kind, pl.Enum) and dtype in (pl.String, pl.Categorical))
