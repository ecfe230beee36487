# SPDX-License-Identifier: MIT
"""A kernel module that tests a card against its specification, register by register.

The module's accesses trigger nothing, but its reads clear rc bits and set rs bits.  It reads every
register except ports, and compares the readable bits with the value after a reset.  It also writes
registers of kind "plain" that have no bits that are wo or that it does not try, and whose address
no other register shares.
"""

from typing import Any, Final

from understudy_devices.cards.model import ON_WRITE, Access, Card, Register
from understudy_devices.cards.template import render

TESTED: Final[tuple[Access, ...]] = ("rw", "ro", "w1c", "rc")
UNTRIED: Final = [one for one in ON_WRITE if one not in TESTED]


def selftest(card: Card) -> str:
    """Return the text of NAME_selftest.c."""
    registers = [one for one in card.all_registers if card.side(one) != "stored"]
    used = {register.bar for register in registers}
    view = {
        "card": card,
        "name": card.name,
        "prefix": card.name.upper(),
        "mapped": [bar for bar in card.bars if bar.number in used],
        "rows": [_row(card, one) for one in registers if one.kind != "port"],
        "ports": [one.name for one in registers if one.kind == "port"],
    }
    return render("selftest.c", view)


def _row(card: Card, register: Register) -> dict[str, Any]:
    written = (
        register.kind == "plain"
        and card.side(register) == "both"
        and not register.bits_with("wo", *UNTRIED)
    )
    row = {"register": register, "reset": register.initial & ~register.bits_with("wo")}
    for access in TESTED:
        row[access] = register.bits_with(access) if written or access == "rc" else 0
    return row
