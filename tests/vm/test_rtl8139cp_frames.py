# SPDX-License-Identifier: MIT
"""The card rtl8139cp gets wrong descriptors (frames_driver.c): it reports them as its data sheet
says, names the driver's mistake, and works on.
"""

import re
from pathlib import Path

import pytest
from guests import boot, group, once, text

from understudy_devices.cards import specification
from understudy_devices.platforms.vm import card_modules, packages

pytestmark = group("rtl8139cp-frames")

DRIVER = Path(__file__).parent / "drivers" / "frames_driver.c"
SENT, NOT_SENT, NONE_LEFT, BUS_ERROR = 0x4, 0x8, 0x80, 0x8000
EVENTS = {
    "right": SENT | NONE_LEFT,
    "no-first": SENT | NONE_LEFT,
    "no-last": NONE_LEFT,
    "too-long": NOT_SENT | NONE_LEFT,
    "endless": NONE_LEFT,
    "nowhere": NOT_SENT | NONE_LEFT | BUS_ERROR,
    "no-ring": NONE_LEFT | BUS_ERROR,
    "empty": SENT | NONE_LEFT,
    "large-not-tcp": SENT | NONE_LEFT,
    "after": SENT | NONE_LEFT,
}


@once
def log() -> str:
    """Boot with one card and the driver."""
    card = specification.load("rtl8139cp")
    driver = card_modules.driver(packages.fetch_kernel(), DRIVER, card)
    scenario = "insmod /frames_driver.ko || fail 'no driver'\nrmmod frames_driver\n"
    files = {"frames_driver.ko": driver}
    return text(boot(scenario, {"card_rtl8139cp": ""}, files=files, clock="wall"), "dmesg")


@pytest.mark.parametrize("name", EVENTS)
def test_the_card_reports_it(name: str) -> None:
    events = re.search(rf"frames: {name} (0x[0-9a-f]+)", log())
    assert events
    assert int(events[1], 16) == EVENTS[name]


def test_the_mistakes_are_named() -> None:
    assert "a frame begins without FS" in log()
    assert "the end of a frame has no descriptor" in log()
    assert "a frame has more than" in log()
