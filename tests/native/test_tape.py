# SPDX-License-Identifier: MIT
"""Tapes of scheduler calls: their layout, the damage that is refused, and how a tape is played."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy_devices.base.errors import RunFailed
from understudy_devices.native import replay
from understudy_devices.native.replay import ADD, COMPLETED, GROWN, NEXT, REMOVE
from understudy_devices.platforms.vm import shim_tape

# Request 1 grows by a merge; the scheduler dispatches 1 and 2, and then has nothing left.
STORY = [(ADD, 1, 0), (ADD, 2, 1), (REMOVE, 1, 0), (ADD, 1, 0), (NEXT, 1, 0), (ADD, 3, 2)]
STORY += [(COMPLETED, 1, 0), (NEXT, 2, 1), (REMOVE, 3, 2), (COMPLETED, 2, 1), (NEXT, 0, 0)]


def calls() -> replay.Tape:
    """Return a valid tape of fcfs."""
    tape = np.zeros(len(STORY), replay.CALL)
    for call, (kind, request, place) in zip(tape, STORY, strict=True):
        call["kind"], call["id"], call["place"] = kind, request, place
    about_request = tape["id"] > 0
    tape["now_ns"] = 1000 + np.arange(len(tape))
    tape["arrival_ns"][about_request] = 1000
    tape["sector"] = 100 * tape["id"]
    tape["sectors"][about_request] = 8
    tape["sectors"][3:][tape["id"][3:] == 1] = 16
    tape["owner"] = tape["id"]
    tape["weight"][about_request] = 100
    tape["io_class"][about_request] = 2
    tape["level"][about_request] = 4
    return tape


def recorded(tape: replay.Tape | None = None, **header: Any) -> bytes:
    """Return a tape's bytes, with some header fields changed."""
    tape = calls() if tape is None else tape
    head = np.zeros((), replay.TAPE_HEADER)
    good = {
        "magic": replay.TAPE_MAGIC,
        "header_bytes": 64,
        "call_bytes": 64,
        "room": 100,
        "calls": len(tape),
        "capacity_sectors": 1000,
        "max_requests": 3,
        "depth": 2,
        "scheduler": b"fcfs",
    }
    for field, value in (good | header).items():
        head[field] = value
    return head.tobytes() + tape.tobytes()


def test_reads_what_the_shim_writes() -> None:
    tape = shim_tape.parse(recorded())
    assert (tape.scheduler, tape.capacity_sectors) == ("fcfs", 1000)
    assert (tape.max_requests, tape.depth) == (3, 2)
    assert (tape.calls == calls()).all()
    assert recorded()[:8] == b"us-tape1"


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "cut off in its header"),
        (recorded()[:63], "cut off in its header"),
        (recorded()[:64], "cut off: 11 calls in 64 bytes"),
        (recorded()[:-1], "cut off"),
        (recorded() + b"\0", "cut off"),
        (recorded(magic=1), "no tape"),
        (recorded(header_bytes=72), "another version"),
        (recorded(call_bytes=56), "another version"),
        (recorded(room=10), "full: 11 calls, room for 10; load the scheduler with tape_calls=11"),
        (recorded(calls=0), "empty"),
        (recorded(calls=10), "cut off"),
    ],
)
def test_refuses_what_is_no_tape(data: bytes, says: str) -> None:
    with pytest.raises(RunFailed, match=says):
        shim_tape.parse(data)


@pytest.mark.parametrize(
    ("at", "field", "value"),
    [
        (0, "kind", 6),
        (0, "sector", 993),
        (3, "now_ns", 1001),
        (0, "id", 0),
        (0, "place", 3),
        (10, "place", 1),
        (1, "arrival_ns", 1002),
        (1, "sectors", 0),
        (1, "sector", 993),
        (1, "sector", 2**64 - 4),
        (1, "weight", 0),
        (1, "op", 2),
        (1, "io_class", 0),
        (1, "io_class", 4),
        (1, "level", 8),
        (4, "reason", 6),
        (0, "reason", 1),
        (10, "reason", 1),
        (0, "wake_ns", 5000),
        (0, "unused", 1),
        (10, "owner", 1),
    ],
)
def test_refuses_a_damaged_call(at: int, field: str, value: int) -> None:
    damaged = calls()
    damaged[field][at] = value
    with pytest.raises(RunFailed, match=f"call {at} of the tape is damaged: {field} is"):
        shim_tape.parse(recorded(damaged))


