# SPDX-License-Identifier: MIT
"""A trace from a file in any format; its columns are those of requests.parquet (docs/method.md).

Needed are arrival_ns, sector, sectors; and, if they are there, op, owner, dispatch_ns and
completion_ns count.  A run folder's requests.parquet holds several runs; FILE:SCHEDULER or
FILE:SCHEDULER:SEED chooses one of them.  Its times are those of a disk made k times slower, and
are divided by the k in the result.json beside it.  NAME.blktrace.0, or NAME alone, is the trace of
all CPUs that blktrace has written (per_cpu.py).
"""

import json
import os
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl

from understudy.base.errors import UserError
from understudy.traces import formats
from understudy.traces.per_cpu import largest
from understudy.traces.reading import NO_TRANSFER, Reading
from understudy.traces.trace import Ints, Trace

NEEDED = ("arrival_ns", "sector", "sectors")
OPS = {"read": 0, "write": 1}
SECTORS_MAX = 2**31
REQUESTS = "requests.parquet"
ROW = "row of the file"  # a column of ours, from 1


def load(text: str) -> Trace:
    """The whole trace that --trace names; UserError if it can't be read to its end."""
    try:
        found = recorded(text)
    except UserError as error:
        raise UserError(f"--trace: {error}") from error
    if found.broken:
        raise UserError(
            f"--trace: {text}: {found.broken}; understudy trace convert {text} OUT.parquet keeps "
            "what precedes"
        )
    return found


def recorded(text: str) -> Trace:
    """What can be read of the trace that FILE, FILE:SCHEDULER or FILE:SCHEDULER:SEED names."""
    path, scheduler, seed = _parts(text)
    reading = _read(path)
    slowdown = _slowdown(path) if _has_runs(reading.frame) else 1
    chosen = _choose(reading.frame, text, scheduler, seed, path)
    frame = _only_reads_and_writes(chosen, path)
    left_out = Counter(reading.left_out) + Counter({NO_TRANSFER: chosen.height - frame.height})
    columns = {name: _integers(frame, name, path) for name in NEEDED}
    _check(frame, columns, path)
    ends_ns = _completions(frame, path, columns["arrival_ns"])
    sent_ns = _dispatches(frame, path, columns["arrival_ns"], ends_ns)
    op, owner = _ops(frame), _owners(frame, path)
    order = np.argsort(columns["arrival_ns"], kind="stable")
    origin_ns = columns["arrival_ns"][order[0]]
    return Trace(
        name=text,
        arrival_ns=(columns["arrival_ns"][order] - origin_ns) // slowdown,
        sector=columns["sector"][order],
        sectors=columns["sectors"][order],
        op=op[order],
        owner=_numbered(owner.gather(order)),
        completion_ns=None if ends_ns is None else (ends_ns[order] - origin_ns) // slowdown,
        dispatch_ns=None if sent_ns is None else (sent_ns[order] - origin_ns) // slowdown,
        left_out=dict(left_out),
        broken=reading.broken,
        out_of_order=_out_of_order(columns["arrival_ns"]),
    )


def every_run(text: str) -> list[str]:
    """The names of all runs in FILE, or of SCHEDULER in FILE:SCHEDULER; the text itself if the file
    is no run folder's.  UserError if they are of several schedulers."""
    path, scheduler, seed = _parts(text)
    if seed or path.name != REQUESTS or not path.is_file():
        return [text]
    frame = _read(path).frame
    if not _has_runs(frame):
        return [text]
    runs = frame.select("scheduler", "seed").unique(maintain_order=True)
    names = runs["scheduler"].unique(maintain_order=True).to_list()
    if not scheduler and len(names) > 1:
        raise UserError(
            f"{text}: name one scheduler, as {text}:{names[0]}; there are: {', '.join(names)}"
        )
    return [
        f"{path}:{name}:{number}" for name, number in runs.rows() if scheduler in (None, name)
    ] or [text]


def _parts(text: str) -> tuple[Path, str | None, str | None]:
    if os.access(text, os.F_OK) or ":" not in text:
        return Path(text), None, None
    path, _, rest = text.partition(":")
    scheduler, _, seed = rest.partition(":")
    return Path(path), scheduler, seed or None


def _read(path: Path) -> Reading:
    """The file with what is needed in it, its rows numbered."""
    try:
        with largest(path).open("rb") as file:
            reading = formats.read(file)
    except OSError as error:
        raise UserError(f"{path}: {error.strerror or error}") from error
    except ValueError as error:
        raise UserError(f"{path}: {error}") from error
    if not reading.frame.height:
        raise UserError(f"{path}: {_why_empty(reading)}")
    for name in NEEDED:
        if name not in reading.frame.columns:
            has = ", ".join(reading.frame.columns)
            raise UserError(f"{path}: no column {name}; it has {has}")
    return replace(reading, frame=reading.frame.with_row_index(ROW, offset=1))


def _why_empty(reading: Reading) -> str:
    reasons = [f"{count:,} {why}" for why, count in reading.left_out.items()]
    return "; ".join(["no request in it", *reasons, *filter(None, [reading.broken])])


def _has_runs(frame: pl.DataFrame) -> bool:
    return {"scheduler", "seed"} <= set(frame.columns)


def _slowdown(path: Path) -> int:
    """The k of a run folder."""
    beside = path.with_name("result.json")
    try:
        scale = float(json.loads(beside.read_text(encoding="utf-8"))["inputs"]["scale"])
    except (OSError, ValueError, LookupError, TypeError):
        scale = 0.0
    if scale < 1 or not scale.is_integer():
        raise UserError(
            f"{path}: how much slower its disk ran would be in {beside}, which does not "
            "say; keep the files of a run folder together"
        )
    return int(scale)


