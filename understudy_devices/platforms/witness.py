# SPDX-License-Identifier: MIT
"""Compares the throttle's records with independent witnesses.

The throttle of a VM both delays requests and records their times. Two witnesses that share no code
with the throttle check every run: the kernel's own trace events of the block layer, request by
request, and the clock of the reading processes, read by read. On a real disk the trace events are
the record, and the processes' clock is its witness.
"""

from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from understudy_devices.base.errors import RunFailed
from understudy_devices.platforms import ring_buffer
from understudy_devices.platforms.reads import Entries

Ints = npt.NDArray[np.int64]

KINDS = {"issue": "block_rq_issue", "complete": "block_rq_complete"}


@dataclass(frozen=True)
class Tolerance:
    """The largest permitted differences between a witness's times and the throttle's, ns.

    In the wall clock, the host may interrupt the guest's processor between the witness's and the
    throttle's reading of the clock. Such an interruption may be long, but it does not happen at all
    events. So a single event may deviate much, but not the mean.
    """

    trace_ns: int
    trace_mean_ns: int
    process_mean_ns: int


VIRTUAL = Tolerance(trace_ns=50_000, trace_mean_ns=10_000, process_mean_ns=1_000_000)
# If the guest's processor is busy or its disk has another request, interrupts may take time between
# the two readings.
BUSY = replace(VIRTUAL, trace_ns=1_000_000)
# A kernel that checks each memory access needs much more time between the two readings.
LOOKED_AT = Tolerance(trace_ns=1_000_000, trace_mean_ns=100_000, process_mean_ns=10_000_000)
WALL = Tolerance(trace_ns=500_000_000, trace_mean_ns=1_000_000, process_mean_ns=20_000_000)


FAR_NS = 2**62  # longer than any time


@dataclass(frozen=True)
class Events:
    """Trace events of one kind, in order of time."""

    time_ns: Ints
    sector: Ints
    end: Ints


def _of_kind(events: pl.DataFrame) -> Events:
    sector = events["sector"].to_numpy().astype(np.int64)
    return Events(events["time_ns"].to_numpy(), sector, sector + events["nr_sector"].to_numpy())


def _match(events: Events, time_ns: Ints, sector: Ints, tolerance_ns: int, what: str) -> Ints:
    """Return, for each request, the time of the nearest event that covers its sector, relative to
    the request's time, ns. If two events are equally near, the earlier one is taken.

    The search runs for all requests in parallel. Each step looks one event further before and after
    a request's time, until no nearer event is possible.
    """
    time = np.concatenate(([-FAR_NS], events.time_ns, [FAR_NS]))
    first, end = (np.concatenate(([0], places, [0])) for places in (events.sector, events.end))
    before = np.searchsorted(events.time_ns, time_ns)
    after = before + 1
    apart = np.full(len(time_ns), FAR_NS)
    looking = np.arange(len(time_ns))
    while len(looking):
        for at, is_nearer in ((before[looking], np.less_equal), (after[looking], np.less)):
            later = time[at] - time_ns[looking]
            covers = (first[at] <= sector[looking]) & (sector[looking] < end[at])
            nearer = covers & is_nearer(np.abs(later), np.abs(apart[looking]))
            apart[looking[nearer]] = later[nearer]
        before[looking] = np.maximum(before[looking] - 1, 0)
        after[looking] = np.minimum(after[looking] + 1, len(time) - 1)
        mine_ns = time_ns[looking]
        next_ns = np.minimum(mine_ns - time[before[looking]], time[after[looking]] - mine_ns)
        looking = looking[next_ns <= np.minimum(np.abs(apart[looking]), tolerance_ns)]
    unseen = np.abs(apart) > tolerance_ns
    if unseen.any():
        row = int(unseen.argmax())
        raise RunFailed(
            f"the kernel's trace has no {what} of sector {sector[row]} "
            f"near {time_ns[row]} ns: the throttle's record is wrong"
        )
    return apart


def compare_trace(
    rows: pl.DataFrame, trace: bytes, formats: str, tolerance: Tolerance
) -> dict[str, Any]:
    """Compare each request's dispatch and completion with the trace events.

    rows: the throttle's records, times on the guest's clock; trace and formats as in ring_buffer.
    Raises RunFailed for the first request whose times differ too much from the kernel's trace.
    """
    events = ring_buffer.events(trace, formats)
    carried = rows.unique("request_id", keep="first")
    if carried.is_empty():
        raise RunFailed("no request was recorded that the kernel's trace could confirm")
    result: dict[str, Any] = {"requests": carried.height}
    for kind, column in (("issue", "dispatch_ns"), ("complete", "completion_ns")):
        apart = _match(
            _of_kind(events[KINDS[kind]]),
            carried[column].to_numpy().astype(np.int64),
            carried["sector"].to_numpy().astype(np.int64),
            tolerance.trace_ns,
            kind,
        )
        if abs(apart.mean()) > tolerance.trace_mean_ns:
            raise RunFailed(
                f"the kernel's trace has each {kind} {apart.mean() / 1000:.0f} us away from the "
                "throttle's record on average: the record is wrong"
            )
        result[f"{kind}_mean_ns"] = float(apart.mean())
        result[f"{kind}_max_ns"] = int(np.abs(apart).max())
    return result


