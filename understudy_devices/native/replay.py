# SPDX-License-Identifier: MIT
"""Repeats calls to a scheduler: plays a tape of calls, or replays recorded arrivals.

Contracts: core/tape.h, sim/replay.h.  Times are integer nanoseconds, addresses are sectors.
"""

import errno
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from understudy_devices._core import lib
from understudy_devices.native import descriptions, registry, worker
from understudy_devices.native.arrays import I64, U8, U64, Columns, dtype_of, same_length, u64
from understudy_devices.native.optimal_order import POSITION_MAX, TABLE_MAX
from understudy_devices.native.request import WRITE

NONE_PICKED = -1
ADD, REMOVE, NEXT, COMPLETED, GROWN, POSITIONING = (
    lib.TAPE_ADD,
    lib.TAPE_REMOVE,
    lib.TAPE_NEXT,
    lib.TAPE_COMPLETED,
    lib.TAPE_GROWN,
    lib.TAPE_POSITIONING,
)

Tape = npt.NDArray[Any]  # of CALL: every call into a scheduler, core/tape.h
CALL = dtype_of("struct tape_call")
TAPE_HEADER = dtype_of("struct tape_header")
TAPE_MAGIC: int = lib.TAPE_MAGIC


@dataclass(frozen=True)
class Arrivals:
    """Rows in order of time.

    A row with the id of an earlier row changes that request. Either another request was merged into
    it, or, if the row has no sectors, the request was merged into another one.
    """

    time_ns: npt.ArrayLike
    id: npt.ArrayLike
    sector: npt.ArrayLike
    sectors: npt.ArrayLike
    owner: npt.ArrayLike
    op: npt.ArrayLike


@dataclass(frozen=True)
class Picks:
    """A scheduler's choice at each pick time: an id or NONE_PICKED."""

    id: I64
    reason: U8
    wake_ns: U64
    counters: dict[str, int]


def play(
    scheduler: str,
    tape: Tape,
    *,
    tunables: Mapping[str, int] | None = None,
    capacity_sectors: int = POSITION_MAX,
    max_requests: int = 1024,
    depth: int = 1,
) -> tuple[Tape, dict[str, int]]:
    """Play a tape to a scheduler (sim/replay.h); return the tape with the scheduler's results, and
    the scheduler's counters.
    """
    described = descriptions.scheduler(scheduler)
    job = worker.Job(
        worker.REPLAY,
        {
            "replay.tunables": descriptions.tunable_values(described, tunables or {}),
            "replay.counters": worker.Room(np.uint64, len(described.counters)),
            "replay.calls": tape,
        },
    )
    run = job.structure.replay
    run.capacity_sectors = capacity_sectors
    run.max_requests = _in_table("max_requests", max_requests)
    run.depth = _in_table("depth", depth)
    run.places = int(tape["place"].max(initial=0)) + 1
    run.nr_calls = len(tape)
    part = worker.Part(registry.source(scheduler), scheduler, described.declared)
    worker.run(job, [part])
    error = -job.structure.error
    if error == errno.EINVAL:
        raise ValueError(f"{scheduler} can't play this tape: a call does not fit")
    if error:
        reasons = {
            errno.ENOSPC: "more requests are pending than max_requests",
            errno.EPROTO: "it breaks a rule of core/scheduler.h",
            errno.ENOEXEC: descriptions.why_not_loaded(job),
        }
        why = reasons.get(error, f"{os.strerror(error)} (errno {error})")
        raise ValueError(f"{scheduler} can't play this tape: {why}")
    names = (counter.name for counter in described.counters)
    counters = job.arrays["replay.counters"].tolist()
    return job.arrays["replay.calls"].copy(), dict(zip(names, counters, strict=True))


