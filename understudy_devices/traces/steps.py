# SPDX-License-Identifier: MIT
"""Converts a trace to steps for the simulator's engine: open, at recorded times, or closed, with
inferred think times.

In the closed form, each owner is a process.  The think time before a request is the time since
the owner's latest completion or previous arrival, whichever is later.  In the replay, think time
begins when the owner's previous request completes.  A trace without completions has no think
times, so it can only be replayed open.
"""

from collections.abc import Callable

import numpy as np

from understudy_devices.base.errors import UserError
from understudy_devices.native.simulation import Rows
from understudy_devices.traces.trace import Ints, Trace


def open_rows(trace: Trace) -> Rows:
    """Return all requests at their recorded times, as the steps of a single process."""
    return Rows(
        first=[0, len(trace)],
        think_ns=np.diff(trace.arrival_ns, prepend=0),
        sector=trace.sector,
        sectors=trace.sectors,
        op=trace.op,
        owner=trace.owner,
    )


def open_rows_by_owner(trace: Trace) -> Rows:
    """Return all requests at their recorded times, with a process per owner.  Simultaneous
    requests arrive in the order of the processes' numbers.
    """
    return _by_owner(trace, lambda rows: np.diff(trace.arrival_ns[rows], prepend=0))


def closed_rows(trace: Trace) -> Rows:
    """Return a process per owner, with think times; UserError if the trace has no completions."""
    try:
        completion_ns = trace.completed_ns()
    except UserError as error:
        raise UserError(f"--replay closed: {error}; or replay it open") from error
    return _by_owner(trace, lambda rows: _think_ns(trace.arrival_ns[rows], completion_ns[rows]))


def _by_owner(trace: Trace, think_ns: Callable[[Ints], Ints]) -> Rows:
    """Return a process per owner; `think_ns` computes an owner's think times from its row
    numbers."""
    order = np.argsort(trace.owner, kind="stable")
    first = np.searchsorted(trace.owner[order], np.arange(trace.owners + 1))
    return Rows(
        first=first,
        think_ns=np.concatenate([think_ns(rows) for rows in np.split(order, first[1:-1])]),
        sector=trace.sector[order],
        sectors=trace.sectors[order],
        op=trace.op[order],
        owner=trace.owner[order],
    )


def _think_ns(arrival_ns: Ints, completion_ns: Ints) -> Ints:
    """Return one owner's think times: from its latest completion or previous arrival, whichever
    is later, to each arrival.
    """
    ends = np.sort(completion_ns)
    seen = np.searchsorted(ends, arrival_ns, side="right")
    last_arrival = np.concatenate([[0], arrival_ns[:-1]])
    last_end = np.where(seen > 0, ends[np.maximum(seen - 1, 0)], 0)
    think_ns: Ints = arrival_ns - np.maximum(last_end, last_arrival)
    return think_ns
