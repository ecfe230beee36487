# SPDX-License-Identifier: MIT
"""A card with all that is unusual on a bus (tests/gaps_card.py): its self-test passes, and a driver
without mistakes gets its interrupts and no finding.
"""

import re
from pathlib import Path
from tempfile import TemporaryDirectory

from gaps_card import BEHAVIOUR, GAPS
from guests import boot, group, once, text

from understudy_devices.cards import specification
from understudy_devices.cards.driver import driver
from understudy_devices.cards.selftest import selftest
from understudy_devices.platforms.vm import card_modules, packages
from understudy_devices.platforms.vm.machine import Result
from understudy_devices.referee import run

pytestmark = group("card-gaps")

DRIVER = Path(__file__).parent / "drivers" / "gaps_driver.c"
SCENARIO = """
insmod /gaps.ko instances=2 || fail 'no card'
insmod /skeleton.ko || fail 'no driver'
ls /sys/bus/pci/drivers/skeleton | grep -c : > /out/bound
rmmod skeleton
insmod /selftest.ko || fail 'a right card fails'
cat /sys/bus/pci/devices/10000:00:0*.0/resource | grep -v '0x0000000000000000$' > /out/resources
dmesg > /out/said
"""


@once
def booted() -> Result:
    """Boot with two cards, the generated driver, and the self-test."""
    kernel = packages.fetch_kernel()
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "gaps.yaml").write_text(GAPS)
        (folder / "gaps.c").write_text(BEHAVIOUR)
        card = specification.load(folder / "gaps.yaml")
        (folder / "selftest.c").write_text(selftest(card))
        (folder / "skeleton.c").write_text(driver(card).replace("gaps_driver", "skeleton"))
        files = {
            "gaps.ko": card_modules.card(kernel, folder / "gaps.yaml"),
            "selftest.ko": card_modules.driver(kernel, folder / "selftest.c", card),
            "skeleton.ko": card_modules.driver(kernel, folder / "skeleton.c", card),
        }
        return boot(SCENARIO, {"vpcib": ""}, files=files, clock="wall")


@once
def refereed() -> run.Outcome:
    """Run a driver without mistakes."""
    with TemporaryDirectory() as name:
        (Path(name) / "gaps.yaml").write_text(GAPS)
        (Path(name) / "gaps.c").write_text(BEHAVIOUR)
        subject = run.prepared(f"{name}/gaps.yaml", DRIVER)
        return run.run(subject, run.Setting(1, 1))


def test_the_self_test_passes() -> None:
    """All registers but the two ports, with each element of the array."""
    assert text(booted(), "bound") == "2"
    assert text(booted(), "said").count("selftest: cards: 2, registers: 7, faults: 0") == 1


def test_small_bars_do_not_share_a_page() -> None:
    starts = [int(line.split()[0], 16) for line in text(booted(), "resources").splitlines()]
    assert len(starts) == 4
    assert len({start // 4096 for start in starts}) == 4


def test_a_driver_uses_all_of_it() -> None:
    """A masked interrupt comes when it is unmasked.  The driver is loaded twice."""
    values = re.findall(r"gaps: (.+)", refereed().log)
    expected = ["42 1", "100 1", "100 2", "slots 0x203 0x0", "wide 0x123456789"]
    assert values == expected + expected


def test_the_referee_is_silent() -> None:
    """The kernel's accesses to the MSI-X table are none of the driver's."""
    assert refereed().findings == ()
