# SPDX-License-Identifier: MIT
"""In the virtual clock a run can be repeated to the byte, whatever else the host does.

The same SURGE runs twice, the second time beside a process that comes in between, and with
QEMU's threads held up where it hurts (late.c): all that the guest leaves is the same bytes,
its kernel's log too.  Another seed gives others.  Schedulers of ours and the kernel's, some of
which wait by timers; what becomes of all of them, test_same_bytes.py holds.
"""

import pytest
from guests import MIB, busy_host, experiment, group, late_host, once, raw_run

from understudy.ask.experiment import Experiment
from understudy.platforms.vm import turns
from understudy.platforms.vm.machine import Result

SCHEDULERS = ("anticipatory", "bfq", "cats", "kyber")

on_each = pytest.mark.parametrize(
    "scheduler", [pytest.param(name, marks=group(f"repeat-{name}")) for name in SCHEDULERS]
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


def differing(one: Result, other: Result) -> list[str]:
    """The files that are not the same bytes."""
    assert one.out.keys() == other.out.keys()
    return [name for name in one.out if one.out[name] != other.out[name]]


@on_each
def test_same_again_on_a_busy_host(scheduler: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Byte by byte, file by file."""
    one = first(scheduler)
    assert len(one.out["reads.bin"]) > 10_000
    monkeypatch.setenv("LD_PRELOAD", str(late_host()))
    with busy_host():
        assert differing(one, raw_run(surge(scheduler, 1))) == []


@group("repeat-vr")
def test_a_late_host_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """It does hurt, unless QEMU's threads take turns."""
    one = first("vr")
    monkeypatch.setenv("LD_PRELOAD", str(late_host()))
    monkeypatch.setattr(turns, "words_before", lambda clock: [])
    assert "records" in differing(one, raw_run(surge("vr", 1)))


@pytest.mark.parametrize(
    "scheduler", [pytest.param(name, marks=group(f"repeat-{name}")) for name in ("cats", "bfq")]
)
def test_other_seed_other_records(scheduler: str) -> None:
    """The seed decides what the processes ask for, with our schedulers and the kernel's."""
    other = raw_run(surge(scheduler, 2))
    assert first(scheduler).out["records"] != other.out["records"]
