# SPDX-License-Identifier: MIT
"""Open queues that cannot be simulated, overload, and damaged files: each error says where and
why."""

import math
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from open_queues import MS, ONE_NS, Given, Write, erlang, exponential, queue, writer

from understudy_devices.base.errors import RunFailed, Unstable
from understudy_devices.native.open_queue import OpenQueue, simulate
from understudy_devices.native.service_times import ServiceTimes


@pytest.fixture
def write(tmp_path: Path) -> Write:
    return writer(tmp_path)


# What cannot be.


def small(write: Write) -> OpenQueue:
    return queue(write, [Given([0, 5, 5], [1, 2, 1], exponential(1), 2, 1.5)] * 2, 2)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"classes": ()}, "no classes: give at least one"),
        ({"servers": 0}, "servers is 0: has to be from 1 to 1,024"),
        ({"servers": 1025}, "servers is 1,025: has to be from 1 to 1,024"),
        ({"max_pending": 0}, "max_pending is 0: has to be from 1 to 1,048,576"),
        ({"until_ns": 0}, "until_ns is 0: has to be from 1"),
        ({"until_ns": 2**62 + 1}, "until_ns is .*: has to be from 1 to 4,611,686,018,427,387,904"),
    ],
)
def test_an_impossible_queue_is_refused(
    write: Write, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        simulate(replace(small(write), **changes), 1)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"weight": 0}, "class 1: weight is 0: has to be from 1"),
        ({"weight": 2**32}, "class 1: weight is 4,294,967,296: has to be from 1"),
        ({"merge": 0.5}, "class 1: merge is 0.5: a server takes at least one request; 1 merges"),
        ({"merge": -math.inf}, "class 1: merge is -inf: a server takes at least one"),
        ({"merge": math.nan}, "class 1: merge is nan: a server takes at least one"),
    ],
)
def test_an_impossible_class_is_refused(
    write: Write, changes: dict[str, Any], message: str
) -> None:
    model = small(write)
    wrong = (model.classes[0], replace(model.classes[1], **changes))
    with pytest.raises(ValueError, match=message):
        simulate(replace(model, classes=wrong), 1)


@pytest.mark.parametrize("seed", [-1, 2**64])
def test_an_impossible_seed_is_refused(write: Write, seed: int) -> None:
    with pytest.raises(ValueError, match=r"seed is .*: has to be from 0"):
        simulate(small(write), seed)


def test_a_thousand_classes_and_no_more(write: Write) -> None:
    one = queue(write, [Given([0, MS], [2, 1], exponential(1), 1, 2.5)], 8).classes[0]
    figures = simulate(OpenQueue((one,) * 1000, 8), 1)
    assert [(each.requests, each.pieces) for each in figures.each] == [(2, 3)] * 1000
    assert len({each.response.mean for each in figures.each}) > 990
    with pytest.raises(ValueError, match="classes is 1,001: has to be from 1 to 1,000"):
        simulate(OpenQueue((one,) * 1001, 8), 1)


def test_a_queue_without_requests_is_refused(write: Write) -> None:
    late = queue(write, [Given([7], [1], ONE_NS)], 1, until_ns=7)
    with pytest.raises(ValueError, match="no request arrives before 7 ns, which is until_ns"):
        simulate(late, 1)


def test_overload_is_unstable_unless_it_ends_soon(write: Write) -> None:
    """Two servers serve 200 a second; a burst of 100,000 pieces is still served."""
    at = np.arange(3000) * 10**9 // 300
    classes = [Given(at, np.ones(3000, int), erlang(16, 10))]
    with pytest.raises(Unstable, match=r"more than 50 pieces .* arrive 1\.\d\d times as") as raised:
        simulate(queue(write, classes, 2, max_pending=50), 1)
    assert raised.value.load == pytest.approx(1.5, abs=0.2)
    merged = [replace(classes[0], merge=2)]
    assert simulate(queue(write, merged, 2, max_pending=50), 1).each[0].requests == 3000
    burst = queue(write, [Given([0, 0], [60_000, 40_000], erlang(16, 10))], 2)
    assert simulate(burst, 1).each[0].pieces == 100_000
    with pytest.raises(Unstable, match="not one is served yet") as at_once:
        simulate(replace(burst, max_pending=99_999), 1)
    assert at_once.value.load is None


