# SPDX-License-Identifier: MIT
"""In the virtual clock a run can be repeated to the byte, whatever else the host does.

Each scheduler runs the same SURGE twice, the second time beside a process that comes in
between, and with QEMU's threads held up where it hurts (late.c): all that the guest leaves
is the same bytes, its kernel's log too.  Another seed gives others.  No pick was made from an
old queue.
"""

import pytest
from guests import ALL_SCHEDULERS, MIB, busy_host, experiment, group, once, pairs, raw_run

from understudy.ask.experiment import Experiment
from understudy.base.programs import Program, compiled
from understudy.platforms.vm import turns
from understudy.platforms.vm.machine import Result

LATE = Program("late.so", ("tests/vm/late.c",), flags=turns.TURNS.flags)

on_each = pytest.mark.parametrize(
    "scheduler", [pytest.param(name, marks=group(f"repeat-{name}")) for name in ALL_SCHEDULERS]
)


def surge(scheduler: str, seed: int) -> Experiment:
    """A few hundred requests of twenty processes, more than the disk can keep up with."""
    return experiment(
        workload="surge-direct",
        scheduler=scheduler,
        seed=seed,
        requests=400,
        processes=20,
        virtual_bytes=256 * MIB,
    )


@once
def first(scheduler: str) -> Result:
    """The run that the others are compared with."""
    return raw_run(surge(scheduler, 1))


@pytest.fixture
def late_host(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that holds up QEMU's threads in the worst moments."""
    monkeypatch.setenv("LD_PRELOAD", str(compiled(LATE)))


def differing(one: Result, other: Result) -> list[str]:
    """The files that are not the same bytes."""
    assert one.out.keys() == other.out.keys()
    return [name for name in one.out if one.out[name] != other.out[name]]


@on_each
def test_same_again_on_a_busy_host(scheduler: str, late_host: None) -> None:
    """Byte by byte, file by file."""
    one = first(scheduler)
    assert len(one.out["reads.bin"]) > 10_000
    with busy_host():
        assert differing(one, raw_run(surge(scheduler, 1))) == []


@pytest.mark.parametrize("scheduler", [pytest.param("vr", marks=group("repeat-vr"))])
def test_a_late_host_would_be_seen(
    scheduler: str, late_host: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It does hurt, unless QEMU's threads take turns."""
    one = first(scheduler)
    monkeypatch.setattr(turns, "words_before", lambda clock: [])
    assert "records" in differing(one, raw_run(surge(scheduler, 1)))


@on_each
def test_no_pick_is_stale(scheduler: str) -> None:
    """The disk was free whenever a scheduler chose; nor was anything late."""
    counters = pairs(first(scheduler).out["counters"])
    assert counters["requests"] >= 300
    assert counters["stale"] == counters["late"] == counters["failed"] == 0


@pytest.mark.parametrize(
    "scheduler", [pytest.param(name, marks=group(f"repeat-{name}")) for name in ("cats", "bfq")]
)
def test_other_seed_other_records(scheduler: str) -> None:
    """The seed decides what the processes ask for, with our schedulers and the kernel's."""
    other = raw_run(surge(scheduler, 2))
    assert first(scheduler).out["records"] != other.out["records"]
