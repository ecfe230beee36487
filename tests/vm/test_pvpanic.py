# SPDX-License-Identifier: MIT
"""The kernel's pvpanic-pci, unmodified, tells the card pvpanic of a panic."""

from pathlib import Path

import pytest
from guests import PRELUDE, boot, group, text

from understudy_devices.base.errors import RunFailed
from understudy_devices.cards.journal import What
from understudy_devices.platforms.vm import machine, qemu
from understudy_devices.referee.recording import Recording

pytestmark = group("pvpanic")
MODULES = {"card_pvpanic": "", "pvpanic-pci": ""}


def test_the_driver_asks_what_it_may_report() -> None:
    booted = boot("cat /sys/bus/pci/devices/10000:00:00.0/capability > /out/may", MODULES)
    assert text(booted, "may") == "3"


def test_the_card_is_told_of_a_panic(tmp_path: Path) -> None:
    """The journal is outside the guest, so it outlives the kernel."""
    hardware = qemu.Machine()
    recording = Recording(hardware, tmp_path / "journal")
    bus = " ".join(f"{key}={value}" for key, value in recording.parameters().items())
    vm = machine.Vm(
        PRELUDE + "echo c > /proc/sysrq-trigger",
        {"vpcib": bus, **MODULES},
        machine=hardware,
        began=recording.begin,
        salvage=recording.end,
    )
    with pytest.raises(RunFailed):
        machine.run(vm)
    accesses, _ = recording.kept()
    stores = accesses[accesses["what"] == What.STORE]
    assert stores["value"].tolist()[-1] == 1
