# SPDX-License-Identifier: MIT
"""Debian's 8139cp.ko, unmodified, drives two cards rtl8139cp on one hub.  Their interfaces are in
two network namespaces of the guest.

The exercise of the card pings through both of them, and sends data by TCP.
"""

import re
from pathlib import Path

import pytest
from guests import boot, group, once, text
from places import CHECKOUT

from understudy_devices.platforms.vm import modules, packages
from understudy_devices.platforms.vm.machine import Result
from understudy_devices.referee import run as referee

pytestmark = group("rtl8139cp")

EXERCISE = "cards/drivers/rtl8139cp_exercise"
SCENARIO = """
sh /exercise || fail exercise
cat /tmp/pinged > /out/pinged
cat /proc/interrupts > /out/interrupts
put 1 /sys/kernel/vpcib/remove
put 0 /sys/kernel/vpcib/remove
[ ! -d /sys/class/net/eth0 ] || fail 'still there'
"""


@once
def driven(processors: int) -> Result:
    """Boot the VM, and run the exercise."""
    return boot(
        SCENARIO,
        {"card_rtl8139cp": "instances=2", "8139cp": ""},
        files={"exercise": CHECKOUT / EXERCISE},
        cpus=processors,
        clock="wall",
    )


@pytest.fixture(params=[1, 2])
def run(request: pytest.FixtureRequest) -> Result:
    """The VM's files, with one and two processors."""
    return driven(request.param)


def debian_driver() -> Path:
    """Return the driver's module in the kernel's package."""
    driver = modules.ModuleTree(packages.fetch_kernel(), ()).path("8139cp")
    assert driver
    return driver


def test_the_driver_finds_the_addresses_in_the_eeprom(run: Result) -> None:
    addresses = re.findall(r"RTL-8139C\+ at .*, ([0-9a-f:]+), IRQ", run.out["dmesg"].decode())
    assert addresses == ["02:00:00:81:39:00", "02:00:00:81:39:01"]


def test_each_ping_is_answered(run: Result) -> None:
    assert "100 packets transmitted, 100 packets received, 0% packet loss" in text(run, "pinged")


def test_the_referee_has_nothing_to_say() -> None:
    """With one processor, so that it is repeatable.  It also loads mii, which the driver needs."""
    subject = referee.prepared("rtl8139cp", debian_driver())
    assert not referee.run(subject, referee.Setting(1, 1)).findings
