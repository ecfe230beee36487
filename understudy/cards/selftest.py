# SPDX-License-Identifier: MIT
"""A kernel module that holds a card against its specification, register by register.

It looks at what can be looked at without setting anything off.  Every register but a port is read
once: its value after a reset, of bits that read as something.  A plain register of which no bit is
wo or w1s is written too.
"""

from typing import Any, Final

from understudy.cards.model import Access, Card, Register
from understudy.cards.template import render

TESTED: Final[tuple[Access, ...]] = ("rw", "ro", "w1c", "rc")


def selftest(card: Card) -> str:
    """The text of NAME_selftest.c."""
    registers = sorted(card.registers, key=lambda one: (one.bar, one.offset))
    used = {register.bar for register in registers}
    view = {
        "card": card,
        "name": card.name,
        "prefix": card.name.upper(),
        "mapped": [bar for bar in card.bars if bar.number in used],
        "rows": [_row(one) for one in registers if one.kind != "port"],
        "ports": [one.name for one in registers if one.kind == "port"],
    }
    return render("selftest.c", view)


def _row(register: Register) -> dict[str, Any]:
    written = register.kind == "plain" and not register.bits_with("wo", "w1s")
    row = {"register": register, "reset": register.initial & ~register.bits_with("wo")}
    for access in TESTED:
        row[access] = register.bits_with(access) if written or access == "rc" else 0
    return row
