# SPDX-License-Identifier: MIT
"""The values that the referee and the register file (core/cards/registers.c) compute agree."""

import pytest
from card_texts import GOOD

from understudy_devices.cards import specification
from understudy_devices.cards.model import Card
from understudy_devices.cards.shadow import Places, Values

SIZE = "width: 32, access: rw, reset: 0, description: Bytes."
PORT = GOOD[: GOOD.index("rings:")].replace("kind: doorbell", "kind: port")
STORED = {
    "rw": 0x0A,
    "wo": 0x0A,
    "ro": 0x0C,
    "rc": 0x0C,
    "rs": 0x0C,
    "w1c": 0x04,
    "w1s": 0x0E,
    "w1t": 0x06,
    "w0c": 0x08,
    "w0s": 0xFD,
    "w0t": 0xF9,
    "wc": 0x00,
    "ws": 0xFF,
}
"""What 0x0c becomes when 0x0a is stored."""


def stored(text: str, name: str, width: int, value: int) -> int:
    """Return a register's value after one store to its first bytes."""
    card: Card = specification.parse("x.yaml", text.encode())
    register = next(one for one in card.all_registers if one.name == name)
    values = Values(card)
    for part in Places(card).parts(register.bar, register.offset, width, value, stored=True):
        values.store(part)
    return values[name]


@pytest.mark.parametrize("access", STORED)
def test_a_store_acts_as_the_access_says(access: str) -> None:
    """The bytes beside the store do not change."""
    more = SIZE.replace("access: rw, reset: 0", f"access: {access}, reset: 0xc00c")
    assert stored(GOOD.replace(SIZE, more), "SIZE", 1, 0x0A) == 0xC000 | STORED[access]


def test_a_doorbell_has_what_was_stored() -> None:
    """So has a port; reserved bits stay 0."""
    assert stored(GOOD, "TAIL", 4, 0x12345678) == 0x12345678
    assert stored(PORT, "TAIL", 4, 7) == 7
    assert stored(GOOD, "ENABLE", 4, 0xFFFFFFFF) == 1
    assert stored(GOOD, "STATUS", 4, 0xFFFFFFFF) == 0x20
