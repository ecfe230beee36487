# SPDX-License-Identifier: MIT
"""Runs for the views of the page, as bytes that web/src/views/packed.ts reads.

The bytes are: the length of a JSON text (u32), the text, and the numbers of all columns, each at a
multiple of 8 bytes from the end of the text (padded likewise); all little-endian.  The text is

    {"schema": "understudy.views/1", "capacity": sectors, "disk": curves or null,
     "runs": [{"name", "requests": how many the run has, "columns": {name: [type, place, length]},
               "responses": a column or null}]}

A run's columns have a row for each request, in order of arrival: arrival_ns since the one before,
wait_ns until the dispatch, delay_ns until the device began with it, service_ns until its
completion, sector, sectors, owner, op, reason, hit.  If the rows are only the run's first requests,
or if the run stands for several seeds, `responses` has RANKS of the response times of all, in
ascending order, whose quantiles are those of all.
"""

import json
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from understudy_devices.ask.device import Device
from understudy_devices.measure.records import OPS, REASONS

SCHEMA = "understudy.views/1"
RANKS = 10_000  # a multiple of 1000, so that p99.9 is exact
TYPES = {np.dtype(name): name for name in ("u1", "u2", "u4", "f8")}
UNKNOWN = 255
ALIGNED = 8
MOST = 2**53  # in a double

Ints = npt.NDArray[np.int64]
Column = npt.NDArray[Any]


@dataclass(frozen=True)
class Run:
    """A run to look at: its rows, how many requests it has, and response times in ns of all."""

    name: str
    rows: pl.DataFrame  # of `timed`
    requests: int
    responses: Ints | None = None


def timed(requests: pl.DataFrame, slowdown: float) -> pl.DataFrame:
    """Return requests with the columns of requests.parquet, for a Run; without those that did not
    complete.

    Times are divided by the slowdown, k, and none is negative.
    """
    column = pl.col
    modelled = column("due_ns") - (column("model_service_ns") * slowdown).round().cast(pl.Int64)
    begun = (
        requests.lazy()
        .drop_nulls(["arrival_ns", "dispatch_ns", "completion_ns"])
        .with_columns(dispatch_ns=pl.max_horizontal("arrival_ns", "dispatch_ns"))
        .with_columns(completion_ns=pl.max_horizontal("dispatch_ns", "completion_ns"))
        .with_columns(start_ns=pl.max_horizontal("dispatch_ns", modelled))
        .with_columns(start_ns=pl.min_horizontal("start_ns", "completion_ns"))
    )
    times = ("arrival_ns", "dispatch_ns", "start_ns", "completion_ns")
    if slowdown != 1:
        begun = begun.with_columns(
            (column(name) / slowdown).round().cast(pl.Int64) for name in times
        )
    known = begun.sort("arrival_ns", maintain_order=True).select(
        *times,
        column("sector", "sectors", "owner").fill_null(0).cast(pl.Int64),
        column("op").cast(OPS).to_physical().fill_null(len(OPS.categories) - 1),
        column("reason").cast(REASONS).to_physical().fill_null(UNKNOWN),
        column("hit").fill_null(value=False),
    )
    rows = known.collect()
    first = rows["arrival_ns"][0] if rows.height else 0
    return rows if first >= 0 else rows.with_columns(column(times) - first)


def responses_ns(rows: pl.DataFrame) -> Ints:
    """Return the response times of rows of `timed`."""
    return (rows["completion_ns"] - rows["arrival_ns"]).to_numpy()


def packed(runs: Sequence[Run], capacity_sectors: int, device: Device | None) -> bytes:
    """Return the runs, on a disk of this size; its curves are shown if the device is known.

    ValueError: a number is not from 0 to MOST.
    """
    pieces: list[bytes] = []
    text = json.dumps(
        {
            "schema": SCHEMA,
            "capacity": capacity_sectors,
            "disk": device and _curves(device, capacity_sectors),
            "runs": [_run(run, pieces) for run in runs],
        },
        separators=(",", ":"),
    ).encode()
    text += b" " * (-(4 + len(text)) % ALIGNED)
    return b"".join([len(text).to_bytes(4, "little"), text, *pieces])


def _run(run: Run, pieces: list[bytes]) -> dict[str, Any]:
    return {
        "name": run.name,
        "requests": run.requests,
        "columns": {name: _put(name, values, pieces) for name, values in _columns(run.rows)},
        "responses": None
        if run.responses is None
        else _put("responses", _ranks(run.responses), pieces),
    }


def _columns(rows: pl.DataFrame) -> Iterable[tuple[str, Column]]:
    arrival, dispatch, start, end = (
        rows[name].to_numpy() for name in ("arrival_ns", "dispatch_ns", "start_ns", "completion_ns")
    )
    yield "arrival_ns", np.diff(arrival, prepend=0)
    yield "wait_ns", dispatch - arrival
    yield "delay_ns", start - dispatch
    yield "service_ns", end - start
    for name in ("sector", "sectors", "owner", "op", "reason", "hit"):
        yield name, rows[name].to_numpy()


def _put(name: str, values: Column, pieces: list[bytes]) -> tuple[str, int, int]:
    """Add numbers to the pieces; return their type, place and length."""
    least, most = int(values.min(initial=0)), int(values.max(initial=0))
    if least < 0 or most > MOST:
        raise ValueError(f"{name} is {least if least < 0 else most}")
    narrow = next((np.dtype(name) for name in ("u1", "u2", "u4") if not most >> 8 * int(name[1])),
                  np.dtype("f8"))  # fmt: skip
    place = sum(map(len, pieces))
    content = values.astype(narrow.newbyteorder("<")).tobytes()
    pieces.append(content + b"\0" * (-len(content) % ALIGNED))
    return TYPES[narrow], place, len(values)


def _ranks(responses: Ints) -> Ints:
    ordered = np.sort(responses)
    if len(ordered) <= RANKS:
        return ordered
    return ordered[-(-np.arange(1, RANKS + 1) * len(ordered) // RANKS) - 1]


def _curves(device: Device, capacity_sectors: int) -> dict[str, Any] | None:
    """Return the times of the model; None for an array, or if the model has no such disk."""
    if device.disk.array:
        return None
    with suppress(ValueError):
        timing = device.timing(capacity_sectors)
        return {
            "intercept_ns": timing.intercept_ns,
            "seek": timing.seek,
            "transfer": timing.transfer,
            "rotation_ns": timing.rotation_ns,
            "in_tracks": timing.tracks.step > 0,
            "cache": None if timing.buffer else timing.cache,
        }
    return None