@dataclass(frozen=True)
class ProcessView:
    """The processes' view of the reads that could be matched with records."""

    reads: int
    mean_response_ms: float
    recorded_mean_response_ms: float
    mean_difference_us: float


def compare_processes(rows: pl.DataFrame, entries: Entries, tolerance: Tolerance) -> dict[str, Any]:
    """Compare each read of each process with the record of its bio.

    The comparison is for direct I/O only, where one read is one bio. A process's reads and its
    records are in the same order. The time interval of each read must contain that of its record.
    """
    seen, recorded = [], []
    for owner, group in rows.filter(~pl.col("meta")).group_by("owner", maintain_order=True):
        mine = entries[entries["owner"] == owner[0]][: group.height]
        arrival = group["arrival_ns"].to_numpy().astype(np.int64)
        completion = group["completion_ns"].to_numpy().astype(np.int64)
        start = mine["start_ns"].astype(np.int64)
        end = mine["end_ns"].astype(np.int64)
        count = len(mine)
        if (start > arrival[:count]).any() or (end < completion[:count]).any():
            raise RunFailed(f"process {owner[0]} saw other times than were recorded")
        seen.append(end - start)
        recorded.append(completion[:count] - arrival[:count])
    if not seen:
        raise RunFailed("no read of the processes could be paired with a record")
    return asdict(_process_view(np.concatenate(seen), np.concatenate(recorded), tolerance))


def compare_requests(rows: pl.DataFrame, entries: Entries) -> dict[str, Any]:
    """Compare the requests of a real disk with the processes' reads, for direct I/O.

    A request merged into another has no row, so not every read has a row.  But each row that is
    `sure` must be within a read of its owner, from arrival to completion.
    """
    seen, recorded = [], []
    for owner, group in rows.filter("sure").group_by("owner", maintain_order=True):
        mine = np.sort(entries[entries["owner"] == owner[0]], order="start_ns")
        start, end = (mine[name].astype(np.int64) for name in ("start_ns", "end_ns"))
        logged = group.filter(pl.col("arrival_ns") <= int(end[-1]))
        arrival = logged["arrival_ns"].to_numpy()
        completion = logged["completion_ns"].to_numpy()
        at = np.searchsorted(start, arrival, side="right") - 1
        outside = (at < 0) | (completion > end[at])
        if outside.any():
            row = int(outside.argmax())
            raise RunFailed(
                f"process {owner[0]} was not reading from {arrival[row]} to {completion[row]} ns, "
                "when one of its requests was recorded"
            )
        seen.append(end[at] - start[at])
        recorded.append(completion - arrival)
    if not seen:
        raise RunFailed("no request could be paired with a read of the processes")
    return asdict(_view(np.concatenate(seen), np.concatenate(recorded)))


def compare_arrivals(rows: pl.DataFrame, entries: Entries) -> dict[str, Any]:
    """Compare the records of buffered reads with the reads of the processes.

    The page cache serves some reads and reads ahead for others, so reads and bios do not correspond
    one to one. But each bio of a process must have arrived during a read of that process.
    """
    checked = 0
    for owner, group in rows.filter(~pl.col("meta")).group_by("owner", maintain_order=True):
        mine = np.sort(entries[entries["owner"] == owner[0]], order="start_ns")
        arrival = group["arrival_ns"].to_numpy().astype(np.int64)
        if not len(mine):
            raise RunFailed(f"process {owner[0]} has records, but read nothing by its own log")
        arrival = arrival[arrival <= int(mine["end_ns"][-1])]
        latest = np.searchsorted(mine["start_ns"].astype(np.int64), arrival, side="right") - 1
        outside = (latest < 0) | (arrival > mine["end_ns"].astype(np.int64)[latest])
        if outside.any():
            raise RunFailed(f"process {owner[0]} was not reading when the throttle says it was")
        checked += len(arrival)
    if not checked:
        raise RunFailed("no record is within a read of the processes")
    seen = entries["end_ns"].astype(np.int64) - entries["start_ns"].astype(np.int64)
    return {
        "arrivals": checked,
        "reads": len(entries),
        "mean_response_ms": float(seen.mean()) / 1e6,
    }


def _view(seen: Ints, recorded: Ints) -> ProcessView:
    return ProcessView(
        reads=len(seen),
        mean_response_ms=float(seen.mean()) / 1e6,
        recorded_mean_response_ms=float(recorded.mean()) / 1e6,
        mean_difference_us=float((seen - recorded).mean()) / 1e3,
    )


def _process_view(seen: Ints, recorded: Ints, tolerance: Tolerance) -> ProcessView:
    if not len(seen):
        raise RunFailed("no read of the processes could be paired with a record")
    difference = float((seen - recorded).mean())
    if difference > tolerance.process_mean_ns:
        raise RunFailed(
            f"the processes saw reads {difference / 1000:.0f} us longer than recorded on average; "
            "if the device is faster than the guest's processor, take a greater --scale, or fewer "
            "processes"
        )
    return _view(seen, recorded)
