# SPDX-License-Identifier: MIT
"""A skeleton of a Linux driver for a card, which compiles without changes, and its Makefile.

The skeleton contains everything that the specification determines: IDs, BARs, DMA masks,
acknowledging and disabling interrupts, and undoing everything in reverse after a failure.  TODOs
mark the parts that the author must write.
"""

from itertools import groupby
from typing import Any

from understudy_devices.cards.model import AT_ZERO, Card, Interrupt, Register, RegisterField
from understudy_devices.cards.template import render, render_block

TEMPLATE = "driver.c"


def driver(card: Card) -> str:
    """Return the text of NAME_driver.c."""
    return render(TEMPLATE, view(card))


def part(card: Card, block: str) -> str:
    """Return one block of the driver: includes, card, silence, interrupt, interrupts, probe,
    remove.
    """
    return render_block(TEMPLATE, block, view(card))


def makefile(card: Card) -> str:
    """Return the text of a Makefile for driver and self-test."""
    return render("Makefile", {"card": card})


def view(card: Card) -> dict[str, Any]:
    """Return the templates' variables."""
    used = {register.bar for register in card.registers}
    transfers = [*card.buffers, *card.rings]
    registers = {register.name: register for register in card.all_registers}
    wide = any(registers[one.address].width == 64 for one in transfers)
    return {
        "card": card,
        "name": card.name,
        "prefix": card.name.upper(),
        "mapped": [bar for bar in card.bars if bar.number in used],
        "unmapped": [bar for bar in card.bars if bar.number not in used],
        "at": {name: address(card, register) for name, register in registers.items()},
        "width": {name: register.width for name, register in registers.items()},
        "transfers": transfers,
        "dma_bits": 64 if wide else 32,
        "sources": [_source(card, *both) for both in _by_register(card, "status")],
        "enables": [_enable(card, *both) for both in _by_register(card, "enable")],
    }


def address(card: Card, register: Register) -> str:
    """Return a register's address in C, for a function that has a variable `card`."""
    bar = next(bar.name for bar in card.bars if bar.number == register.bar)
    return f"card->bar_{bar.lower()} + {card.name.upper()}_{register.name}"


def mask(card: Card, register: Register, field: RegisterField) -> str:
    """Return the name of a field's mask in the card's header."""
    return f"{card.name}_{register.prefix}_{field.name}_mask".upper()


def ones(card: Card, register: Register) -> str:
    """Return what a write of other bits has to add, since a 0 has an effect; empty if nothing."""
    masks = [mask(card, register, one) for one in register.fields if one.access in AT_ZERO]
    return "".join(f" | {one}" for one in masks)


def _by_register(card: Card, key: str) -> list[tuple[Register, list[Interrupt]]]:
    """Return the registers with status or enable bits, each with its interrupts."""
    order = [register.name for register in card.all_registers]
    those = [one for one in card.interrupts if getattr(one, key)]
    interrupts = sorted(those, key=lambda one: order.index(_register(one, key)))
    return [
        (card.all_registers[order.index(name)], list(some))
        for name, some in groupby(interrupts, key=lambda one: _register(one, key))
    ]


def _register(interrupt: Interrupt, key: str) -> str:
    return str(getattr(interrupt, key)).split(".")[0]


def _field(register: Register, interrupt: Interrupt, key: str) -> RegisterField:
    named = str(getattr(interrupt, key)).split(".")[1]
    return next(field for field in register.fields if field.name == named)


def _source(card: Card, register: Register, interrupts: list[Interrupt]) -> dict[str, Any]:
    """Describe a status register: its bits, the bits that a 1 clears, and the bits that a write
    must preserve.
    """
    fields = [_field(register, one, "status") for one in interrupts]
    unique = list(dict.fromkeys(fields))
    acknowledged = [mask(card, register, one) for one in unique if one.access == "w1c"]
    stay = [mask(card, register, one) for one in register.fields if one.access == "rw"]
    cases = zip((mask(card, register, one) for one in fields), interrupts, strict=True)
    return {
        "register": register,
        "bits": [mask(card, register, one) for one in unique],
        "acknowledged": acknowledged,
        "stay": stay if acknowledged else [],
        "ones": ones(card, register),
        "otherwise": [one.name for one in unique if one.access not in ("w1c", "rc")],
        "cases": list(cases),
    }


def _enable(card: Card, register: Register, interrupts: list[Interrupt]) -> dict[str, Any]:
    """Describe an enable register: the bits that enable interrupts, and the bits that a write
    must preserve.
    """
    fields = list(dict.fromkeys(_field(register, one, "enable") for one in interrupts))
    stay = [one for one in register.fields if one.access == "rw" and one not in fields]
    return {
        "register": register,
        "bits": [mask(card, register, one) for one in fields],
        "stay": [mask(card, register, one) for one in stay],
        "ones": ones(card, register),
    }