def grown(before: int, sectors: int) -> replay.Tape:
    """Return a tape on which the disk grows to `sectors` before call `before`."""
    call = np.zeros(1, replay.CALL)
    call["kind"], call["now_ns"], call["sector"] = GROWN, 1000 + before, sectors
    return np.insert(calls(), before, call)


def test_a_disk_may_grow_on_the_tape() -> None:
    """Request 2 is beyond the old end of the disk, which has grown before; the answers stay the
    same.
    """
    tape = grown(1, 2000)
    tape["sector"][tape["id"] == 2] = 1900
    parsed = shim_tape.parse(recorded(tape)).calls
    assert (replay.play("fcfs", parsed)[0] == tape).all()
    assert (replay.play("vr", parsed, capacity_sectors=1000)[0]["kind"] == tape["kind"]).all()


@pytest.mark.parametrize(
    ("before", "sectors", "at", "field"),
    [
        (2, 2000, 1, "sector"),  # the request arrives before the disk grows
        (1, 1000, 1, "sector"),  # the disk does not grow
        (1, 1500, 2, "sector"),  # the disk grows too little
    ],
)
def test_refuses_requests_beyond_the_disk(before: int, sectors: int, at: int, field: str) -> None:
    tape = grown(before, sectors)
    tape["sector"][tape["id"] == 2] = 1900
    with pytest.raises(RunFailed, match=f"call {at} of the tape is damaged: {field} is"):
        shim_tape.parse(recorded(tape))


@pytest.mark.parametrize(
    ("at", "changes"),
    [
        (2, {"id": 2}),  # request 2 is in another slot
        (2, {"place": 2}),  # the slot is empty
        (3, {"place": 1}),  # the slot is occupied
        (4, {"sector": 101}),  # the request was added with another sector
        (6, {"kind": NEXT}),  # request 1 is in service already
        (9, {"kind": REMOVE}),  # request 2 has been dispatched
        (7, {"kind": COMPLETED}),  # request 2 was never dispatched
    ],
)
def test_refuses_a_call_about_nothing(at: int, changes: dict[str, int]) -> None:
    damaged = calls()
    for field, value in changes.items():
        damaged[field][at] = value
    with pytest.raises(RunFailed, match=f"call {at} of the tape is damaged: .* is not there"):
        shim_tape.parse(recorded(damaged))


@given(st.integers(0, len(recorded()) - 1), st.integers(1, 255))
def test_damage_is_refused_or_readable(at: int, change: int) -> None:
    """After one wrong byte anywhere, parse() raises RunFailed or the tape can be played."""
    data = bytearray(recorded())
    data[at] ^= change
    try:
        tape = shim_tape.parse(bytes(data))
    except RunFailed:
        return
    replay.play("fcfs", tape.calls, capacity_sectors=1000, max_requests=4)


def test_plays_to_the_same_end() -> None:
    """The answers come from the scheduler, not from the tape."""
    answers, counters = replay.play("fcfs", calls(), max_requests=3)
    assert (answers == calls()).all()
    assert counters == {}
    blank = calls()
    for field in set(replay.CALL.names or ()) - {"kind", "now_ns"}:
        blank[field][blank["kind"] == NEXT] = 0
    assert (replay.play("fcfs", blank)[0] == calls()).all()
    assert (blank["id"][blank["kind"] == NEXT] == 0).all(), "the argument was written to"


def test_a_difference_shows() -> None:
    """With request 2 at the lower sector, clook dispatches request 2 first, unlike fcfs."""
    tape = calls()
    tape["sector"][tape["id"] == 2] = 50
    assert (replay.play("fcfs", tape)[0] == tape).all()
    swept, counters = replay.play("clook", tape)
    assert swept["id"][4] == 2
    assert (swept["id"][swept["kind"] == NEXT] == [2, 1, 0]).all()
    assert counters["wraps"] == 0


def test_play_refuses() -> None:
    for wrong in ({"kind": 9}, {"kind": ADD, "place": 1}):
        tape = calls()
        for field, value in wrong.items():
            tape[field][2] = value
        with pytest.raises(ValueError, match="fcfs can't play this tape"):
            replay.play("fcfs", tape)
    with pytest.raises(ValueError, match="max_requests"):
        replay.play("fcfs", calls(), max_requests=1)
    with pytest.raises(ValueError, match="depth is 3000000000"):
        replay.play("fcfs", calls(), depth=3_000_000_000)
