# SPDX-License-Identifier: MIT
"""The hardware reference manual of a card: its whole specification, register by register."""

from itertools import groupby
from typing import Any

from markupsafe import Markup

from understudy_devices.cards.model import Card, Register
from understudy_devices.show.card.bit_fields import Part, drawing, parts
from understudy_devices.show.page import render

ACCESS = {
    "rw": "read and write",
    "ro": "read only; what is written is ignored",
    "wo": "write only; reads as 0",
    "w1c": "writing 1 clears the bit, writing 0 leaves it",
    "w1s": "writing 1 sets the bit, writing 0 leaves it",
    "w1t": "writing 1 inverts the bit, writing 0 leaves it",
    "w0c": "writing 0 clears the bit, writing 1 leaves it",
    "w0s": "writing 0 sets the bit, writing 1 leaves it",
    "w0t": "writing 0 inverts the bit, writing 1 leaves it",
    "wc": "any write clears it",
    "ws": "any write sets it",
    "rc": "reading clears it",
    "rs": "reading sets it",
}
KIND = {
    "doorbell": "Doorbell: each write is an event, also of the same value.",
    "port": "Port: each write or read counts, as at a FIFO.",
}


def reference_manual(card: Card) -> str:
    """Return the page as HTML, always the same for the same card."""
    registers = sorted(card.registers, key=lambda one: (one.bar, one.offset))
    by_bar = groupby(registers, key=lambda one: one.bar)
    view = {
        "title": f"{card.title}: hardware reference manual",
        "card": card,
        "paragraphs": card.description.strip().split("\n\n"),
        "registers": {bar: [_register(card, one) for one in some] for bar, some in by_bar},
        "access": ACCESS,
        "kind": KIND,
    }
    return render("card/reference.html.j2", view)


def _register(card: Card, register: Register) -> dict[str, Any]:
    """Return a register, its drawing, and its fields from the highest bit, including reserved
    bits.
    """
    pieces: list[Part] = parts(register)
    return {
        "it": register,
        "parts": pieces,
        "drawing": Markup(drawing(register, pieces)),
        "others": _others(card, register),
    }


def _others(card: Card, register: Register) -> list[dict[str, Any]]:
    """Return the other register at each address of the register, or of its elements; one entry if
    each element's is that of another array with the same index.
    """
    pairs = [(one, card.partners.get(one.name)) for one in register.elements()]
    others = [
        {
            "at": one.name if register.count > 1 else "this address",
            "name": other.name,
            "prefix": other.prefix,
            "is_written": other.is_stored,
        }
        for one, other in pairs
        if other
    ]
    if register.count == 1 or len(others) < register.count:
        return others
    array = others[0]["prefix"]
    if [one["name"] for one in others] != [f"{array}_{i}" for i in range(register.count)]:
        return others
    return [others[0] | {"at": f"{register.name}_i", "name": f"{array}_i"}]
