# SPDX-License-Identifier: MIT
"""The guest is suspended and resumed with Debian's drivers bound to the cards nvme and rtl8139cp.

The kernel suspends all devices (to idle) and resumes them at once (pm_test).  Both cards go to
D3hot, where they lose their registers.  So the kernel has to restore the configuration space, and
the drivers the rest.
"""

import re
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from guests import boot, group, once, text
from places import CHECKOUT

from understudy_devices.cards import register_log, specification
from understudy_devices.platforms.vm import modules, packages
from understudy_devices.platforms.vm.machine import Result
from understudy_devices.referee import run as referee

pytestmark = group("card-suspend")

PACKETS = CHECKOUT / "cards/drivers/rtl8139cp_exercise"
SUSPEND = """
suspend() {
	echo platform > /sys/power/pm_test
	echo 0 > /sys/module/suspend/parameters/pm_test_delay
	cat /sys/bus/pci/devices/10000:*/config > /tmp/before
	echo freeze > /sys/power/state || exit 1
	cat /sys/bus/pci/devices/10000:*/config | cmp - /tmp/before || exit 1
}
"""
DISK = """
disk=/dev/nvme0n1
for _ in $(seq 100); do [ -b $disk ] && break; sleep 0.1; done
head -c 1048576 /dev/urandom > /tmp/data
dd if=/tmp/data of=$disk bs=64k oflag=direct 2> /dev/null || exit 1
suspend
dd if=$disk bs=64k count=16 iflag=direct 2> /dev/null | cmp - /tmp/data || exit 1
dd if=/tmp/data of=$disk seek=16 bs=64k oflag=direct 2> /dev/null || exit 1
dd if=$disk bs=64k skip=16 count=16 iflag=direct 2> /dev/null | cmp - /tmp/data || exit 1
"""
NETWORK = f"""
mkdir -p /tmp/packets
exercise() {{
{PACKETS.read_text()}
}}
[ -e /sys/bus/pci/devices/10000:00:01.0 ] || echo rtl8139cp > /sys/kernel/vpcib/add
( exercise ) || exit 1
suspend
( exercise ) || exit 1
"""
EXERCISES = {
    ("nvme", "nvme"): f"#!/bin/sh\n{SUSPEND}{DISK}",
    ("rtl8139cp", "8139cp"): f"#!/bin/sh\n{SUSPEND}{NETWORK}",
}


@once
def suspended() -> Result:
    """Boot with both kinds of cards and two processors."""
    loaded = {"card_rtl8139cp": "instances=2", "card_nvme": "", "8139cp": "", "nvme": ""}
    scenario = f"{SUSPEND}({DISK}) || fail disk\n({NETWORK}) || fail network\n"
    return boot(scenario, loaded, cpus=2, clock="wall")


@once
def refereed(card: str, driver: str) -> referee.Outcome:
    """Run one driver with one processor."""
    module = modules.ModuleTree(packages.fetch_kernel(), ()).path(driver)
    assert module
    with TemporaryDirectory() as folder:
        exercise = Path(folder) / "exercise"
        exercise.write_text(EXERCISES[card, driver])
        return referee.run(referee.prepared(card, module, exercise), referee.Setting(1, 1))


def test_data_survive_with_two_processors() -> None:
    assert text(suspended(), "dmesg").count("PM: suspend exit") == 2


@pytest.mark.parametrize(("card", "driver"), EXERCISES)
def test_the_referee_has_nothing_to_say(card: str, driver: str) -> None:
    """The exercise has passed, with the same configuration space before and after."""
    outcome = refereed(card, driver)
    assert not outcome.findings
    assert "PM: suspend exit" in outcome.log
    log = "\n".join(register_log.lines(specification.load(card), outcome.accesses))
    assert re.search(r"config store 0x74 0x3\b", log)
