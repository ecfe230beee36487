# SPDX-License-Identifier: MIT
"""Decode the throttle's records of bios into a table.

The input is an array of struct vpt_record (kernel/vpt/record.h). docs/method.md defines the columns
and the times.  Times are ns since the first arrival; the time of an event that did not occur is
null.  `from_bytes` refuses bytes that cannot be such an array; `check` refuses a table that
violates the definitions.
"""

from collections.abc import Set
from typing import Any

import numpy as np
import polars as pl

from understudy_devices.base.errors import RunFailed

RECORD = np.dtype(
    [
        ("arrival_ns", "<u8"),
        ("pick_ns", "<u8"),
        ("dispatch_ns", "<u8"),
        ("due_ns", "<u8"),
        ("completion_ns", "<u8"),
        ("sector", "<u8"),
        ("request_id", "<u8"),
        ("model_service_ns", "<u8"),
        ("sectors", "<u4"),
        ("owner", "<u4"),
        ("error", "<i4"),
        ("flags", "<u2"),
        ("op", "u1"),
        ("reason", "u1"),
    ]
)

INSTANTS = ("arrival_ns", "pick_ns", "dispatch_ns", "due_ns", "completion_ns")
FLAGS = {"hit": 0x1, "late": 0x2, "stale": 0x4, "meta": 0x8}  # VPT_*
OPS = pl.Enum(["read", "write", "other"])  # enum io_op, VPT_OP_OTHER
REASONS = pl.Enum(["order", "hit", "table", "expired", "waited", "burst"])  # enum pick_reason

SCHEMA: dict[str, pl.DataType | type[pl.DataType]] = {
    "arrival_ns": pl.Int64,
    "pick_ns": pl.Int64,
    "dispatch_ns": pl.Int64,
    "due_ns": pl.Int64,
    "completion_ns": pl.Int64,
    "sector": pl.Int64,
    "sectors": pl.Int64,
    "op": OPS,
    "owner": pl.Int64,
    "request_id": pl.Int64,
    "model_service_ns": pl.Int64,
    "hit": pl.Boolean,
    "late": pl.Boolean,
    "stale": pl.Boolean,
    "meta": pl.Boolean,
    "reason": REASONS,
    "error": pl.Int64,
    "idle_ns": pl.Int64,
}

OF_THE_REQUEST = (
    "pick_ns",
    "dispatch_ns",
    "due_ns",
    "completion_ns",
    "op",
    "model_service_ns",
    "idle_ns",
    "hit",
    "late",
    "stale",
    "reason",
    "error",
)


def from_bytes(
    data: bytes, origin_ns: int | None = None, expected: int | None = None
) -> pl.DataFrame:
    """Decode the throttle's buffer.

    `origin_ns` is the time that becomes 0 (default: the first arrival).  `expected` is the number
    of records by the throttle's own count.
    """
    raw = np.frombuffer(_whole_records(data, expected), dtype=RECORD)
    _refuse_impossible(raw)
    origin = int(raw["arrival_ns"].min()) if origin_ns is None else origin_ns
    return with_idle_time(pl.DataFrame(_columns(raw, origin)))


def _whole_records(data: bytes, expected: int | None) -> bytes:
    count, rest = divmod(len(data), RECORD.itemsize)
    if rest:
        raise RunFailed(
            f"the throttle's records are cut off: {len(data)} bytes are {count} records of "
            f"{RECORD.itemsize} and {rest} bytes more; run it again"
        )
    if not count:
        raise RunFailed("the throttle recorded no request: the workload never reached the disk")
    if expected is not None and count != expected:
        size = "too few" if count < expected else "too many"
        raise RunFailed(f"{size} records: {count} were read, but the throttle counted {expected}")
    return data


def _refuse_impossible(raw: np.ndarray[Any, Any]) -> None:
    """Refuse records with numbers that the throttle never writes."""
    for field in raw.dtype.names or ():
        if raw.dtype[field] == np.dtype("<u8"):
            _refuse(raw, raw[field] >= 2**63, field)
    _refuse(raw, raw["op"] >= len(OPS.categories), "op")
    _refuse(raw, raw["reason"] >= len(REASONS.categories), "reason")
    _refuse(raw, raw["flags"] > sum(FLAGS.values()), "flags")
    _refuse(raw, raw["arrival_ns"] == 0, "arrival_ns")
    _refuse(raw, raw["request_id"] == 0, "request_id")


