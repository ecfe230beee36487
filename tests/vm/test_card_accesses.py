# SPDX-License-Identifier: MIT
"""Every register write is seen: once, in order, with its value and width.

Two kernel threads, two processes and a driver's interrupt handler write registers of one card as
fast as they can, on two processors, at least 100,000 times. The values are a formula of writer and
number (tests/vm/drivers/hammer_pattern.h, repeated here), so the journal is compared with the
intended writes, and not with the card's reaction.
"""

import re

import numpy as np
import pytest
from guests import boot, group, once, text
from places import CHECKOUT

from understudy_devices.base.programs import Program, compiled
from understudy_devices.cards import specification
from understudy_devices.cards.journal import Context, Journal, What, journal
from understudy_devices.platforms.vm import card_modules, packages
from understudy_devices.platforms.vm.machine import Result

pytestmark = group("card-accesses")

WRITES = 25_000
HANDLER = 9
AT = 0x8
START = 0x20
STATUS = 0x24
FOLDER = "tests/vm/drivers"

SCENARIO = f"""
insmod /hammer_driver.ko writes={WRITES} || fail 'no driver'
hammer 2 {WRITES} > /out/user2 &
hammer 3 {WRITES} > /out/user3 &
wait
wait_for '[ $(dmesg | grep -c "hammer: thread") = 2 ]'
rmmod hammer_driver || fail 'the driver stayed'
cat /dev/vpcib > /out/journal
"""


@once
def hammered() -> Result:
    """Boot the VM in which all writers write."""
    card = specification.load("copier")
    kernel = packages.fetch_kernel()
    driver = card_modules.driver(kernel, CHECKOUT / FOLDER / "hammer_driver.c", card)
    program = Program("hammer", (f"{FOLDER}/hammer_user.c",))
    return boot(
        SCENARIO,
        {"vpcib": f"journal_records={2**18}", "card_copier": ""},
        files={"hammer_driver.ko": driver, "bin/hammer": compiled(program)},
        clock="wall",
        cpus=2,
    )


@once
def accesses() -> Journal:
    """Return the journal of the bus."""
    return journal(hammered().out["journal"])


def meant(writer: int, count: int) -> list[tuple[int, int, int]]:
    """Return offset, width and value of each write that a writer intends."""
    writes = []
    for n in range(count):
        width = 1 << n % 4
        value = (writer + 1) * 0x9E3779B97F4A7C15 + n // 3 * 0xBF58476D1CE4E5B9
        writes.append((AT + (n * 5 % 8 & -width), width, value % 256**width))
    return writes


def seen(stores: Journal) -> list[tuple[int, int, int]]:
    """Return offset, width and value of each store in the journal."""
    return list(
        zip(
            stores["offset"].tolist(),
            stores["bytes"].tolist(),
            stores["value"].tolist(),
            strict=True,
        )
    )


def of_pid(pid: int) -> Journal:
    """Return the stores of a process or thread to the hammered register, outside the handler."""
    everything = accesses()
    mine = (everything["what"] == What.STORE) & (everything["pid"] == pid)
    outside = everything["context"] != Context.HARD_INTERRUPT
    there = (everything["offset"] >= AT) & (everything["offset"] < AT + 8)
    chosen: Journal = everything[mine & outside & there]
    return chosen


@pytest.mark.parametrize("writer", [0, 1])
def test_writes_of_kernel_threads(writer: int) -> None:
    """Each write of the thread is in the journal, in order."""
    line = re.search(rf"hammer: thread {writer} is pid (\d+)", text(hammered(), "dmesg"))
    assert line
    stores = of_pid(int(line[1]))
    assert set(stores["context"]) == {Context.KERNEL}
    assert seen(stores) == meant(writer, WRITES)


@pytest.mark.parametrize("writer", [2, 3])
def test_writes_of_processes(writer: int) -> None:
    """Each write of the process through its own mapping is in the journal, in order."""
    line = re.search(r"is pid (\d+)", text(hammered(), f"user{writer}"))
    assert line
    stores = of_pid(int(line[1]))
    assert set(stores["context"]) == {Context.USER}
    assert seen(stores) == meant(writer, WRITES)


def test_writes_of_the_handler() -> None:
    """Each write of the interrupt handler is in the journal, in order."""
    line = re.search(r"hammer: the handler wrote (\d+)", text(hammered(), "dmesg"))
    assert line
    assert int(line[1]) >= 100  # the number depends on the host's speed
    everything = accesses()
    mine = (everything["what"] == What.STORE) & (everything["context"] == Context.HARD_INTERRUPT)
    stores = everything[mine & (everything["offset"] != STATUS)]
    assert seen(stores) == meant(HANDLER, int(line[1]))


def test_all_together() -> None:
    """There were more than 100,000 writes, and many on each processor."""
    stores = accesses()[accesses()["what"] == What.STORE]
    assert len(stores) > 100_000
    assert min(np.count_nonzero(stores["cpu"] == cpu) for cpu in (0, 1)) > 10_000


def test_no_interrupt_is_lost() -> None:
    """Each message that the card sent was handled, and acknowledged in the handler."""
    everything = accesses()
    count = {what: int(np.count_nonzero(everything["what"] == what)) for what in What}
    raised = np.count_nonzero((everything["what"] == What.RAISED) & (everything["value"] != 0))
    assert raised == count[What.HANDLING] == count[What.HANDLED]
    acknowledged = (everything["what"] == What.STORE) & (everything["offset"] == STATUS)
    assert np.count_nonzero(acknowledged) == count[What.HANDLED]
    assert count[What.UNKNOWN] == 0
