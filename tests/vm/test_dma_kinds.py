# SPDX-License-Identifier: MIT
"""A card reads memory that its driver has mapped for DMA, in whichever way, and no memory that the
driver has unmapped; and its driver is not blamed for what the card itself writes.
"""

import re
from pathlib import Path

from guests import boot, text
from places import CHECKOUT

from understudy_devices.cards import specification
from understudy_devices.platforms.vm import card_modules, packages
from understudy_devices.referee import run

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


def test_a_card_that_reads_what_it_has_written(tmp_path: Path) -> None:
    """In a bounce buffer, which the driver has neither changed nor synced."""
    exercise = tmp_path / "exercise"
    exercise.write_text("true\n")
    driver = CHECKOUT / "tests" / "vm" / "drivers" / "rereads_driver.c"
    outcome = run.run(run.prepared("copier", driver, exercise), run.Setting(1, 1))
    assert outcome.log.count("rereads: right") == 2
    assert outcome.findings == ()
