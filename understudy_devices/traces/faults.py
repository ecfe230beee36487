# SPDX-License-Identifier: MIT
"""What makes a trace useless as the load of a disk, and what a reader of its figures must know.

Faults are, in the order in which `fault` looks for them: a file that breaks off; events missing of
most requests; each request twice; response times longer than the trace; times that are no clock.
Pauses, which separate several runs in one file, are not faults.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from understudy_devices.base import file_arrays
from understudy_devices.traces.reading import LOST
from understudy_devices.traces.trace import Ints, Trace

REQUESTS_LEAST = 100  # fewer requests have gaps of any length by chance
PAUSE_SHARE = 0.1  # of the time from the first arrival to the last completion
TWICE_LEAST = 10  # requests
BACKWARD_SHARE = 1 / 3  # of requests; a column of random numbers has 1/2


@dataclass(frozen=True)
class Pauses:
    """Times in which no request was outstanding, each longer than PAUSE_SHARE of the trace."""

    count: int
    total_ns: int


def fault(trace: Trace) -> str | None:
    """Return in one line why the requests are not the load of a disk; None if they may be."""
    lost = sum(trace.left_out.get(why, 0) for why in LOST)
    if trace.broken:
        return trace.broken
    if lost > len(trace):
        return (
            f"of {lost:,} requests some events are missing, and of only {len(trace):,} none is; "
            "trace again with larger buffers (blktrace -b), and keep all files"
        )
    if len(trace) >= TWICE_LEAST and 2 * _repeated(trace) >= len(trace):
        return (
            f"of {len(trace):,} requests {_repeated(trace):,} equal the one before in everything, "
            "times too; remove the lines that are there twice (sort -u)"
        )
    if _longer_than_arrivals(trace):
        return (
            "most response times are longer than the time from the first arrival to the last; "
            "check the units of its times"
        )
    if _no_clock(trace):
        return (
            f"{trace.out_of_order:,} of {len(trace):,} requests came after a later arrival in the "
            "file: its time is probably a gap between requests (add them up), or the lines are "
            "sorted by another clock (sort them by this one)"
        )
    return None


def pauses(trace: Trace) -> Pauses:
    """Return the pauses of a trace; none if it has fewer than REQUESTS_LEAST requests."""
    ends_ns = trace.arrival_ns if trace.completion_ns is None else trace.completion_ns
    if len(trace) < REQUESTS_LEAST:
        return Pauses(0, 0)
    least_ns = PAUSE_SHARE * int(ends_ns.max())
    count, total_ns, latest_ns = 0, 0, int(trace.arrival_ns[0])
    for part in file_arrays.blocks(len(trace)):
        latest = np.maximum.accumulate(np.concatenate([[latest_ns], ends_ns[part]]))
        idle_ns = trace.arrival_ns[part] - latest[:-1]
        long_ns = idle_ns[idle_ns > least_ns]
        count, total_ns = count + len(long_ns), total_ns + int(long_ns.sum())
        latest_ns = int(latest[-1])
    return Pauses(count, total_ns)


def pauses_note(trace: Trace) -> Iterator[str]:
    """Yield a sentence if the trace has pauses."""
    long = pauses(trace)
    if long.count:
        yield (
            f"{long.count:,} {'pause' if long.count == 1 else 'pauses'} without a request, "
            f"{long.total_ns / 1e9:,.0f} s in all: if these are several runs, give a file for each"
        )


def _columns(trace: Trace) -> list[Ints]:
    every = (trace.arrival_ns, trace.sector, trace.sectors, trace.op, trace.owner)
    more = (trace.completion_ns, trace.dispatch_ns, trace.volume, trace.request_id)
    return [*every, *(column for column in more if column is not None)]


def _repeated(trace: Trace) -> int:
    """Return the number of requests that equal the request before in every column."""
    columns, count = _columns(trace), 0
    for part in file_arrays.blocks(len(trace) - 1):
        later = slice(part.start + 1, part.stop + 1)
        same = np.ones(part.stop - part.start, bool)
        for column in columns:
            same &= column[part] == column[later]
        count += int(same.sum())
    return count


def _longer_than_arrivals(trace: Trace) -> bool:
    """Return whether most requests take longer than all arrivals together."""
    if trace.completion_ns is None or len(trace) < REQUESTS_LEAST:
        return False
    whole_ns = int(trace.arrival_ns[-1] - trace.arrival_ns[0])
    long = sum(
        int((trace.completion_ns[part] - trace.arrival_ns[part] > whole_ns).sum())
        for part in file_arrays.blocks(len(trace))
    )
    return whole_ns > 0 and 2 * long > len(trace)


def _no_clock(trace: Trace) -> bool:
    """Return whether most rows are out of order, by arrival and by completion, as if by chance.

    A file in order of completion, or of several volumes one after the other, has few rows that
    are before the previous row.
    """
    return (
        len(trace) >= REQUESTS_LEAST
        and 2 * trace.out_of_order > len(trace)
        and trace.backward > BACKWARD_SHARE * len(trace)
    )
