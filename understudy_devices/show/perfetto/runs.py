# SPDX-License-Identifier: MIT
"""Runs as tracks: for each run the disk, the head's position, the number of requests that wait, and
each process with its requests.

A request is a slice from its arrival to its completion.  The slice contains another one from the
dispatch to the completion, and one from pick to dispatch if these times differ.  An arrow leads to
the slice on the disk's track.  Slices of one track can't overlap, so a process with several
requests at a time has several tracks of the same name, which Perfetto draws as one.
"""

import heapq
from collections.abc import Callable, Iterable

import numpy as np
import polars as pl

from understudy_devices.show.perfetto.packets import Ints, Names, Trace

TIMES = ("arrival_ns", "pick_ns", "dispatch_ns", "completion_ns")
WORDS = ("op", "reason")
NUMBERS = ("sector", "sectors", "owner", "request_id", "model_service_ns", "hit")


def encoded(requests: pl.DataFrame, slowdown: float) -> Iterable[bytes]:
    """Yield the trace of runs in a table with the columns of requests.parquet.

    Times are divided by the slowdown of the disk, k.  Each row needs all of its times.
    """
    trace = Trace()
    if slowdown != 1:
        requests = requests.with_columns(
            (pl.col(name) / slowdown).round().cast(pl.Int64) for name in TIMES
        )
    flows = 0
    for (scheduler, seed), rows in requests.group_by("scheduler", "seed", maintain_order=True):
        # A bio of the file system may have arrived before the first one that is measured.
        first_ns = int(_ints(rows, "arrival_ns").min())
        flows += _run(
            trace,
            f"{scheduler}, seed {seed}",
            rows.with_columns(pl.col(name) - min(0, first_ns) for name in TIMES),
            flows,
        )
    return trace.encoded()


def _run(trace: Trace, name: str, rows: pl.DataFrame, flows: int) -> int:
    """Add the tracks of a run; return how many flows it has."""
    root = trace.track(name)
    rows = rows.with_columns(flow=pl.col("request_id").rank("dense").cast(pl.Int64) + flows)
    on_disk = rows.unique("flow", keep="first", maintain_order=True)
    _disk(trace, root, on_disk.sort("dispatch_ns", "completion_ns", maintain_order=True))
    _waiting(trace, trace.track("waiting", root, "requests"), rows)
    for (owner,), each in rows.sort("arrival_ns", maintain_order=True).group_by(
        "owner", maintain_order=True
    ):
        _process(trace, root, f"process {owner}", each)
    return on_disk.height


def _disk(trace: Trace, root: int, rows: pl.DataFrame) -> None:
    begin, end = _ints(rows, "dispatch_ns"), _ints(rows, "completion_ns")
    tracks = _tracks(begin, end, lambda: trace.track("disk", root))
    names = (pl.lit("process ") + pl.col("owner").cast(pl.String)).alias("name")
    name = _interned(rows.select(names)["name"], trace.slices)
    rank = 2 * np.arange(rows.height)
    trace.begin(begin, rank, tracks, name, _ints(rows, "flow"), _details(trace, rows))
    trace.end(end, rank + 1, tracks)
    moved = rows.filter(~pl.col("hit").fill_null(False))  # a hit in the disk's cache moves no arm
    head = _ints(moved, "sector") + _ints(moved, "sectors")
    trace.count(_ints(moved, "completion_ns"), trace.track("head", root, "sector"), head)


def _waiting(trace: Trace, track: int, rows: pl.DataFrame) -> None:
    times = np.concatenate([_ints(rows, "arrival_ns"), _ints(rows, "dispatch_ns")])
    change = np.repeat([1, -1], rows.height)
    order = np.argsort(times, kind="stable")
    times, count = times[order], np.cumsum(change[order])
    last = np.append(times[1:] != times[:-1], True)
    trace.count(times[last], track, count[last])


def _process(trace: Trace, root: int, name: str, rows: pl.DataFrame) -> None:
    arrival, pick, dispatch, end = (_ints(rows, column) for column in TIMES)
    tracks = _tracks(arrival, end, lambda: trace.track(name, root))
    flow = _ints(rows, "flow")
    op = _interned(rows["op"], trace.slices)
    rank = 6 * np.arange(rows.height)  # events of one request at the same time stay in order
    trace.begin(arrival, rank, tracks, op, flow, _details(trace, rows))
    for place, word, start, stop, rows_with in (
        (1, "picked", pick, dispatch, np.flatnonzero(pick < dispatch)),
        (3, "on the disk", dispatch, end, np.arange(rows.height)),
    ):
        names = np.full(len(rows_with), trace.slices.number(word))
        at, which = rank[rows_with] + place, tracks[rows_with]
        trace.begin(start[rows_with], at, which, names, flow[rows_with], {})
        trace.end(stop[rows_with], at + 1, which)
    trace.end(end, rank + 5, tracks)


def _details(trace: Trace, rows: pl.DataFrame) -> dict[str, Ints]:
    """Return what is known of each request; a platform may not know everything."""
    known = [name for name in (*WORDS, *NUMBERS) if not rows[name].null_count()]
    return {
        f"{name}*" if name in WORDS else name: (
            _interned(rows[name], trace.words) if name in WORDS else _ints(rows, name)
        )
        for name in known
    }


def _tracks(begin: Ints, end: Ints, new: Callable[[], int]) -> Ints:
    """Return a track for each slice, so that the slices of a track do not overlap.

    Slices are in the order of their begin.  Of the free tracks, the oldest is taken.
    """
    free: list[int] = []
    busy: list[tuple[int, int]] = []
    chosen = np.empty(len(begin), np.int64)
    for row, (start, stop) in enumerate(zip(begin.tolist(), end.tolist(), strict=True)):
        while busy and busy[0][0] <= start:
            heapq.heappush(free, heapq.heappop(busy)[1])
        chosen[row] = track = heapq.heappop(free) if free else new()
        heapq.heappush(busy, (stop, track))
    return chosen


def _interned(words: pl.Series, names: Names) -> Ints:
    texts = words.cast(pl.String).unique(maintain_order=True).to_list()
    numbers = [names.number(text) for text in texts]
    return words.cast(pl.String).replace_strict(texts, numbers, return_dtype=pl.Int64).to_numpy()


def _ints(rows: pl.DataFrame, name: str) -> Ints:
    return rows[name].cast(pl.Int64).to_numpy()
