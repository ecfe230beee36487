# SPDX-License-Identifier: MIT
"""In the virtual clock a run can be repeated to the byte, whatever else the host does.

SURGE runs twice with the same seed. The second time another process competes for the host, and
QEMU's threads are delayed at the worst moments (late.c). All files from the guest are the same
bytes, including its kernel's log. With another seed they differ. The schedulers are ours and the
kernel's, some of which use timers; test_same_bytes.py tests all schedulers.
"""

import pytest
from guests import MIB, busy_host, experiment, group, late_host, once, raw_run

from understudy_devices.ask.experiment import Experiment
from understudy_devices.platforms.vm import turns
from understudy_devices.platforms.vm.machine import Result

SCHEDULERS = ("anticipatory", "bfq", "cats", "kyber")

on_each = pytest.mark.parametrize(
    "scheduler", [pytest.param(name, marks=group(f"repeat-{name}")) for name in SCHEDULERS]
)


def surge(scheduler: str, seed: int) -> Experiment:
    """Return an experiment: twenty processes, 400 requests, more load than the disk can keep up
    with.
    """
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
    """Run SURGE for the comparisons."""
    return raw_run(surge(scheduler, 1))


def differing(one: Result, other: Result) -> list[str]:
    """Return the names of the files that differ."""
    assert one.out.keys() == other.out.keys()
    return [name for name in one.out if one.out[name] != other.out[name]]


@on_each
def test_same_again_on_a_busy_host(scheduler: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every file is the same to the byte."""
    one = first(scheduler)
    assert len(one.out["reads.bin"]) > 10_000
    monkeypatch.setenv("LD_PRELOAD", str(late_host()))
    with busy_host():
        assert differing(one, raw_run(surge(scheduler, 1))) == []


@group("repeat-vr")
def test_a_late_host_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """If QEMU's threads do not take turns, a late host changes the records."""
    one = first("vr")
    monkeypatch.setenv("LD_PRELOAD", str(late_host()))
    monkeypatch.setattr(turns, "words_before", lambda clock: [])
    assert "records" in differing(one, raw_run(surge("vr", 1)))


@pytest.mark.parametrize(
    "scheduler", [pytest.param(name, marks=group(f"repeat-{name}")) for name in ("cats", "bfq")]
)
def test_other_seed_other_records(scheduler: str) -> None:
    """The seed decides what the processes read, with our schedulers and the kernel's."""
    other = raw_run(surge(scheduler, 2))
    assert first(scheduler).out["records"] != other.out["records"]
