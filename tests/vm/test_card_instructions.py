# SPDX-License-Identifier: MIT
"""Instructions of a process that are more than one load or store of a register.

The process (tests/vm/drivers/trapped_user.c) prints its results; the journal has the card's
accesses. Each access occurs once, even if the kernel has to supply memory or an SSE register
meanwhile.
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

FOLDER = "tests/vm/drivers"
SOURCE, DESTINATION = 0x8, 0x10
ROUNDS = 2000
SIGBUS, SIGSEGV = 7, 11

SCENARIO = """
insmod /hammer_driver.ko writes=0 || fail 'no driver'
(while true; do awk 'BEGIN { for (i = 0; i < 10000; i++) x += i / 3 }'; done) &
others=$!
trapped > /out/said || fail 'the process ended badly'
kill $others
rmmod hammer_driver || fail 'the driver stayed'
cat /dev/vpcib > /out/journal
"""


@once
def trapped() -> Result:
    """Boot the VM in which the process runs beside another one that uses the same SSE registers."""
    card = specification.load("copier")
    kernel = packages.fetch_kernel()
    driver = card_modules.driver(kernel, CHECKOUT / FOLDER / "hammer_driver.c", card)
    program = Program("trapped", (f"{FOLDER}/trapped_user.c",))
    return boot(
        SCENARIO,
        {"vpcib": f"journal_records={2**16}", "card_copier": ""},
        files={"hammer_driver.ko": driver, "bin/trapped": compiled(program)},
        clock="wall",
        cpus=1,
    )


def said(pattern: str) -> list[str]:
    """Return what the process printed, by a pattern with groups."""
    match = re.search(pattern, text(trapped(), "said"))
    assert match, text(trapped(), "said")
    return list(match.groups())


@once
def accesses() -> Journal:
    """Return the journal of the process."""
    everything = journal(trapped().out["journal"])
    mine: Journal = everything[everything["pid"] == int(said(r"pid (\d+)")[0])]
    return mine


def seen(accesses: Journal) -> list[tuple[int, int, int, int]]:
    """Return what, offset, width and value of each access."""
    return [(int(a["what"]), int(a["offset"]), int(a["bytes"]), int(a["value"])) for a in accesses]


def test_vectors_are_moved_in_two_accesses() -> None:
    """An access of 16 bytes is one to SOURCE and one to DESTINATION.

    Other SSE registers keep their values.
    """
    assert said(r"vectors (\d+) bad")[0] == "0"
    value, high = 0x1122334455667788, 0x99AABBCCDDEEFF00
    expected = []
    for n in range(ROUNDS):
        value += n
        for what in (What.STORE, What.LOAD):
            expected += [(int(what), SOURCE, 8, value), (int(what), DESTINATION, 8, high)]
    assert seen(accesses()[: len(expected)]) == expected


def test_memory_is_brought_in_before_a_register_is_read() -> None:
    """Each of three registers is read once, and its value is copied."""
    loads = accesses()[4 * ROUNDS : 4 * ROUNDS + 3]
    assert [(what, at, width) for what, at, width, _ in seen(loads)] == [
        (What.LOAD, at, 8) for at in (0, 8, 16)
    ]
    copied = said(r"copied (\w+) (\w+) (\w+)")
    assert [int(value, 16) for value in copied] == loads["value"].tolist()


def test_the_kernel_for_a_process() -> None:
    """The kernel must not wait for a page here: in a futex operation on a register, and in file
    I/O.
    """
    assert int(said(r"futex (-?\d+)")[0]) == 0
    rest = accesses()[4 * ROUNDS + 3 :]
    stores = seen(rest[rest["what"] == What.STORE])
    put = [0x0102030405060708, 0x1112131415161718]
    assert stores[:4] == [
        (What.STORE, SOURCE, 4, 7),
        (What.STORE, DESTINATION, 4, 0x5EED),
        (What.STORE, SOURCE, 8, put[0]),
        (What.STORE, DESTINATION, 8, put[1]),
    ]
    assert [int(value, 16) for value in said(r"in the file (\w+) (\w+)")] == put
    assert int(said(r"in the register (\w+)")[0], 16) == put[1]
    copied = rest[(rest["what"] == What.STORE) & (rest["context"] == Context.KERNEL)][1:]
    assert bytes_of(copied, SOURCE) == put[1].to_bytes(8, "little")
    assert "no " not in text(trapped(), "said")


def test_the_kernel_may_do_what_the_process_may() -> None:
    """The kernel can't copy into a page that is read-only for the process."""
    assert int(said(r"read into it (-?\d+)")[0]) == -1


@pytest.mark.parametrize("how", ["changed", "shifted"])
def test_what_may_only_be_read_is_not_changed(how: str) -> None:
    """The instruction reads before it writes.

    The bus knows the first of the two instructions only.
    """
    assert int(said(rf"{how}: signal (\d+)")[0]) == SIGSEGV
    assert said(r"kept (\d)") == ["1"]


def bytes_of(stores: Journal, at: int) -> bytes:
    """Return the bytes of these stores, which begin at `at` and have no gap."""
    content = b""
    for store in stores:
        assert store["offset"] == at + len(content)
        content += int(store["value"]).to_bytes(int(store["bytes"]), "little")
    return content


def test_32_bit_code_is_not_taken_for_64_bit_code() -> None:
    """The instruction can't be carried out."""
    assert int(said(r"32-bit code: signal (\d+)")[0]) == SIGBUS
    assert np.count_nonzero(accesses()["what"] == What.UNKNOWN) == 1
    assert accesses()["what"][-1] == What.UNKNOWN
