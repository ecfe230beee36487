# SPDX-License-Identifier: MIT
"""A workload of Python: an iterable of requests, which is replayed as a trace.

A request is a tuple (arrival_ns, sector, sectors, op), a dictionary with these keys, or a row of a
Polars frame with these columns; op is "read" or "write".  Requests come in the order of arrival.
The iterable is used up to the number of requests, and then closed.
"""

from collections.abc import Iterable, Iterator, Mapping, Sized
from contextlib import ExitStack
from itertools import islice
from operator import index
from typing import Any

import numpy as np
import polars as pl

from understudy_devices.base.errors import UserError
from understudy_devices.native.request import OPS
from understudy_devices.traces.trace import Trace

NAME = "workload.parquet"  # the file that a command line needs in place of the iterable
COLUMNS = ("arrival_ns", "sector", "sectors", "op")
FORM = '(arrival_ns, sector, sectors, "read" or "write")'
MOST = {"arrival_ns": 2**62, "sector": 2**55, "sectors": 2**15}
LEAST = {"sectors": 1}
LONGEST = 10**8  # as --requests
PIECE = 65_536  # requests that are held as Python's objects


def is_iterable(workload: Any) -> bool:
    """Return whether a workload is an iterable of requests, and not a name or a file."""
    return isinstance(workload, Iterable) and not isinstance(workload, str | bytes)


def trace_of(workload: Any, limit: int | None) -> Trace:
    """Return the first `limit` requests; raise a UserError if they can't be replayed."""
    if limit is None and not isinstance(workload, Sized):
        raise UserError(
            f"requests: not given, and a {type(workload).__name__} may never end: say how many "
            "requests to take, as requests=5000"
        )
    pieces = list(_pieces(workload, limit))
    if not pieces:
        raise UserError("workload: no request in it")
    columns = np.concatenate(pieces, axis=1)
    arrival_ns, sector, sectors, op = columns
    return Trace(
        NAME,
        arrival_ns=arrival_ns - arrival_ns[0],
        sector=sector,
        sectors=sectors,
        op=op,
        owner=np.zeros(len(op), np.int64),
        completion_ns=None,
    )


def frame_of(trace: Trace) -> pl.DataFrame:
    """Return a trace of requests as a table that --trace accepts."""
    op = np.where(trace.op == 1, "write", "read")
    columns = {name: getattr(trace, name) for name in COLUMNS}
    return pl.DataFrame(columns | {"op": op, "owner": trace.owner})


def _pieces(workload: Any, limit: int | None) -> Iterator[Any]:
    """Yield arrays with a row for each of COLUMNS; raise a UserError for a wrong request."""
    requests = _rows(workload)
    close = getattr(requests, "close", None)
    count, before = 0, 0
    with ExitStack() as ended:
        if close:
            ended.callback(close)
        while True:
            wanted = PIECE if limit is None else min(PIECE, limit - count)
            rows: list[tuple[int, int, int, int]] = []
            for request in _taken(islice(requests, wanted), count):
                row = _row(request, count + len(rows) + 1)
                if row[0] < before:
                    raise UserError(
                        f"workload: request {count + len(rows) + 1:,} arrives at {row[0]} ns, "
                        f"before the one in front of it, at {before} ns; sort them by arrival_ns"
                    )
                before = row[0]
                rows.append(row)
            if not rows:
                return
            count += len(rows)
            yield np.array(rows, np.int64).T


def _rows(workload: Any) -> Iterator[Any]:
    if isinstance(workload, pl.DataFrame):
        for name in COLUMNS:
            if name not in workload.columns:
                has = ", ".join(workload.columns)
                raise UserError(f"workload: no column {name}; it has {has}")
        return workload.select(COLUMNS).iter_rows()
    return iter(workload)


def _taken(requests: Iterator[Any], before: int) -> Iterator[Any]:
    """Yield the requests; an error of the user's code becomes a UserError."""
    for number in range(before + 1, 2**63):
        try:
            request = next(requests)
        except StopIteration:
            return
        except Exception as error:
            raise UserError(
                f"workload: it raised {type(error).__name__} at request {number:,}: {error}"
            ) from error
        yield request


def _row(request: Any, number: int) -> tuple[int, int, int, int]:
    """Return a request as numbers."""
    if isinstance(request, Mapping):
        if missing := [name for name in COLUMNS if name not in request]:
            raise UserError(f"workload: request {number:,} has no {', '.join(missing)}")
        request = [request[name] for name in COLUMNS]
    if not isinstance(request, tuple | list) or len(request) != len(COLUMNS):
        raise UserError(f"workload: request {number:,} is not of the form {FORM}")
    *numbers, op = request
    if op not in OPS:
        raise UserError(f"workload: request {number:,}: op is {op!r}, not {' or '.join(OPS)}")
    first, second, third = (
        _number(name, value, number) for name, value in zip(COLUMNS, numbers, strict=False)
    )
    return first, second, third, OPS.index(op)


def _number(name: str, value: Any, number: int) -> int:
    try:
        whole = index(value)
    except TypeError:
        raise UserError(
            f"workload: request {number:,}: {name} is {value!r}, not a whole number"
        ) from None
    low, high = LEAST.get(name, 0), MOST[name]
    if not low <= whole <= high:
        raise UserError(f"workload: request {number:,}: {name} is {whole}, not {low} to {high:,}")
    return whole
