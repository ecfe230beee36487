# SPDX-License-Identifier: MIT
"""A card reads memory that its driver has mapped for DMA, in whichever way, and no memory that the
driver has unmapped.
"""

import re

from guests import boot, text
from places import CHECKOUT

from understudy_devices.cards import specification
from understudy_devices.platforms.vm import card_modules, packages

DRIVER = CHECKOUT / "tests" / "vm" / "drivers" / "dma_kinds_driver.c"
WAYS = ("pages", "pool", "managed", "released", "single", "sg", "sgtable")

SCENARIO = """
insmod /dma_kinds_driver.ko || fail 'no driver'
rmmod dma_kinds_driver || fail 'the driver stayed'
"""


def test_each_way_to_give_memory() -> None:
    driver = card_modules.driver(packages.fetch_kernel(), DRIVER, specification.load("copier"))
    files = {"dma_kinds_driver.ko": driver}
    log = text(boot(SCENARIO, {"card_copier": ""}, files=files), "dmesg")
    assert re.findall(r"dma_kinds: (.*)", log) == [f"{way}: right, refused" for way in WAYS]
