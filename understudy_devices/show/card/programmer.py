# SPDX-License-Identifier: MIT
"""The programmer's manual of a card: how a driver uses it, with code that compiles.

The code comes from the skeleton and from examples.py, and uses the names of the generated header.
"""

from typing import Any, Final

from understudy_devices.cards import examples
from understudy_devices.cards.driver import part
from understudy_devices.cards.model import Card, Register
from understudy_devices.show.page import render

ON_TOUCH: Final[dict[str, str]] = {
    "w1c": "writing 1 clears",
    "w1s": "writing 1 sets",
    "w1t": "writing 1 inverts",
    "w0c": "writing 0 clears",
    "w0s": "writing 0 sets",
    "w0t": "writing 0 inverts",
    "wc": "any write clears",
    "ws": "any write sets",
    "rc": "reading clears",
    "rs": "reading sets",
}


def programmers_manual(card: Card) -> str:
    """Return the page as HTML, always the same for the same card."""
    view: dict[str, Any] = {
        "title": f"{card.title}: programmer's manual",
        "card": card,
        "paragraphs": card.description.strip().split("\n\n"),
        "prefix": card.name.upper(),
        "special": [one for one in card.registers if one.kind != "plain" or _on_touch(one)],
        "on_touch": _on_touch,
        "card_part": part(card, "card"),
        "probe": part(card, "probe"),
        "remove": part(card, "remove"),
        "handler": [part(card, name) for name in ("interrupt", "interrupts")],
        "by_status": any(one.status for one in card.interrupts),
        "by_message": not all(one.status for one in card.interrupts),
        "silence": part(card, "silence") if any(one.enable for one in card.interrupts) else "",
        "enabling": examples.enabling(card),
        "transfers": list(examples.transfers(card)),
        "choices": list(examples.named_values(card, "rw")),
        "on_touch_text": ON_TOUCH,
        "reports": list(examples.named_values(card, "ro", "rc", "rs")),
    }
    return render("card/programmer.html.j2", view)


def _on_touch(register: Register) -> list[tuple[str, str]]:
    """Return the fields of a register that a read, or a write of a certain value, changes; the
    register itself if it has no fields.
    """
    parts = [(field.name, field.access) for field in register.fields]
    if register.access:
        parts = [(register.name, register.access)]
    return [(name, access) for name, access in parts if access in ON_TOUCH]
