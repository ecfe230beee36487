# SPDX-License-Identifier: MIT
"""The fallback: instructions on a card's registers that the bus does not know.

A process and a driver (tests/vm/drivers/odd_instructions.h) run x87, CMPXCHG16B, FXSAVE, AVX and
other instructions on the card odd, while two threads store to a register of the same page. The
journal is compared with a model of each instruction's writes: registers that change, in the
narrowest access. No store of the two threads may be missed.
"""

import re
import struct
from collections.abc import Iterable, Iterator

import numpy as np
import pytest
from guests import boot, group, once, text
from places import CHECKOUT

from understudy_devices.base.programs import Program, compiled
from understudy_devices.cards import specification
from understudy_devices.cards.journal import Journal, What, journal
from understudy_devices.platforms.vm import card_modules, packages, qemu
from understudy_devices.platforms.vm.machine import Result

pytestmark = group("card-fallback")

FOLDER = "tests/vm/drivers"
CARD = CHECKOUT / FOLDER / "odd.yaml"
ROUNDS = 200
PLAIN_STORES = 20_000
TRIES = 6000
SIGBUS = 7
WIDE = 0x0123456789ABCDEF, 0x1122334455667788, 0x99AABBCCDDEEFF00, 0xFEDCBA9876543210
SAVED, SAVED_BYTES = 0x200, 512
PROCESSORS: dict[str, tuple[str, ...]] = {"ordinary": (), "all": qemu.ALL_INSTRUCTIONS}

LOAD = """
insmod /card.ko || fail 'no card'
insmod /odd_driver.ko || fail 'no driver'
"""
UNLOAD = """
rmmod odd_driver || fail 'the driver stayed'
"""
SEEN = (
    LOAD
    + f"""
odd {ROUNDS} > /out/process || fail "odd: $?"
odd 0 > /out/plain & plain=$!
echo {ROUNDS} > /dev/odd
wait $plain || fail "odd: $?"
odd_places > /out/places || fail "odd_places: $?"
cat /sys/kernel/vpcib/fallbacks > /out/count
"""
    + UNLOAD
    + "cat /dev/vpcib > /out/journal"
)
REMOVED = (
    LOAD
    + """
odd 5000 > /out/process & odd=$!
sleep 1
put 0 /sys/kernel/vpcib/remove
wait $odd || fail "odd: $?"
"""
    + UNLOAD
)
FUZZED = (
    LOAD
    + f"""
for seed in 1 2; do
	fuzzed $seed {TRIES} > /out/fuzzed$seed & wait="$wait $!"
done
wait $wait
cat /sys/kernel/vpcib/fallbacks > /out/count
odd 10 > /out/process || fail "odd: $?"
"""
    + UNLOAD
)


@once
def ran(scenario: str, processor: str = "ordinary") -> Result:
    """Boot a VM with the card, its driver and both programs."""
    kernel = packages.fetch_kernel()
    odd = Program("odd", (f"{FOLDER}/odd_user.c",), flags=("-static", "-pthread"))
    card = specification.load(str(CARD))
    return boot(
        scenario,
        {"vpcib": f"journal_records={2**18}"},
        files={
            "card.ko": card_modules.card(kernel, CARD),
            "odd_driver.ko": card_modules.driver(kernel, CHECKOUT / FOLDER / "odd_driver.c", card),
            "bin/odd": compiled(odd),
            "bin/odd_places": compiled(Program("odd_places", (f"{FOLDER}/odd_places_user.c",))),
            "bin/fuzzed": compiled(Program("fuzzed", (f"{FOLDER}/fuzzed_user.c",))),
        },
        clock="wall",
        cpus=2,
        devices=PROCESSORS[processor],
    )


def said(result: Result, pattern: str, name: str = "process") -> list[str]:
    """Return what a program printed, by a pattern with one group."""
    matches = re.findall(pattern, text(result, name))
    assert matches, text(result, name)
    return [str(each) for each in matches]


def of_thread(result: Result, pid: int) -> Journal:
    """Return the journal of one thread."""
    everything = journal(result.out["journal"])
    mine: Journal = everything[everything["pid"] == pid]
    return mine


Seen = tuple[What, int, int, int]


def seen(accesses: Iterable[Journal]) -> list[Seen]:
    """Return what, offset, width and value of each access; a fallback has no value."""
    return [
        (
            What(int(a["what"])),
            int(a["offset"]),
            int(a["bytes"]),
            0 if a["what"] == What.FALLBACK else int(a["value"]),
        )
        for a in accesses
    ]


