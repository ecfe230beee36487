# SPDX-License-Identifier: MIT
"""Reads the tape of a scheduler in the kernel: every call that the shim made to the scheduler.
core/tape.h defines the format. A tape is refused if it is damaged or incomplete, or if a call names
a request that did not exist, since the shim cannot have recorded such a tape. Any other tape can be
played to the same scheduler again (understudy_devices.native.replay.play).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from understudy_devices.base.errors import RunFailed
from understudy_devices.native.replay import (
    ADD,
    CALL,
    COMPLETED,
    GROWN,
    NEXT,
    POSITIONING,
    REMOVE,
    TAPE_HEADER,
    TAPE_MAGIC,
    Tape,
)
from understudy_devices.native.request import REASONS, WRITE

KINDS = {
    ADD: "add",
    REMOVE: "remove",
    NEXT: "next",
    COMPLETED: "completed",
    POSITIONING: "positioning",
}
CLASSES = (1, 2, 3)  # enum io_class
LEVELS = 8  # IO_LEVELS
REQUEST = ("arrival_ns", "sector", "sectors", "owner", "weight", "op", "io_class", "level")


@dataclass(frozen=True)
class Recording:
    """A tape, its scheduler, and the scheduler's setup."""

    scheduler: str
    capacity_sectors: int
    max_requests: int
    depth: int
    calls: Tape


def parse(data: bytes) -> Recording:
    """Parse the bytes of /sys/module/NAME/tape."""
    header = _header(data)
    calls = np.frombuffer(data, CALL, offset=TAPE_HEADER.itemsize)
    recording = Recording(
        scheduler=header["scheduler"].decode("ascii", errors="replace"),
        capacity_sectors=int(header["capacity_sectors"]),
        max_requests=int(header["max_requests"]),
        depth=int(header["depth"]),
        calls=calls,
    )
    _refuse_impossible(recording)
    _follow(calls)
    return recording


def _header(data: bytes) -> Any:
    if len(data) < TAPE_HEADER.itemsize:
        raise RunFailed(f"the tape is cut off in its header, after {len(data)} bytes")
    header = np.frombuffer(data, TAPE_HEADER, 1)[0]
    sizes = (header["header_bytes"], header["call_bytes"])
    if header["magic"] != TAPE_MAGIC or sizes != (TAPE_HEADER.itemsize, CALL.itemsize):
        raise RunFailed("these bytes are no tape, or one of another version of understudy")
    if header["calls"] > header["room"]:
        raise RunFailed(
            f"the tape was full: {header['calls']} calls, room for {header['room']}; load the "
            f"scheduler with tape_calls={header['calls']} at least"
        )
    if header["calls"] == 0:
        raise RunFailed("the tape is empty: no disk has used the scheduler since it was loaded")
    if len(data) != TAPE_HEADER.itemsize + int(header["calls"]) * CALL.itemsize:
        raise RunFailed(f"the tape is cut off: {header['calls']} calls in {len(data)} bytes")
    return header


def _refuse_impossible(recording: Recording) -> None:
    """Refuse calls with impossible values, and clocks that run backwards."""
    calls = recording.calls
    is_next = calls["kind"] == NEXT
    is_none = is_next & (calls["id"] == 0)
    is_grown = calls["kind"] == GROWN
    is_request = ~is_none & ~is_grown
    sizes = np.where(is_grown, calls["sector"], np.uint64(recording.capacity_sectors))
    capacity = np.maximum.accumulate(sizes)
    before = np.append(np.uint64(recording.capacity_sectors), capacity[:-1])
    end = calls["sector"] + calls["sectors"]
    wrong = {
        "kind": calls["kind"] > POSITIONING,
        "now_ns": np.diff(calls["now_ns"], prepend=calls["now_ns"][:1]).view(np.int64) < 0,
        "id": is_request & (calls["id"] == 0) | is_grown & (calls["id"] != 0),
        "place": (calls["place"] >= recording.max_requests) | ~is_request & (calls["place"] != 0),
        "arrival_ns": is_request & (calls["arrival_ns"] > calls["now_ns"]),
        "sectors": is_request & (calls["sectors"] == 0),
        "sector": (end > capacity)
        | (end < calls["sector"])
        | is_none & (end != 0)
        | is_grown & (calls["sector"] <= before),
        "weight": is_request & (calls["weight"] == 0),
        "op": calls["op"] > WRITE,
        "io_class": is_request & ~np.isin(calls["io_class"], CLASSES),
        "level": calls["level"] >= LEVELS,
        "reason": (calls["reason"] >= len(REASONS))
        | ~(is_next & is_request) & (calls["reason"] != 0),
        "wake_ns": ~np.isin(calls["kind"], (NEXT, POSITIONING)) & (calls["wake_ns"] != 0),
        "unused": calls["unused"].any(axis=1),
    }
    of_requests = [field for field in REQUEST if field != "sector"]
    wrong |= {f: wrong.get(f, False) | ~is_request & (calls[f] != 0) for f in of_requests}
    for field, rows in wrong.items():
        if rows.any():
            at = int(rows.argmax())
            raise RunFailed(f"call {at} of the tape is damaged: {field} is {calls[field][at]}")


def _follow(calls: Tape) -> None:
    """Check that each call's request exists in its slot, unchanged."""
    pending: dict[int, Any] = {}  # by slot: the request as it was added
    in_service: dict[int, Any] = {}
    came_from = {REMOVE: pending, NEXT: pending, COMPLETED: in_service}
    requests = calls[["id", *REQUEST]].tolist()
    steps = zip(calls["kind"].tolist(), calls["place"].tolist(), requests, strict=True)
    for at, (kind, place, request) in enumerate(steps):
        if request[0] == 0:
            continue
        if kind == ADD:
            known = place not in pending and place not in in_service
            pending[place] = request
        elif kind == POSITIONING:
            known = pending.get(place) == request
        else:
            known = came_from[kind].pop(place, None) == request
        if kind == NEXT:
            in_service[place] = request
        if not known:
            raise RunFailed(
                f"call {at} of the tape is damaged: {KINDS[kind]} of request {request[0]}, which "
                f"is not there in place {place}"
            )
