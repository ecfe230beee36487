# SPDX-License-Identifier: MIT
"""When an interrupt counts as acknowledged, and how unknown instructions are reported.  The
journals are a few lines written by hand.

tests/vm/test_referee.py checks journals of real drivers.
"""

import numpy as np
import pytest

from understudy_devices.cards import journal, register_log, specification
from understudy_devices.cards.journal import ABSENT, Context, What
from understudy_devices.cards.model import Card
from understudy_devices.cli import card_test
from understudy_devices.referee import events, findings, run

ZACH1 = specification.load("zach1")
FAILED = ZACH1.interrupts[3]
RAISED = 1 << 3
THREAD, PROCESS = 7, 8
Line = tuple[What, int, str, int, Context, int]
"""The kind, the value, the register (with +BYTE), the thread, the context and the flags."""


def at(what: What, value: int = 0, name: str = "", pid: int = THREAD, flags: int = 0) -> Line:
    """Return a line for a register access by a kernel thread, or for an action of the card."""
    touches = what in (What.LOAD, What.STORE)
    return what, value, name, pid, Context.KERNEL if touches else Context.CARD, flags


def handler(line: Line) -> Line:
    """Return the line as if done by the handler."""
    return (*line[:4], Context.HARD_INTERRUPT, line[5])


def missing(card: Card, *lines: Line) -> list[int]:
    """Return the numbers of interrupts whose acknowledgement is missing."""
    rows = np.zeros(len(lines), journal.ACCESS)
    offsets = {register.name: register.offset for register in card.registers}
    for number, (what, value, name, pid, context, flags) in enumerate(lines):
        row = rows[number]
        row["number"], row["what"], row["value"], row["pid"] = number, what, value, pid
        row["context"], row["flags"] = context, flags
        register, _, byte = name.partition("+")
        row["offset"] = offsets.get(register, 0) + int(byte or 0)
        row["bytes"] = 4 if name else 0
    mistakes = findings.found(card, rows, whole=False)
    return [each.number for each in mistakes if each.rule == "missing acknowledge"]


ENABLED = at(What.STORE, 1 << 3, "ENABLE")
HANDLED = (at(What.RAISED, RAISED), at(What.HANDLING), at(What.HANDLED))
SEEN = at(What.LOAD, 1 << 3, "STATUS")
RESET = (at(What.STORE, 1 << 31, "CONTROL"), at(What.RAISED, 0))
GONE = at(What.UNBOUND)


def test_nobody_clears_it() -> None:
    """The status bit stays set until the driver unbinds."""
    assert missing(ZACH1, ENABLED, *HANDLED, handler(SEEN), GONE) == [1]
    assert missing(ZACH1, ENABLED, *HANDLED, SEEN, at(What.STORE, 1 << 3, "STATUS"), GONE) == []
    assert missing(ZACH1, ENABLED, *HANDLED, SEEN, at(What.STORE, 1 << 2, "STATUS"), GONE) == [1]


def test_nobody_has_had_the_time() -> None:
    """The handler has not run, or has not read the status before a reset."""
    assert missing(ZACH1, ENABLED, at(What.RAISED, RAISED), GONE) == []
    assert missing(ZACH1, ENABLED, *HANDLED, *RESET, GONE) == []
    assert missing(ZACH1, ENABLED, *HANDLED, at(What.LOAD, 1 << 2, "STATUS"), *RESET, GONE) == []


def test_a_reset_by_who_has_seen_it() -> None:
    """A threaded handler resets a card that has failed, as the manual requires."""
    assert missing(ZACH1, ENABLED, *HANDLED, SEEN, *RESET, GONE) == []


@pytest.mark.parametrize("seen", [handler(SEEN), at(What.LOAD, 1 << 3, "STATUS", PROCESS)])
def test_a_reset_by_somebody_else(seen: Line) -> None:
    """The handler, or another process, has read the status but did not act on it."""
    assert missing(ZACH1, ENABLED, *HANDLED, seen, *RESET, GONE) == [1]


def test_a_card_that_is_pulled_out() -> None:
    """The card disappears before a threaded handler reads its status."""
    absent = at(What.LOAD, 0xFFFFFFFF, "STATUS", flags=ABSENT)
    assert missing(ZACH1, ENABLED, *HANDLED, at(What.REMOVED), absent, GONE) == []


