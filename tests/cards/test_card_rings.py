# SPDX-License-Identifier: MIT
"""Rings that wrap before their end, in journals of a few lines written by hand.

tests/vm/test_referee.py checks journals of real drivers.
"""

import numpy as np
import pytest

from understudy_devices.cards import journal, specification
from understudy_devices.cards.journal import Context, What
from understudy_devices.cards.model import Access, Card
from understudy_devices.referee import findings

ZACH1 = specification.load("zach1")
CONTROL = next(one.offset for one in ZACH1.registers if one.name == "CONTROL")
PLACE, PLACES, BEGIN = 0x1000, 8, 0x40000
Line = tuple[What, int, int]
GIVEN = (What.DMA_GIVEN, BEGIN, PLACES * PLACE)
TAKEN = (What.DMA_TAKEN, BEGIN, PLACES * PLACE)
RESET = (What.STORE, 1 << 31, CONTROL)
MODE = (What.STORE, 1, CONTROL)
RESETTING = (What.LOAD, 1 << 31, CONTROL)
ELSEWHERE = (What.DMA_BEGUN, BEGIN - 1, 1)


def sent(*places: int) -> list[Line]:
    """Return lines in which the card reads these ring places, and finishes each read."""
    return [
        (what, BEGIN + place * PLACE, PLACE)
        for place in places
        for what in (What.DMA_BEGUN, What.DMA_ENDED)
    ]


def changed(place: int) -> Line:
    """Return the line for changed memory at a ring place that the card was sent to."""
    return What.DMA_CHANGED, BEGIN + place * PLACE, PLACE


def wraps(*lines: Line, card: Card = ZACH1) -> list[tuple[int, str]]:
    """Return the early wraps found in these lines."""
    rows = np.zeros(len(lines), journal.ACCESS)
    for number, (what, value, offset) in enumerate(lines):
        row = rows[number]
        row["number"], row["what"], row["value"], row["offset"] = number, what, value, offset
        touches = what in (What.LOAD, What.STORE)
        row["bytes"], row["context"] = 4 * touches, Context.KERNEL if touches else Context.CARD
    mistakes = findings.found(card, rows)
    return [(each.number, each.text) for each in mistakes if each.rule == "wrong ring wrap"]


@pytest.mark.parametrize("end", [[TAKEN], []])
@pytest.mark.parametrize("used", [2, 4, 7])
def test_a_turn_before_the_end(used: int, end: list[Line]) -> None:
    """The wrap is reported once the driver changes memory in the ring, whether or not the ring
    is freed."""
    round_ = sent(*range(used))
    lines = [GIVEN, changed(0), *round_, *round_, changed(1), *round_, changed(2), *end]
    text = f"at {BEGIN:#x} the ring wraps after {used} of 8 places"
    assert wraps(*lines) == [(2 + 4 * used, text)]


@pytest.mark.parametrize("between", [MODE, RESETTING, ELSEWHERE])
def test_what_does_not_restart_a_ring(between: Line) -> None:
    """A mode, a load, and what the card does elsewhere."""
    assert len(wraps(GIVEN, *sent(0, 1, 2), between, *sent(0), changed(0), TAKEN)) == 1


RIGHT = {
    "a smaller ring": [*sent(0, 1, 2, 0, 1, 2)],
    "a whole one whose places change": [*sent(*range(8), *range(8)), changed(0)],
    "one place again and again": [*sent(0, 0, 0), changed(0)],
    "any order": [*sent(0, 3, 1, 0, 3), changed(0)],
    "steps of any length": [*sent(0, 1, 3, 0, 1, 3), changed(0)],
    "turns here and there": [*sent(0, 1, 2, 0, 1, 0), changed(0)],
    "a reset, and the same again": [*sent(0, 1, 2), RESET, *sent(0, 1, 2), changed(2)],
    "a reset": [*sent(0, 1, 2), RESET, *sent(0, 1, 2, 3, 4), changed(4)],
    "the middle": [*sent(3, 4, 5, 3, 4, 5), changed(3)],
}


@pytest.mark.parametrize("name", RIGHT)
def test_what_is_no_early_turn(name: str) -> None:
    """Such journals may show other mistakes, but no early wrap."""
    assert wraps(GIVEN, *RIGHT[name], TAKEN) == []


def test_only_the_ring_that_turns_early() -> None:
    """One of two rings wraps early; only a change in that ring is reported."""
    other = BEGIN + 16 * PLACE
    whole = [(what, value + other - BEGIN, size) for what, value, size in sent(*range(8), 0)]
    change = (What.DMA_CHANGED, other, PLACE)
    grant = (What.DMA_GIVEN, other, PLACES * PLACE)
    early = sent(0, 1, 0, 1)
    assert wraps(GIVEN, grant, *early, *whole, change, TAKEN) == []
    assert len(wraps(GIVEN, grant, *early, *whole, changed(1), TAKEN)) == 1


def with_access(name: str, access: Access) -> Card:
    """Return Zach 1 with another access of the field REGISTER.FIELD."""
    register, _, field = name.partition(".")
    registers = []
    for one in ZACH1.registers:
        fields = tuple(
            each.model_copy(update={"access": access})
            if (one.name, each.name) == (register, field)
            else each
            for each in one.fields
        )
        registers.append(one.model_copy(update={"fields": fields}))
    return ZACH1.model_copy(update={"registers": tuple(registers)})


@pytest.mark.parametrize(
    ("access", "stored", "restarts"),
    [
        ("w1s", 1 << 31, True),
        ("w1s", 0, False),
        ("w1t", 1 << 31, True),
        ("w1t", 0, False),
        ("w0s", 0, True),
        ("w0s", 1 << 31, False),
        ("w0t", 0, True),
        ("ws", 0, True),
        ("ws", 1 << 31, True),
        ("w1c", 1 << 31, False),
        ("rw", 1 << 31, False),
    ],
)
def test_a_reset_by_another_access(access: Access, stored: int, restarts: bool) -> None:
    """The bit is set or inverted by a 1, by a 0 or by any store."""
    card = with_access("CONTROL.RESET", access)
    lines = [*sent(0, 1, 2), (What.STORE, stored, CONTROL), *sent(0), changed(0)]
    assert bool(wraps(GIVEN, *lines, TAKEN, card=card)) is not restarts


def test_an_acknowledgement_is_no_reset() -> None:
    """A status bit that a written 1 inverts."""
    card = with_access("STATUS.DMA_DONE", "w1t")
    status = next(one.offset for one in ZACH1.registers if one.name == "STATUS")
    lines = [*sent(0, 1, 2), (What.STORE, 1, status), *sent(0), changed(0)]
    assert len(wraps(GIVEN, *lines, TAKEN, card=card)) == 1