def replay(
    scheduler: str,
    arrivals: Arrivals,
    pick_ns: npt.ArrayLike,
    completion_ns: npt.ArrayLike | None = None,
    *,
    tunables: Mapping[str, int] | None = None,
    capacity_sectors: int = POSITION_MAX,
    max_requests: int = 1024,
) -> Picks:
    """Have a scheduler pick a request at each pick time; return its picks.

    The request of each pick completes at its `completion_ns`, which is at the pick, at the next
    pick or between the two. The default is the time of the next pick. Events at the same time are
    in this order: completions, arrivals, the pick.
    """
    tape, ids = _made_up_tape(arrivals, pick_ns, completion_ns)
    events, counters = play(
        scheduler,
        tape,
        tunables=tunables,
        capacity_sectors=capacity_sectors,
        max_requests=max_requests,
    )
    picks = events[events["kind"] == NEXT]
    picked = picks["id"] > 0
    picked_id = np.full(len(picks), NONE_PICKED, np.int64)
    picked_id[picked] = ids[picks["place"][picked]]
    return Picks(
        id=picked_id,
        reason=picks["reason"].copy(),
        wake_ns=picks["wake_ns"].copy(),
        counters=counters,
    )


def _made_up_tape(
    arrivals: Arrivals, pick_ns: npt.ArrayLike, completion_ns: npt.ArrayLike | None
) -> tuple[Tape, I64]:
    """Return the tape of a replay, and the request id of each of the tape's slots."""
    picks = u64(pick_ns)
    ended = np.append(picks[1:], picks[-1:]) if completion_ns is None else u64(completion_ns)
    same_length({"pick_ns": picks, "completion_ns": ended})
    changes, ids = _changes(arrivals)
    _check_times(changes["now_ns"], picks)
    calls = np.zeros((2, len(picks)), CALL)
    calls["now_ns"] = picks, ended
    calls["kind"] = [[NEXT], [COMPLETED]]
    # A round is a pick and all events since the previous pick.
    round_ = np.arange(len(picks))
    rounds = np.concatenate([np.searchsorted(picks, changes["now_ns"]), round_, round_ + 1])
    tape = np.concatenate([changes, *calls])
    is_pick, is_change = tape["kind"] == NEXT, tape["kind"] < NEXT
    order = np.lexsort((is_change, tape["now_ns"], is_pick, rounds))
    return tape[order[rounds[order] < len(picks)]], ids


def _changes(arrivals: Arrivals) -> tuple[Tape, I64]:
    """Return the tape of the arrivals alone, and the request id of each slot.

    The first row of an id adds the request. A later row with that id removes the request and, if
    the row has sectors, adds it again.
    """
    rows = _rows(arrivals)
    nr_rows = same_length(rows)
    ids, first, place = np.unique(rows["id"], return_index=True, return_inverse=True)
    calls = np.zeros((nr_rows, 2), CALL)
    calls["kind"] = [REMOVE, ADD]
    calls["now_ns"] = rows["time_ns"][:, None]
    calls["place"] = place[:, None]
    calls["id"] = calls["place"] + 1
    for name in ("sector", "sectors"):
        calls[name] = rows[name][:, None]
    for name in ("owner", "op"):
        calls[name] = rows[name][first][place][:, None]
    calls["arrival_ns"] = rows["time_ns"][first][place][:, None]
    calls["weight"] = lib.IO_WEIGHT_DEFAULT
    calls["io_class"] = lib.IO_CLASS_BEST_EFFORT
    calls["level"] = lib.IO_LEVEL_DEFAULT
    again = first[place] != np.arange(nr_rows)
    mask = np.stack([again, ~again | (rows["sectors"] > 0)], axis=1)
    return calls[mask], ids.astype(np.int64)


def _rows(arrivals: Arrivals) -> Columns:
    op = np.ascontiguousarray(arrivals.op, np.uint8)
    if (op > WRITE).any():
        raise ValueError("op is 0 for a read and 1 for a write")
    return {
        "time_ns": u64(arrivals.time_ns),
        "id": u64(arrivals.id),
        "sector": u64(arrivals.sector),
        "sectors": np.ascontiguousarray(arrivals.sectors, np.uint32),
        "owner": np.ascontiguousarray(arrivals.owner, np.uint32),
        "op": op,
    }


def _in_table(name: str, value: int) -> int:
    if not 1 <= value <= TABLE_MAX:
        raise ValueError(f"{name} is {value}, not from 1 to {TABLE_MAX}")
    return value


def _check_times(arrival_ns: U64, pick_ns: U64) -> None:
    for name, times in (("arrivals", arrival_ns), ("picks", pick_ns)):
        if (times[1:] < times[:-1]).any():
            raise ValueError(f"{name} are not in order of time")
