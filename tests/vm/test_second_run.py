# SPDX-License-Identifier: MIT
"""A stranger's scheduler in a VM counts only if the simulator has the same result."""

import re

import pytest
from guests import CHEETAH, experiment, group
from places import CHECKOUT

from understudy_devices import platforms
from understudy_devices.ask.experiment import asked
from understudy_devices.ask.schedulers import Choice
from understudy_devices.ask.workloads import WORKLOADS
from understudy_devices.campaign import parallel, second_run
from understudy_devices.measure.trust import Trust
from understudy_devices.native import registry
from understudy_devices.native.registry import Source

pytestmark = group("second run")

FOLDER = CHECKOUT / "core" / "schedulers"


def renamed(scheduler: str, name: str) -> str:
    """Return the source of one of our schedulers under another name."""
    return (FOLDER / f"{scheduler}.c").read_text().replace(scheduler, name)


# In the kernel this scheduler has a better order. Any other trick in the kernel would look the same
# from outside.
TWO_FACED = "\n".join(
    ["#ifdef __KERNEL__", renamed("sstf", "faced"), "#else", renamed("fcfs", "faced"), "#endif\n"]
)


@pytest.fixture(name="strangers", autouse=True)
def fixture_strangers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Register a scheduler that differs in the kernel, and an honest one."""
    monkeypatch.setattr(registry, "_added", dict(registry._added))
    registry.add("faced", Source("faced.c", TWO_FACED.encode()))
    registry.add("honest", Source("honest.c", renamed("sstf", "honest").encode()))


def test_figures_that_only_the_kernel_has_do_not_count() -> None:
    """The figures of the honest scheduler and of ours count."""
    runs = [
        experiment("random", name, requests=2000, processes=16)
        for name in ("faced", "honest", "sstf")
    ]
    vm = platforms.load("vm")
    vm.prepare(runs, lambda phase, fraction: None)
    outcomes, failures = parallel.run_all(vm, runs, 2, lambda *_: None)
    assert [run.experiment.scheduler.name for run in outcomes] == ["honest", "sstf"]
    assert list(failures) == ["faced"]
    message = (
        r"faced: the VM measured a mean \w+ of [\d.]+ ms, but the best of 17 runs in the simulator"
    )
    assert re.match(message, failures["faced"])


def test_what_no_simulator_can_tell_is_said() -> None:
    """Only strangers' schedulers are reported as not checked."""

    postmark, random = WORKLOADS["postmark"], WORKLOADS["random"]
    honest, ours = Choice("honest"), Choice("sstf")
    assert second_run.trust(asked(postmark, ours, CHEETAH, "vm")).trusted
    assert second_run.trust(asked(random, honest, CHEETAH, "vm")).trusted
    trust = Trust(True) & second_run.trust(asked(postmark, honest, CHEETAH, "vm"))
    assert trust.trusted is None
    assert str(trust).startswith("not checked: honest is part of the kernel that measures it")