def test_an_instruction_that_is_not_known() -> None:
    """The finding shows the instruction's first bytes in the order of a disassembler."""
    rows = np.zeros(1, journal.ACCESS)
    rows["what"], rows["value"], rows["offset"] = What.UNKNOWN, 0x7D8D_4824_6C8D_AE0F, 0x200
    (finding,) = findings.found(ZACH1, rows, whole=False)
    assert finding == events.Finding("unknown instruction", 0, "0f ae 8d 6c 24 48 8d 7d at 0x200")
    (line,) = register_log.lines(ZACH1, rows)
    assert line.endswith("unknown instruction 0f ae 8d 6c 24 48 8d 7d at 0x200")


def test_what_the_fallback_carried_out() -> None:
    """An instruction that the fallback carried out is a note, not a mistake."""
    rows = np.zeros(2, journal.ACCESS)
    rows["number"] = 0, 1
    rows["what"], rows["value"], rows["offset"] = What.FALLBACK, 0x0010_0181_DD, 0x100
    assert findings.found(ZACH1, rows, whole=False) == []
    first, second = findings.noted(rows)
    assert (first.rule, first.number, second.number) == ("carried out by the fallback", 0, 1)
    assert first.text == (
        "dd 81 01 10 00 00 00 00 at 0x100: the journal lacks unchanged values, reads, "
        "and the order within the instruction"
    )
    (line, _) = register_log.lines(ZACH1, rows)
    assert line.endswith("carried out by the fallback dd 81 01 10 00 00 00 00 at 0x100")
    setting = run.Setting(1, 7)
    outcome = run.Outcome(setting, (), (first, second), rows, 0, "")
    assert list(card_test.told(outcome)) == [
        "1 CPU, seed 7: nothing wrong in 2 accesses",
        f"  note: carried out by the fallback (2 times): first at access 0: {first.text}",
    ]


def with_status(access: str) -> Card:
    """Return Zach 1 with another access of STATUS.FAILED; a bit with "ro" falls with its cause."""
    registers = []
    for register in ZACH1.registers:
        fields = tuple(
            field.model_copy(update={"access": access})
            if f"{register.name}.{field.name}" == FAILED.status
            else field
            for field in register.fields
        )
        registers.append(register.model_copy(update={"fields": fields}))
    return ZACH1.model_copy(update={"registers": tuple(registers)})


def test_a_status_that_falls_with_its_cause() -> None:
    """A FIFO's status bit falls once the FIFO is empty, no matter who empties it."""
    card = with_status("ro")
    assert missing(card, ENABLED, *HANDLED, handler(SEEN), at(What.RAISED, 0), GONE) == []
    assert missing(card, ENABLED, *HANDLED, handler(SEEN), GONE) == [1]


def test_a_status_that_reading_clears() -> None:
    """Any reader clears the bit, but only by reading the bit's own byte."""
    card = with_status("rc")
    assert missing(card, ENABLED, *HANDLED, handler(SEEN), GONE) == []
    assert missing(card, ENABLED, *HANDLED, at(What.LOAD, 0, "STATUS"), GONE) == []
    assert missing(card, ENABLED, *HANDLED, at(What.LOAD, 1 << 3, "ENABLE"), GONE) == [1]
    assert missing(card, ENABLED, *HANDLED, at(What.LOAD, 0, "STATUS+1"), GONE) == [1]
    assert missing(card, ENABLED, *HANDLED, at(What.STORE, 1 << 3, "STATUS"), GONE) == [1]


@pytest.mark.parametrize(
    ("access", "clears", "leaves"),
    [
        ("w1c", 1 << 3, 1 << 2),
        ("w1t", 1 << 3, 1 << 2),
        ("w0c", ~(1 << 3), 1 << 3),
        ("w0t", ~(1 << 3), 1 << 3),
        ("wc", 0, None),
        ("wc", 1 << 3, None),
    ],
)
def test_a_status_that_writing_clears(access: str, clears: int, leaves: int | None) -> None:
    """By a 1, a 0 or anything, but only in the bit's own byte."""
    card, before = with_status(access), (ENABLED, *HANDLED, handler(SEEN))
    value = clears & 0xFFFFFFFF
    assert missing(card, *before, at(What.STORE, value, "STATUS"), GONE) == []
    assert missing(card, *before, at(What.STORE, value, "STATUS+1"), GONE) == [1]
    assert missing(card, *before, SEEN, GONE) == [1]
    if leaves is not None:
        assert missing(card, *before, at(What.STORE, leaves, "STATUS"), GONE) == [1]
