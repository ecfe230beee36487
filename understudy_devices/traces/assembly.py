# SPDX-License-Identifier: MIT
"""Joins blocks of a file's rows into a trace in order of arrival; long columns are mapped files."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

from understudy_devices.base import file_arrays
from understudy_devices.base.plain import plain
from understudy_devices.traces.trace import TIMES, Ints, Trace


class Gathered:
    """Rows in the file's order."""

    def __init__(self) -> None:
        """Begin without rows."""
        self.requests = 0
        self._columns: dict[str, file_arrays.Column] = {}
        self._owners: dict[Any, int] = {}
        self._volumes: dict[Any, int] = {}
        self._latest_ns: int | None = None
        self._out_of_order = 0
        self._backward = dict.fromkeys(TIMES[:2], 0)
        self._last_ns: dict[str, int] = {}

    def put(
        self, columns: Mapping[str, Ints], owners: pl.Series, volumes: pl.Series | None
    ) -> None:
        """Add at least one row; all calls must have the same columns."""
        self.requests += len(owners)
        self._see_order(columns["arrival_ns"])
        self._see_steps(columns)
        named = {"owner": _numbers(owners, self._owners)}
        if volumes is not None:
            named["volume"] = _numbers(volumes, self._volumes)
        for name, values in {**columns, **named}.items():
            self._columns.setdefault(name, file_arrays.Column(np.int64)).put(values)

    def trace(
        self,
        name: str,
        slowdown: int,
        left_out: Mapping[str, int],
        broken: str | None,
        since_ns: int = 0,
    ) -> Trace:
        """Return the trace of all rows.  Times count from the first arrival and are divided by
        `slowdown`.  since_ns: the time, on the file's clock, from which the rows' times count.
        """
        columns: dict[str, Ints] = {key: column.array() for key, column in self._columns.items()}
        if self._out_of_order:
            arrival_ns = columns["arrival_ns"]
            columns = dict(
                zip(columns, file_arrays.ordered(arrival_ns, *columns.values()), strict=True)
            )
        origin_ns = columns["arrival_ns"][0]
        placed = "sector" in columns
        for key in TIMES:
            if key in columns:
                columns[key] = file_arrays.each(
                    lambda at: (at - origin_ns) // slowdown, columns[key]
                )
        return Trace(
            name=plain(name),
            arrival_ns=columns["arrival_ns"],
            sector=columns["sector"] if placed else np.zeros_like(columns["sectors"]),
            sectors=columns["sectors"],
            op=columns["op"],
            owner=_by_first(columns["owner"], len(self._owners)),
            completion_ns=columns.get("completion_ns"),
            dispatch_ns=columns.get("dispatch_ns"),
            request_id=columns.get("request_id"),
            placed=placed,
            volume=columns.get("volume"),
            volumes=tuple(self._volumes),
            left_out=left_out,
            broken=broken,
            out_of_order=self._out_of_order,
            backward=min(self._backward[name] for name in TIMES[:2] if name in columns),
            began_ns=(since_ns + int(origin_ns)) // slowdown,
        )

    def _see_order(self, arrival_ns: Ints) -> None:
        """Count rows that arrived before an earlier row of the file."""
        first = arrival_ns[0] if self._latest_ns is None else self._latest_ns
        latest_ns = np.maximum(np.maximum.accumulate(arrival_ns), first)
        self._out_of_order += int((arrival_ns < latest_ns).sum())
        self._latest_ns = int(latest_ns[-1])

    def _see_steps(self, columns: Mapping[str, Ints]) -> None:
        """Count rows whose time is before that of the previous row."""
        for name, count in self._backward.items():
            if name in columns:
                times = columns[name]
                steps = np.diff(times, prepend=self._last_ns.get(name, times[0]))
                self._backward[name] = count + int((steps < 0).sum())
                self._last_ns[name] = int(times[-1])


def _numbers(names: pl.Series, known: dict[Any, int]) -> Ints:
    """Return each row's name as a number; names are numbered in the order in which they first
    occur, and added to those that are known."""
    table = names.alias("name").to_frame()
    seen = table.unique(maintain_order=True)["name"]
    numbers = [known.setdefault(name, len(known)) for name in seen.to_list()]
    ranks = pl.DataFrame({"name": seen, "number": pl.Series(numbers, dtype=pl.Int64)})
    joined = table.join(ranks, on="name", how="left", maintain_order="left")
    return joined["number"].to_numpy()


def _by_first(owner: Ints, owners: int) -> Ints:
    """Return the column of owners, renumbered from 0 in the order of the owners' first requests."""
    first = np.full(owners, len(owner))
    for part in file_arrays.blocks(len(owner)):
        seen, places = np.unique(owner[part], return_index=True)
        first[seen] = np.minimum(first[seen], places + part.start)
    ranks = np.empty(owners, np.int64)
    ranks[np.argsort(first)] = np.arange(owners)
    return file_arrays.each(lambda number: ranks[number], owner)