def _choose(
    frame: pl.DataFrame, text: str, scheduler: str | None, seed: str | None, path: Path
) -> pl.DataFrame:
    """One run of those that a run folder's file holds."""
    if not _has_runs(frame):
        if scheduler:
            raise UserError(f"{text}: the file has no runs to choose from")
        return frame
    frame = frame.with_columns(
        scheduler=_words(frame, "scheduler", path), seed=_integers(frame, "seed", path)
    )
    runs = frame.select("scheduler", "seed").unique(maintain_order=True).rows()
    fitting = [run for run in runs if scheduler in (None, run[0]) and seed in (None, str(run[1]))]
    if len(fitting) != 1:
        known = ", ".join(f"{name}:{number}" for name, number in runs)
        raise UserError(f"{text}: name one run, as FILE:SCHEDULER:SEED; there are: {known}")
    name, number = fitting[0]
    return frame.filter((pl.col("scheduler") == name) & (pl.col("seed") == number))


def _only_reads_and_writes(frame: pl.DataFrame, path: Path) -> pl.DataFrame:
    if "op" in frame.columns:
        op = _words(frame, "op", path)
        _refuse(frame, ~op.is_in([*OPS, "other"]), "op", path, "is neither read nor write")
        frame = frame.with_columns(op=op).filter(op != "other")
    return _some(frame, path)


def _some(frame: pl.DataFrame, path: Path) -> pl.DataFrame:
    if not frame.height:
        raise UserError(f"{path}: no request in it")
    return frame


def _integers(frame: pl.DataFrame, name: str, path: Path) -> Ints:
    column = _full(frame, name, path)
    if not column.dtype.is_integer():
        raise UserError(f"{path}: {name} has to hold whole numbers, not {column.dtype}")
    numbers = column.cast(pl.Int64, strict=False)
    _refuse(frame, numbers.is_null(), name, path, "is far too large")
    return numbers.to_numpy()


def _words(frame: pl.DataFrame, name: str, path: Path) -> pl.Series:
    column = _full(frame, name, path)
    if column.dtype not in (pl.String, pl.Categorical, pl.Enum):
        raise UserError(f"{path}: {name} has to hold words, not {column.dtype}")
    return column.cast(pl.String)


def _full(frame: pl.DataFrame, name: str, path: Path) -> pl.Series:
    """A column without gaps."""
    column = frame[name]
    _refuse(frame, column.is_null(), name, path, "is there")
    return column


def _refuse(frame: pl.DataFrame, wrong: pl.Series, name: str, path: Path, why: str) -> None:
    """Complain about the first row that is wrong, if any is."""
    if wrong.any():
        at = wrong.to_list().index(True)
        value = frame[name][at]
        given = "nothing" if value is None else value
        raise UserError(f"{path}: row {frame[ROW][at]}: {name}: {given} {why}")


def _check(frame: pl.DataFrame, columns: dict[str, Ints], path: Path) -> None:
    bad = {
        "arrival_ns": columns["arrival_ns"] < 0,
        "sector": (columns["sector"] < 0) | (columns["sector"] >= 2**47),
        "sectors": (columns["sectors"] < 1) | (columns["sectors"] > SECTORS_MAX),
    }
    for name, rows in bad.items():
        _refuse(frame, pl.Series(rows), name, path, "is impossible")


def _ops(frame: pl.DataFrame) -> Ints:
    if "op" not in frame.columns:
        return _zeros(frame)
    return (frame["op"] == "write").cast(pl.Int64).to_numpy()


def _owners(frame: pl.DataFrame, path: Path) -> pl.Series:
    if "owner" not in frame.columns:
        return pl.Series(_zeros(frame))
    if frame["owner"].dtype.is_integer():
        return _full(frame, "owner", path)
    return _words(frame, "owner", path)


def _numbered(owners: pl.Series) -> Ints:
    """Numbers from 0, in the order in which owners first ask."""
    table = owners.alias("owner").to_frame()
    ranks = table.unique(maintain_order=True).with_row_index("rank")
    joined = table.join(ranks, on="owner", how="left", maintain_order="left")
    return joined["rank"].cast(pl.Int64).to_numpy()


def _out_of_order(arrival_ns: Ints) -> int:
    """How many stand behind a later one in the file."""
    return int((arrival_ns < np.maximum.accumulate(arrival_ns)).sum())


def _zeros(frame: pl.DataFrame) -> Ints:
    return np.zeros(frame.height, np.int64)


def _completions(frame: pl.DataFrame, path: Path, arrival_ns: Ints) -> Ints | None:
    if "completion_ns" not in frame.columns:
        return None
    completion_ns = _integers(frame, "completion_ns", path)
    early = pl.Series(completion_ns < arrival_ns)
    _refuse(frame, early, "completion_ns", path, "is before the arrival")
    return completion_ns


def _dispatches(
    frame: pl.DataFrame, path: Path, arrival_ns: Ints, completion_ns: Ints | None
) -> Ints | None:
    """When each was sent to the disk, which nobody needs without the completion."""
    if "dispatch_ns" not in frame.columns or completion_ns is None:
        return None
    dispatch_ns = _integers(frame, "dispatch_ns", path)
    wrong = pl.Series((dispatch_ns < arrival_ns) | (dispatch_ns > completion_ns))
    _refuse(frame, wrong, "dispatch_ns", path, "is not between arrival and completion")
    return dispatch_ns