@pytest.mark.parametrize(
    ("rows", "member", "value", "message"),
    [
        ("outcomes", "last", 2**64 - 2, "a phase's probabilities end below 1"),
        ("outcomes", "phase", 2, "a service time leads to an unknown phase"),
        ("phases", "outcomes", 0, "a phase of a service time has no outcomes"),
        ("phases", "mean", 2**57, r"a phase of a service time lasts 2\^41 ns or more"),
    ],
)
def test_service_times_that_nobody_checked_are_refused(
    write: Write, rows: str, member: str, value: int, message: str
) -> None:
    service = exponential(1)
    spoilt = {name: getattr(service, name).copy() for name in ("phases", "outcomes")}
    spoilt[rows][member][-1] = value
    times = ServiceTimes(**spoilt)
    with pytest.raises(ValueError, match=message):
        times.draw(1, 1)
    with pytest.raises(ValueError, match=message):
        simulate(queue(write, [Given([0], [1], times)], 1), 1)


# Files that changed after they were written.


def spoiled(write: Write, begin: int, value: bytes) -> OpenQueue:
    """Return a queue of six requests in two classes; bytes of the second file are overwritten
    from `begin` on."""
    model = small(write)
    file = model.classes[1].arrivals.path
    held = bytearray(file.read_bytes())
    held[begin : begin + len(value)] = value
    file.write_bytes(held)
    return model


FIRST_NS, PIECES = 24, 24 + 3 * 16


@pytest.mark.parametrize(
    ("begin", "value", "message"),
    [
        (FIRST_NS, (6).to_bytes(8, "little"), "request 1 arrives at 5 ns, before .* at 6 ns"),
        (FIRST_NS, (2**62).to_bytes(8, "little"), "request 0 arrives at .*below 2"),
        (FIRST_NS + 16, (2**64 - 1).to_bytes(8, "little"), "request 2 arrives at -1 ns"),
        (PIECES, bytes(2), "request 0 has 0 pieces"),
        (PIECES + 4, bytes(2), "request 2 has 0 pieces"),
        (0, b"x", "no file of arrivals: begins with b'xrrivals'"),
        (8, b"\4", "81 bytes, not the 100 of 4 requests"),
        (8, bytes(8), "81 bytes, not the 24 of 0 requests"),
        (16, b"\1", "81 bytes, not the 105 of 3 requests"),
        (81, b"\0", "82 bytes, not the 81 of 3 requests"),
        (81, bytes(19), "100 bytes, not the 81 of 3 requests"),
    ],
)
def test_a_spoiled_file_is_refused(write: Write, begin: int, value: bytes, message: str) -> None:
    with pytest.raises(ValueError, match=f"1/arrivals: {message}"):
        simulate(spoiled(write, begin, value), 1)


def test_what_lies_behind_the_end_is_not_looked_at(write: Write) -> None:
    model = spoiled(write, FIRST_NS + 16, bytes(8))
    with pytest.raises(ValueError, match="request 2 arrives at 0 ns, before"):
        simulate(model, 1)
    assert simulate(replace(model, until_ns=5), 1).each[1].requests == 1


@pytest.mark.parametrize("size", [0, 23, 24, 53])
def test_a_file_that_was_cut_off_is_refused(write: Write, size: int) -> None:
    model = small(write)
    file = model.classes[1].arrivals.path
    file.write_bytes(file.read_bytes()[:size])
    with pytest.raises(ValueError, match=f"1/arrivals: {size} bytes, no"):
        simulate(model, 1)


def test_a_file_that_is_gone_is_refused(write: Write) -> None:
    model = small(write)
    model.classes[0].arrivals.path.unlink()
    with pytest.raises(ValueError, match="0/arrivals: No such file or directory"):
        simulate(model, 1)


def test_any_bytes_are_refused_or_simulated(write: Write) -> None:
    draw = np.random.default_rng(1)
    model = queue(write, [Given(np.arange(20) * MS, np.full(20, 2), exponential(1))], 2)
    file = model.classes[0].arrivals.path
    whole = file.read_bytes()
    refused = simulated = 0
    for _ in range(150):
        held = np.frombuffer(whole, np.uint8).copy()
        held[draw.integers(0, len(held), draw.integers(1, 4))] ^= np.uint8(1 << draw.integers(0, 8))
        file.write_bytes(held.tobytes())
        try:
            figures = simulate(model, 1)
        except (ValueError, Unstable):
            refused += 1
        else:
            simulated += 1
            assert figures.each[0].requests == 20
    assert refused > 20 < simulated


def test_a_file_that_is_cut_off_while_it_is_read_ends_the_run(write: Write) -> None:
    at = np.arange(2_000_000) * 10_000
    model = queue(write, [Given(at, np.full(len(at), 1), exponential(0.005))], 1)

    def cut(done: int) -> None:
        os.truncate(model.classes[0].arrivals.path, 24)

    with pytest.raises(RunFailed, match=r"changed while it was read: .*24 bytes, not the 38,000"):
        simulate(model, 1, look=cut)
