# SPDX-License-Identifier: MIT
"""What each rule of the referee finds, and what it lets pass, in journals of a few lines written
by hand.

test_card_findings.py has the acknowledgement of interrupts, and test_card_rings.py has the rings.
What drivers really do is in tests/vm/test_referee.py.
"""

from typing import Any

import numpy as np
import pytest

from understudy_devices.cards import journal, specification
from understudy_devices.cards.journal import (
    ABSENT,
    INTERRUPTIBLE,
    SLOTS,
    SOFT_INTERRUPTIBLE,
    Context,
    What,
)
from understudy_devices.cards.model import Ring
from understudy_devices.referee import findings
from understudy_devices.referee.events import Finding

ZACH1 = specification.load("zach1")
REGISTERS = {register.name: register for register in ZACH1.registers}
(BUFFER,) = ZACH1.buffers
PROCESS, OTHER = 7, 8
AT, SIZE = 0x40000, 0x100
END = AT + SIZE
Line = dict[str, int]


def line(what: What, value: int = 0, **more: int) -> Line:
    """A record of the journal."""
    return {"what": what, "value": value, "context": Context.CARD, **more}


def access(what: What, name: str, value: int = 0, **more: int) -> Line:
    """A load or a store of a whole register, by the kernel."""
    register = REGISTERS[name]
    place = {"bar": register.bar, "offset": register.offset, "bytes": register.width // 8}
    return line(what, value, **{"context": Context.KERNEL, "pid": PROCESS, **place, **more})


def store(name: str, value: int = 0, **more: int) -> Line:
    return access(What.STORE, name, value, **more)


def load(name: str, value: int = 0, **more: int) -> Line:
    return access(What.LOAD, name, value, **more)


def memory(what: What, address: int, size: int = 0, **more: int) -> Line:
    """DMA memory is given, taken, ..."""
    return line(what, address, offset=size, **more)


def told(*lines: Line, card: Any = ZACH1, whole: bool = True) -> list[Finding]:
    """All findings in a journal of these lines."""
    rows = np.zeros(len(lines), journal.ACCESS)
    for number, given in enumerate(lines):
        for name, value in {"number": number, **given}.items():
            rows[name][number] = value
    return findings.found(card, rows, whole)


def of(rule: str, *lines: Line, card: Any = ZACH1) -> list[tuple[int, str]]:
    """Where one rule has findings, and their texts."""
    return [(each.number, each.text) for each in told(*lines, card=card) if each.rule == rule]


BOUND, UNBOUND, REMOVED = line(What.BOUND), line(What.UNBOUND), line(What.REMOVED)
GIVEN, TAKEN = memory(What.DMA_GIVEN, AT, SIZE), memory(What.DMA_TAKEN, AT, SIZE)
BEGUN, ENDED = memory(What.DMA_BEGUN, AT, SIZE), memory(What.DMA_ENDED, AT, SIZE)
ON, OFF = store("ENABLE", 1), store("ENABLE")
DMA_DONE = 1
HARD: Line = {"context": Context.HARD_INTERRUPT}
SOFT: Line = {"context": Context.SOFT_INTERRUPT}
USER: Line = {"context": Context.USER}
GONE: Line = {"flags": ABSENT}


def started(length: int = 8, at: int = AT, **more: int) -> list[Line]:
    """The stores that start a transfer."""
    return [
        store("DMA_ADDRESS", at, **more),
        store("DMA_LENGTH", length, **more),
        store("DMA_START", **more),
    ]


def test_a_driver_without_a_mistake() -> None:
    """One buffer, drawn, and then everything is put back."""
    handled = [load("STATUS", DMA_DONE, **HARD), store("STATUS", DMA_DONE, **HARD)]
    transfer = [ON, *started(SIZE), BEGUN, memory(What.DMA_READ, AT, SIZE), ENDED]
    done = [line(What.RAISED, 1), line(What.HANDLING), *handled, line(What.HANDLED)]
    assert told(BOUND, GIVEN, *transfer, *done, OFF, TAKEN, UNBOUND) == []


def test_the_cards_of_a_journal_are_judged_apart() -> None:
    """What the one was given is not the other's; the findings are in the journal's order."""
    other = [{**given, "card": 2} for given in (BOUND, store("DMA_LENGTH", 1 << 31), UNBOUND)]
    mistakes = told(*other, memory(What.DMA_CHANGED, AT, 8), BOUND, GIVEN, UNBOUND)
    assert mistakes == [
        Finding("reserved bits", 1, "DMA_LENGTH: 0x80000000 is reserved"),
        Finding("DMA memory changed in use", 3, "among the 8 bytes at 0x40000"),
        Finding("DMA memory leaked", 5, "at 0x40000"),
    ]


def test_the_functions_of_a_card_are_judged_apart() -> None:
    """Each finding says which function it is about, if the card has several."""
    two = ZACH1.model_copy(update={"functions": 2})
    other = [{**given, "card": 3 + SLOTS} for given in (BOUND, GIVEN, UNBOUND)]
    mistakes = told(*other, BOUND, store("DMA_LENGTH", 1 << 31), UNBOUND, card=two)
    assert mistakes == [
        Finding("DMA memory leaked", 1, "slot 3.1: at 0x40000"),
        Finding("reserved bits", 4, "slot 0.0: DMA_LENGTH: 0x80000000 is reserved"),
    ]


@pytest.mark.parametrize(
    ("stored", "reserved"),
    [
        (store("DMA_LENGTH", 1 << 20), None),
        (store("DMA_LENGTH", 3 << 20), "DMA_LENGTH: 0x200000 is reserved"),
        (store("DMA_ADDRESS", 2**64 - 1), None),
        (load("DMA_LENGTH", 1 << 21), None),
        (store("DMA_LENGTH", 1 << 21, **GONE), None),
        (store("DMA_LENGTH", 1 << 21, flags=INTERRUPTIBLE), "DMA_LENGTH: 0x200000 is reserved"),
    ],
)
def test_reserved_bits(stored: Line, reserved: str | None) -> None:
    """The field of DMA_LENGTH ends with bit 20."""
    assert of("reserved bits", stored) == ([(0, reserved)] if reserved else [])


@pytest.mark.parametrize(
    ("touched", "text"),
    [
        (load("DMA_START"), None),
        (load("DMA_START", offset=0x5F, bytes=1), None),
        (load("DMA_START", offset=0x60, bytes=1), "a load of 1 at 0x60"),
        (store("DMA_START", bytes=8), "a store of 8 at 0x5c"),
        (store("DMA_LENGTH", bytes=8), None),
        (store("DMA_START", bar=1), "a store of 4 at 0x5c"),
        (line(What.HANDLING, offset=0x60), None),
    ],
)
def test_no_register(touched: Line, text: str | None) -> None:
    """DMA_LENGTH and DMA_START are followed by a gap, at 0x60."""
    assert of("no register", touched) == ([(0, text)] if text else [])


def test_interrupts_left_enabled() -> None:
    """Whatever was enabled last; a card that was pulled out can't interrupt."""
    rule, both = "interrupts left enabled", store("ENABLE", 9)
    assert of(rule, both, UNBOUND) == [(1, "ENABLE.DMA_DONE is set"), (1, "ENABLE.FAILED is set")]
    assert of(rule, load("ENABLE", 9), UNBOUND) == []
    assert of(rule, both, OFF, UNBOUND) == []
    assert of(rule, both, line(What.UNBOUND, **GONE)) == []
    assert of(rule, both, BOUND) == []


def test_touched_after_removal() -> None:
    """By the kernel, while no driver has the card."""
    rule = "touched after removal"
    assert of(rule, ON, BOUND, ON, UNBOUND, load("STATUS"), REMOVED) == [
        (0, "ENABLE"),
        (4, "STATUS"),
    ]
    assert of(rule, load("STATUS", **HARD)) == [(0, "STATUS")]
    assert of(rule, load("STATUS", **USER)) == []
    assert of(rule, store("DMA_LENGTH", bytes=8)) == [(0, "DMA_LENGTH")]


@pytest.mark.parametrize(
    ("at", "size", "in_use"),
    [
        (AT, SIZE, True),
        (AT - 8, 8, False),
        (AT - 8, 9, True),
        (END - 1, 1, True),
        (END - 1, 8, True),
        (END, 8, False),
        (AT - 1, 0, False),  # the bus does not know the memory, and so not its size
        (AT, 0, True),
        (END - 1, 0, True),
        (END, 0, False),
    ],
)
def test_memory_freed_in_use(at: int, size: int, in_use: bool) -> None:
    """One byte in common is enough."""
    found = of("DMA buffer freed in use", BEGUN, memory(What.DMA_TAKEN, at, size))
    assert found == ([(1, "the card was given 0x40000")] if in_use else [])


@pytest.mark.parametrize(
    ("before", "in_use"),
    [
        ([], False),
        ([BEGUN], True),
        ([BEGUN, ENDED], False),
        ([BEGUN, memory(What.DMA_ENDED, END)], True),
        ([BEGUN, REMOVED], False),
        ([REMOVED, BEGUN], True),
    ],
)
def test_memory_freed_after_use(before: list[Line], in_use: bool) -> None:
    """The card has ended that transfer, or is gone."""
    found = of("DMA buffer freed in use", *before, TAKEN)
    assert found == ([(len(before), "the card was given 0x40000")] if in_use else [])


def test_memory_freed_in_use_is_told_once() -> None:
    """With the transfer that began first."""
    second = memory(What.DMA_BEGUN, AT + 8, 8)
    found = of("DMA buffer freed in use", BEGUN, second, TAKEN)
    assert found == [(2, "the card was given 0x40000")]


@pytest.mark.parametrize(
    ("at", "size", "wrap"),
    [
        (AT, SIZE, False),  # the memory is the card's to read only, or to write only
        (AT, SIZE + 1, True),
        (AT - 1, SIZE + 2, False),
        (END - 1, 1, False),
        (END - 1, 2, True),
        (END, 1, True),
        (END, 0, False),
        (END + SIZE - 1, 1, True),
        (END + SIZE, 1, False),
    ],
)
def test_a_wrap_past_the_end(at: int, size: int, wrap: bool) -> None:
    """As far behind the memory as it is large."""
    (found,) = told(GIVEN, memory(What.DMA_REFUSED, at, size), TAKEN)
    rule = "wrong ring wrap" if wrap else "DMA outside the driver's memory"
    assert found == Finding(rule, 1, f"{size} bytes at {at:#x}")


def test_memory_that_is_not_given() -> None:
    """Any more, or since the card is gone."""
    refused, outside = memory(What.DMA_REFUSED, END, 8), "DMA outside the driver's memory"
    other = memory(What.DMA_GIVEN, 8 * AT, SIZE)
    assert of(outside, refused) == [(0, "8 bytes at 0x40100")]
    assert of(outside, GIVEN, TAKEN, refused) == [(2, "8 bytes at 0x40100")]
    assert of("wrong ring wrap", GIVEN, other, refused) == [(2, "8 bytes at 0x40100")]
    assert told(memory(What.DMA_REFUSED, END, 8, **GONE)) == []


@pytest.mark.parametrize(
    ("length", "address", "rule", "text"),
    [
        (0, AT, "bad DMA length", "commands: 0 bytes"),
        (1, AT, None, ""),
        (BUFFER.bytes_max, AT, None, ""),
        (BUFFER.bytes_max + 1, AT, "bad DMA length", "commands: 1048577 bytes"),
        (8, AT + 8, None, ""),
        (8, AT + 4, "misaligned DMA address", "commands at 0x40004"),
        (8, AT + 1, "misaligned DMA address", "commands at 0x40001"),
    ],
)
def test_a_transfer_that_the_manual_forbids(
    length: int, address: int, rule: str | None, text: str
) -> None:
    """By the values that the registers have at the doorbell."""
    expected = [Finding(rule, 3, text)] if rule else []
    assert told(BOUND, *started(length, address)) == expected
    assert told(BOUND, *started(length, address)[:2]) == []


def test_a_transfer_of_a_ring() -> None:
    """A ring's rules are a buffer's."""
    ring = Ring(
        **{**BUFFER.model_dump(), "name": "ring", "bytes_max": 8},
        entry_bytes=8,
        head="DRAWN",
        tail="FENCE",
    )
    card = ZACH1.model_copy(update={"rings": (ring,)})
    assert of("bad DMA length", *started(8), card=card) == []
    assert of("bad DMA length", *started(9), card=card) == [(2, "ring: 9 bytes")]


def test_memory_leaked() -> None:
    """Each piece once, when the driver leaves."""
    other = memory(What.DMA_GIVEN, END, 8)
    rule = "DMA memory leaked"
    assert of(rule, TAKEN, GIVEN, other, TAKEN, UNBOUND, UNBOUND) == [(2, "at 0x40100")]
    assert of(rule, GIVEN, other, UNBOUND) == [(0, "at 0x40000"), (1, "at 0x40100")]
    assert of(rule, GIVEN, BOUND) == []
    refused = line(What.UNBOUND, value=1)
    assert of(rule, GIVEN, refused, TAKEN, BOUND) == []
    assert of(rule, GIVEN, refused, BOUND) == [(0, "at 0x40000")]


OPEN: Line = {"flags": INTERRUPTIBLE}
SOFT_OPEN: Line = {"flags": SOFT_INTERRUPTIBLE}
LENGTH_OPEN = store("DMA_LENGTH", 8, **OPEN)
LATE = store("DMA_LENGTH", 8, **SOFT_OPEN)
NO_LOCK = {
    "a thread": ([ON, LENGTH_OPEN], HARD, True),
    "a thread with interrupts off": ([ON, store("DMA_LENGTH", 8)], HARD, False),
    "a thread that a tasklet may interrupt": ([ON, LATE], SOFT, True),
    "a thread that only the other handler may interrupt": ([ON, LATE], HARD, False),
    "the same the other way round": ([ON, LENGTH_OPEN], SOFT, False),
    "a tasklet": ([ON, {**LENGTH_OPEN, **SOFT}], HARD, True),
    "a tasklet and itself": ([ON, {**LATE, **SOFT}], SOFT, False),
    "the handler and itself": ([ON, {**LENGTH_OPEN, **HARD}], HARD, False),
    "a process": ([ON, {**LENGTH_OPEN, **USER}], HARD, False),
    "before interrupts are enabled": ([LENGTH_OPEN, ON], HARD, False),
    "after they are disabled": ([ON, OFF, LENGTH_OPEN], HARD, False),
    "a register of something else": ([ON, store("CLEAR_COLOR", **OPEN)], HARD, False),
    "a load": ([ON, load("DMA_LENGTH", **OPEN)], HARD, False),
    "no card": ([ON, {**LENGTH_OPEN, "flags": INTERRUPTIBLE | ABSENT}], HARD, False),
}


@pytest.mark.parametrize("name", NO_LOCK)
def test_no_lock_against_the_handler(name: str) -> None:
    """The handler starts transfers: does it get between the stores of other code?"""
    lines, by, is_found = NO_LOCK[name]
    text = "DMA_LENGTH is stored where the handler may interrupt"
    found = of("no lock against the handler", *lines, OFF, *started(**by))
    assert found == ([(1, text)] if is_found else [])
    assert of("no lock against the handler", *lines, OFF, store("STATUS", 1, **by)) == []


def test_no_lock_against_two_handlers() -> None:
    """One store starts all: its first register is told, for each of the handlers."""
    both = store("DMA_LENGTH", bytes=8, flags=INTERRUPTIBLE | SOFT_INTERRUPTIBLE)
    text = "DMA_LENGTH is stored where the handler may interrupt"
    found = of("no lock against the handler", *started(**SOFT), *started(**HARD), ON, both)
    assert found == [(7, text), (7, text)]


A, B = started(pid=PROCESS), started(pid=OTHER)
A_HARD = started(pid=PROCESS, **HARD)
ELSE = store("CLEAR_COLOR", pid=OTHER)
TORN = {
    "one after the other": ([*A, *B, *A], None),
    "a thread by another": ([A[0], *B, *A[1:]], 4),
    "a thread by another, late": ([*A[:2], *B, A[2]], 5),
    "a thread by the handler in it": ([A[0], *A_HARD, *A[1:]], 4),
    "a thread by its tasklet": ([A[0], *started(pid=PROCESS, **SOFT), *A[1:]], None),
    "a thread that has not begun": ([*B, *A], None),
    "a thread that another is about to overtake": ([A[0], *B[:2], *A[1:], B[2]], 5),
    "a thread by another, in other registers": ([A[0], ELSE, *A[1:]], None),
    "a thread that does not start one": ([A[0], *B, ELSE, {**ELSE, "pid": PROCESS}], None),
    "a thread by one that loads": ([A[0], load("DMA_START", pid=OTHER), *A[1:]], None),
    "a thread by one without a card": ([A[0], store("DMA_START", pid=OTHER, **GONE), *A[1:]], None),
    "a thread long ago": ([ELSE, A[0], *[ELSE] * 63, B[2], *A[1:]], None),
    "a thread not so long ago": ([ELSE, A[0], *[ELSE] * 62, B[2], *A[1:]], 65),
    "a thread not so long ago, among others": ([*A, A[0], *B, *B, *A[1:]], 10),
}


@pytest.mark.parametrize("name", TORN)
def test_no_lock_between_processors(name: str) -> None:
    """Somebody starts a transfer while another is about to; that is told once."""
    lines, number = TORN[name]
    found = of("no lock between processors", *lines)
    assert [each for each, _ in found] == ([] if number is None else [number])
    assert all(text.endswith("is stored, but commands was started meanwhile") for _, text in found)


def test_a_torn_start_names_its_first_register() -> None:
    """Of a store that touches two."""
    found = of("no lock between processors", A[0], *B, store("DMA_LENGTH", 8, bytes=8))
    assert found == [(4, "DMA_LENGTH is stored, but commands was started meanwhile")]
