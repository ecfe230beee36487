# SPDX-License-Identifier: MIT
"""Flushes, and writes that must reach the medium, take the model's time.

The virtual disk reports a volatile write cache if the modelled drive has one, so that fsync()
reaches the throttle. Otherwise it reports none, and fsync() takes no time.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

import pytest
from guests import group, once, pairs
from test_profiler import KNOWN

from understudy_devices.device.profile import DiskProfile
from understudy_devices.native.drive import Drive
from understudy_devices.native.request import WRITE
from understudy_devices.platforms.vm import target

pytestmark = group("flush")

SECTORS = 4_000_000
SOFTWARE_NS = 60_000  # what the kernel and the program may need for fsync() or FUA
IDLE_NS = 2 * 10**9
PLACES = (3_000_000, 100_000, 2_000_000)  # ascending from the first place on, with a wrap
FIXED = {**KNOWN, "rotation": {"period_ms": 6.0, "phase": "mean"}}
WRITES = {  # the first drive destages in the order of PLACES, the second has nothing to destage
    "write back": {"write_back_order": "ascending"},
    "write through": {"write_back": 0},
}
DRIVES = {
    name: {**FIXED, "buffer": {**FIXED["buffer"], **given}}  # type: ignore[dict-item]
    for name, given in WRITES.items()
}


@dataclass(frozen=True)
class Done:
    """One request, as the guest measured it."""

    op: str
    sector: int
    sent_ns: int
    service_ns: int


def asked() -> Iterator[tuple[str, int]]:
    """Yield requests for an idle drive: writes, two flushes, a write with FUA, and a flush."""
    yield from (("write", place) for place in PLACES)
    yield from (("flush", 0), ("flush", 0))
    yield from (("write through", PLACES[0]), ("flush", 0))


@once
def served(name: str) -> tuple[list[Done], dict[str, int]]:
    """Run the requests; return them and the throttle's counters."""
    drive = DiskProfile.model_validate(DRIVES[name])
    done = []
    with target.in_vm(drive, SECTORS * 512) as disk:
        completion_ns = disk.sent_ns + IDLE_NS
        for op, place in asked():
            sectors = 0 if op == "flush" else 8
            completion_ns = disk.request(op, place, sectors, completion_ns)
            done.append(Done(op, place, disk.sent_ns, completion_ns - disk.sent_ns))
    return done, pairs(disk.out["counters"])


def flushes(done: list[Done]) -> list[int]:
    """Return the service times of the flushes."""
    return [each.service_ns for each in done if each.op == "flush"]


class Medium:
    """A model of destaging writes, one after another."""

    def __init__(self) -> None:
        """Begin with the head at sector 0."""
        timing = DiskProfile.model_validate(DRIVES["write back"]).timing(SECTORS)
        self._settle_ns = timing.buffer["write_settle_ns"]
        self.command_ns = timing.seek[0][1]  # a seek of no distance, which a destage does not need
        self._drive = Drive(replace(timing, intercept_ns=0, buffer={}))

    def ns(self, place: int) -> int:
        """Return the time that one write takes on the medium."""
        return self._settle_ns + self._drive.serve_one(WRITE, place, 8)


@pytest.mark.exact
def test_a_flush_puts_all_away() -> None:
    """The drive begins to destage right after the first write, and takes the medium's time for all.

    The second flush has nothing to do.
    """
    done, _ = served("write back")
    medium = Medium()
    taken_ns = done[0].sent_ns + done[0].service_ns
    away_ns = taken_ns + sum(medium.ns(place) - medium.command_ns for place in PLACES)
    first, second, _ = flushes(done)
    assert first == pytest.approx(away_ns - done[len(PLACES)].sent_ns, abs=SOFTWARE_NS)
    assert first > 10_000_000
    assert second < SOFTWARE_NS
    assert max(each.service_ns for each in done[: len(PLACES)]) < 1_000_000


@pytest.mark.exact
def test_what_is_written_through_is_on_the_medium() -> None:
    """It takes the medium's time, and the flush after it has nothing to do."""
    done, _ = served("write back")
    through = next(each for each in done if each.op == "write through")
    medium = Medium()
    medium.ns(PLACES[-1])  # the head is here after the flush
    assert through.service_ns == pytest.approx(medium.ns(through.sector), abs=SOFTWARE_NS)
    assert flushes(done)[-1] < SOFTWARE_NS


def test_flushes_are_requests_of_the_disk() -> None:
    """Three are from fsync(), and one is from the kernel, after the write with FUA."""
    _, counters = served("write back")
    assert counters["completed"] == counters["requests"] == len(list(asked())) + 1
    assert counters["missed"] == counters["untracked"] == counters["lost"] == 0


@pytest.mark.exact
def test_those_that_find_nothing_to_do_take_no_time() -> None:
    """Since the model takes no time for them, the virtual disk is late."""
    done, counters = served("write back")
    found_nothing = sum(ns < SOFTWARE_NS for ns in flushes(done)) + 1
    assert counters["late"] == found_nothing == 3


@pytest.mark.exact
def test_without_a_write_cache_there_is_nothing_to_flush() -> None:
    """fsync() does not reach the disk, and each write takes the medium's time."""
    done, counters = served("write through")
    assert max(flushes(done)) < SOFTWARE_NS
    writes = [each for each in done if each.op != "flush"]
    assert counters["requests"] == len(writes)
    assert min(each.service_ns for each in writes) > 3_000_000
    assert all(after.sent_ns > before.sent_ns for before, after in pairwise(done))