def _refuse(raw: np.ndarray[Any, Any], bad: np.ndarray[Any, Any], field: str) -> None:
    if bad.any():
        row = int(bad.argmax())
        raise RunFailed(f"record {row} is damaged: {field} is {raw[field][row]}")


def _columns(raw: np.ndarray[Any, Any], origin_ns: int) -> dict[str, pl.Series]:
    columns = {
        field: pl.Series(field, raw[field].astype(np.int64)) for field in raw.dtype.names or ()
    }
    for field in INSTANTS:
        never = pl.Series(raw[field] == 0)
        columns[field] = (columns[field] - origin_ns).set(never, None)
    for flag, bit in FLAGS.items():
        columns[flag] = pl.Series(flag, raw["flags"] & bit != 0)
    columns["op"] = named(raw["op"], OPS)
    columns["reason"] = named(raw["reason"], REASONS)
    return {name: columns[name] for name in SCHEMA if name in columns}


def named(codes: np.ndarray[Any, Any], names: pl.Enum) -> pl.Series:
    """Return the names of an enumeration's codes as a column; all codes must be valid."""
    return pl.Series(names.categories, dtype=names).gather(codes)


def with_idle_time(frame: pl.DataFrame) -> pl.DataFrame:
    """Add the time for which the disk was idle before each dispatch."""
    requests = (
        frame.select("request_id", "dispatch_ns", "completion_ns")
        .unique("request_id", keep="first")
        .sort("dispatch_ns", "request_id")
        .select(
            "request_id",
            idle_ns=(pl.col("dispatch_ns") - pl.col("completion_ns").cum_max().shift(1)).clip(0),
        )
    )
    joined = frame.join(requests, on="request_id", how="left", maintain_order="left")
    return joined.with_columns(pl.col("idle_ns").fill_null(0)).select(*SCHEMA)


def shares_a_request(frame: pl.DataFrame) -> pl.Series:
    """Return, for each row, whether its request has other rows too.

    Since few requests have several rows, sorting is faster than hashing.
    """
    ids = np.sort(frame["request_id"].to_numpy())
    several = np.unique(ids[1:][ids[1:] == ids[:-1]])
    return frame["request_id"].is_in(several)


def check(frame: pl.DataFrame, unseen: Set[str] = frozenset()) -> None:
    """Check a run's records against the definitions; the first wrong row fails the run.

    Columns that the platform can't observe are not checked.
    """
    for broken, promise in _row_promises().items():
        if unseen.isdisjoint(promise.meta.root_names()):
            _offender(frame.with_row_index("row").filter(promise), broken)
    merged = frame.with_row_index("row").filter(shares_a_request(frame))
    disagree = pl.any_horizontal(
        pl.col(field).ne_missing(pl.col(field).first().over("request_id"))
        for field in OF_THE_REQUEST
    )
    _offender(merged.filter(disagree), "differs from another row of its request")


def _row_promises() -> dict[str, pl.Expr]:
    """Return the kinds of wrong rows: for each, the words of its message and the filter for its
    rows.
    """
    column = pl.col
    return {
        "never completed": column("completion_ns").is_null(),
        "was never dispatched": column("dispatch_ns").is_null() | column("pick_ns").is_null(),
        "failed": column("error") != 0,
        "has no due time": column("due_ns").is_null() & (column("op") != "other"),
        "is empty": (column("sectors") == 0) & (column("op") != "other"),
        "was picked before it arrived": column("pick_ns") < column("arrival_ns"),
        "was dispatched before it was picked": column("dispatch_ns") < column("pick_ns"),
        "was due before it was dispatched": column("due_ns") < column("dispatch_ns"),
        "completed before it was dispatched": column("completion_ns") < column("dispatch_ns"),
        "completed before it was due": column("completion_ns") < column("due_ns"),
    }


def _offender(bad: pl.DataFrame, broken: str) -> None:
    if bad.height:
        row = ", ".join(f"{key}={value}" for key, value in bad.row(0, named=True).items())
        raise RunFailed(f"{bad.height} records are wrong, the first {broken}: {row}")