class Held:
    """A model of the registers' content and of the journal of each instruction."""

    def __init__(self) -> None:
        registers = specification.load(str(CARD)).registers
        self._places = {register.offset: register.width // 8 for register in registers}
        self._bytes = bytearray(4096)

    def store(self, offset: int, width: int, value: int) -> Seen:
        """Store by an ordinary instruction."""
        self._bytes[offset : offset + width] = value.to_bytes(width, "little")
        return What.STORE, offset, width, value

    def load(self, offset: int, width: int) -> Seen:
        """Load by an ordinary instruction."""
        value = int.from_bytes(self._bytes[offset : offset + width], "little")
        return What.LOAD, offset, width, value

    def odd(self, offset: int, data: bytes = b"") -> Iterator[Seen]:
        """Run an instruction of the fallback, which writes `data`."""
        yield What.FALLBACK, offset, 0, 0
        old = bytes(self._bytes)
        self._bytes[offset : offset + len(data)] = data
        for start, width in self._places.items():
            changed = {at for at in range(start, start + width) if old[at] != self._bytes[at]}
            if changed:
                yield self._narrowest(start, width, changed)

    def _narrowest(self, start: int, width: int, changed: set[int]) -> Seen:
        lanes = [
            range(at, at + lane)
            for lane in (1, 2, 4, 8)
            for at in range(start, start + width, lane)
            if changed <= set(range(at, at + lane))
        ]
        lane = lanes[0]
        value = int.from_bytes(self._bytes[lane.start : lane.stop], "little")
        return What.STORE, lane.start, len(lane), value


def rounds(held: Held) -> Iterator[Seen]:
    """Yield the journal of odd_x87, odd_exchange and odd_general."""
    for n in range(1, ROUNDS + 1):
        half, whole = struct.pack("<d", n + 0.5), struct.pack("<d", 2 * n + 1)
        (bits,) = struct.unpack("<Q", half)
        yield held.store(0x100, 8, bits)
        yield from held.odd(0x100)
        yield from held.odd(0x108, whole)
        yield held.load(0x108, 8)
        yield from held.odd(0x108)
        yield from held.odd(0x110, whole)
        yield from held.odd(0x100)
        mantissa = bits << 11 & 2**64 - 1 | 1 << 63
        exponent = (bits >> 52) - 1023 + 16383
        yield from held.odd(0x118, mantissa.to_bytes(8, "little") + struct.pack("<H", exponent))
        yield held.load(0x110, 8)
        yield held.load(0x118, 8)
        yield held.store(0x100, 8, n)
        yield held.store(0x108, 8, 2**64 - 1 - n)
        yield from held.odd(0x100, struct.pack("<QQ", n + 1, n + 2))
        yield from held.odd(0x100)
        yield held.store(0x120, 4, 7)
        yield from held.odd(0x120)
        yield from held.odd(0x120)
        yield from held.odd(0x134, b"\1")
        yield from held.odd(0x135, b"\0")


def odd_thread(result: Result, name: str = "process") -> Journal:
    """Return the journal of a process, except for its two storing threads."""
    return of_thread(result, int(said(result, r"odd (\d+)", name)[0]))


@pytest.mark.parametrize("processor", PROCESSORS)
def test_a_process(processor: str) -> None:
    """Its results are right, and each register that changes is journaled once."""
    result = ran(SEEN, processor)
    assert said(result, r"bad (\d+)") == ["0"]
    expected = list(rounds(Held()))
    assert seen(odd_thread(result)[: len(expected)]) == expected


@pytest.mark.parametrize("processor", PROCESSORS)
def test_the_kernel(processor: str) -> None:
    """A driver runs the same instructions after the process, with and without interrupts."""
    result = ran(SEEN, processor)
    pid, bad = map(int, re.findall(r"odd: pid (\d+) had (\d+) bad", text(result, "dmesg"))[0])
    assert bad == 0
    held = Held()
    list(rounds(held))
    list(held.odd(0x100, struct.pack("<4Q", *WIDE) if processor == "all" else b""))
    held.store(0x100, 8, 0)  # as be_refused() leaves it
    accesses = of_thread(result, pid)
    stores = accesses[(accesses["what"] <= What.STORE) | (accesses["what"] == What.FALLBACK)]
    stores = stores[(stores["offset"] >= 0x100) & (stores["offset"] < SAVED)]
    assert seen(stores) == list(rounds(held))


@pytest.mark.parametrize("processor", PROCESSORS)
def test_no_other_store_is_missed(processor: str) -> None:
    """All stores of the two threads are journaled, in order."""
    result = ran(SEEN, processor)
    for name in ("process", "plain"):
        for pid in said(result, r"plain (\d+)", name):
            expected = [(What.STORE, 0, 4, n) for n in range(PLAIN_STORES)]
            assert seen(of_thread(result, int(pid))) == expected


@pytest.mark.parametrize("processor", PROCESSORS)
def test_all_that_a_process_saves(processor: str) -> None:
    """FXSAVE writes the same to the card as to memory."""
    result = ran(SEEN, processor)
    saved = bytearray(SAVED_BYTES)
    for access in odd_thread(result):
        if access["what"] == What.STORE and access["offset"] >= SAVED:
            saved[access["offset"] - SAVED] = access["value"]
    assert saved.hex() == said(result, r"saved (\w+)")[0]
    assert said(result, r"restored (.*)") == ["0 0"]


def test_avx() -> None:
    """32 bytes are four registers, and an operation on them has the right result."""
    result = ran(SEEN, "all")
    assert said(result, r"wide (-?\d+)") == ["0"]
    stores = [(What.STORE, 0x100 + 8 * n, 8, value) for n, value in enumerate(WIDE)]
    accesses = seen(odd_thread(result))
    begin = accesses.index(stores[0])
    assert accesses[begin - 1 : begin + 5] == [
        (What.FALLBACK, 0x100, 0, 0),
        *stores,
        (What.FALLBACK, 0x100, 0, 0),
    ]


@pytest.mark.parametrize("processor", PROCESSORS)
def test_what_it_looks_at_stays(processor: str) -> None:
    """The fallback does not read the register, which a read would clear."""
    assert said(ran(SEEN, processor), r"count (\w+)") == ["77"]


def test_a_wide_register_at_a_multiple_of_4() -> None:
    """Its halves are two registers for the fallback, also if the operand has only one of them."""
    result = ran(SEEN)
    halves = ["5566778800000000 1122334455667788 11223344"]
    assert said(result, r"split (.+)", "places") == halves
    assert said(result, r"both (\w+)", "places") == ["2468ace09abcdef0"]
    assert seen(odd_thread(result, "places")[:9]) == [
        (What.STORE, 0x144, 8, 0x1122334455667788),
        *((What.FALLBACK, at, 0, 0) for at in (0x140, 0x144, 0x148, 0x144)),
        (What.STORE, 0x144, 4, 0x9ABCDEF0),
        (What.STORE, 0x148, 4, 0x12345678),
        (What.FALLBACK, 0x148, 0, 0),
        (What.STORE, 0x148, 4, 0x2468ACE0),
    ]


def test_the_msix_table_beside_registers() -> None:
    """The fallback sees its words, and can write a 0; it works while the registers are silent."""
    result = ran(SEEN)
    assert said(result, r"entry (\w+)", "places") == ["100000000"]
    assert said(result, r"stored (\w+)", "places") == ["55"]
    assert said(result, r"silent (\w+)", "places") == ["ffffffff"]
    assert said(result, r"address (\w+)", "places") == ["1234"]


def test_a_fault() -> None:
    """A fault begins with an instruction of the fallback, as with any access, and ends in time."""
    result = ran(SEEN)
    assert said(result, r"again (\w+)", "places") == ["7"]
    assert said(result, r"gone (\w+)", "places") == ["f" * 16]


@pytest.mark.parametrize("processor", PROCESSORS)
def test_what_it_can_not_do_is_told(processor: str) -> None:
    """PUSH, a division by 0, and an operand in two pages end in SIGBUS and store nothing."""
    result = ran(SEEN, processor)
    for what in ("push", "divide", "two pages"):
        assert said(result, rf"{what}: signal (\d+)") == [str(SIGBUS)]
    unknown = seen(odd_thread(result)[-4:])
    assert [(what, offset) for what, offset, _, _ in unknown] == [
        (What.UNKNOWN, 0x100),
        (What.STORE, 0x100),
        (What.UNKNOWN, 0x100),
        (What.UNKNOWN, 0xFFC),
    ]


@pytest.mark.parametrize("processor", PROCESSORS)
def test_they_are_counted(processor: str) -> None:
    """The counter agrees with the journal."""
    result = ran(SEEN, processor)
    everything = journal(result.out["journal"])
    assert int(text(result, "count")) == np.count_nonzero(everything["what"] == What.FALLBACK)


def test_a_card_that_is_pulled_out() -> None:
    """Reads return ones from then on, and the process runs to its end."""
    result = ran(REMOVED)
    assert int(said(result, r"bad (\d+)")[0]) > 0
    assert said(result, r"count (\w+)") == ["ffffffff"]
    assert said(result, r"restored (.*)") == ["f" * 16 + " " + "f" * 16]


@pytest.mark.slow
def test_random_instructions() -> None:
    """Most children end by a signal, as expected, and the bus works afterwards.

    `boot` checks the kernel's log.
    """
    result = ran(FUZZED)
    for seed in (1, 2):
        children, ended = map(
            int, re.findall(r"children (\d+) ended (\d+)", text(result, f"fuzzed{seed}"))[0]
        )
        assert ended > children * 0.9
    assert int(text(result, "count")) > TRIES / 10
    assert said(result, r"bad (\d+)") == ["0"]
