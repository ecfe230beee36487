# SPDX-License-Identifier: MIT
"""Example functions of a driver, which use the names in the card's header.

The programmer's manual shows them with the skeleton (driver.py); both compile together.  The
card's registers determine which examples there are.
"""

from collections.abc import Iterator
from itertools import groupby
from typing import Any

from understudy_devices.cards.driver import address, mask, ones, view
from understudy_devices.cards.header import INT_MAX
from understudy_devices.cards.model import Buffer, Card, Register, RegisterField
from understudy_devices.cards.template import render_block

TEMPLATE = "examples.c"


def enabling(card: Card) -> str:
    """Return a function that lets the card interrupt; empty if the card never interrupts."""
    can = any(one.enable for one in card.interrupts)
    return _block(card, "enabling", {}) if can else ""


def transfers(card: Card) -> Iterator[tuple[list[Buffer], str]]:
    """Yield the buffers of each doorbell, with a function that writes the doorbell; then yield
    each ring alone.
    """
    by_doorbell = sorted(card.buffers, key=lambda one: one.doorbell)
    for doorbell, some in groupby(by_doorbell, key=lambda one: one.doorbell):
        buffers = list(some)
        more = {"buffers": buffers, "written": list(_written(card, buffers))}
        yield buffers, _block(card, "buffers", more | {"bell": _store(card, doorbell, "1")})
    for ring in card.rings:
        more = {"ring": ring, "written": list(_written(card, [ring]))}
        more |= {"tail": _store(card, ring.tail, "next"), "head": _load(card, ring.head)}
        yield [ring], _block(card, "ring", more | {"bell": _store(card, ring.doorbell, "1")})


def named_values(card: Card, *accesses: str) -> Iterator[tuple[str, RegisterField, str]]:
    """Yield each register and field that has named values and one of these accesses, with a
    function.

    The function writes a value if the field is rw; otherwise it reads the field and returns the
    value's name.

    Ports are left out, since each access to a port has an effect.  Fields with values too large
    for a C enum are left out too, and so are arrays.
    """
    for register in (one for one in card.registers if one.count == 1):
        for field in register.fields:
            named = field.values and max(entry.value for entry in field.values) <= INT_MAX
            if named and field.access in accesses and register.kind != "port":
                yield register.name, field, _block(card, *_named(card, register, field))


def _named(card: Card, register: Register, field: RegisterField) -> tuple[str, dict[str, Any]]:
    others = [one for one in register.fields if one.access == "rw" and one != field]
    return "choice" if field.access == "rw" else "report", {
        "register": register,
        "field": field,
        "place": address(card, register),
        "label": f"{card.name}_{register.name}_{field.name}",
        "kept": [mask(card, register, one) for one in others],
        "ones": ones(card, register),
    }


def _written(card: Card, buffers: list[Buffer]) -> Iterator[dict[str, str]]:
    """Yield each address and length register once, with its parameter and statement."""
    seen: set[str] = set()
    for buffer in buffers:
        for name, kind, suffix in (
            (buffer.address, "dma_addr_t", "at"),
            (buffer.length, "u32", "bytes"),
        ):
            if name not in seen:
                parameter = f"{buffer.name}_{suffix}"
                yield {
                    "register": name,
                    "parameter": parameter,
                    "declared": f", {kind} {parameter}",
                    "store": _store(card, name, parameter),
                }
            seen.add(name)


def _store(card: Card, name: str, value: str) -> str:
    """Return a statement that stores a value in a register; if its only field is shifted, so is
    the value."""
    register = _register(card, name)
    shift = _shift(card, register)
    shifted = f"(u{register.width}){value} << {shift}" if shift else value
    stored = f"{shifted}{ones(card, register)}"
    return f"iowrite{register.width}({stored}, {address(card, register)});"


def _load(card: Card, name: str) -> str:
    register = _register(card, name)
    shift = _shift(card, register)
    loaded = f"ioread{register.width}({address(card, register)})"
    return f"{loaded} >> {shift}" if shift else loaded


def _register(card: Card, name: str) -> Register:
    return next(one for one in card.all_registers if one.name == name)


def _shift(card: Card, register: Register) -> str:
    """Return the name of the shift of a register's only field; empty if that field begins at bit
    0, or if there are several fields.
    """
    field = register.fields[0] if len(register.fields) == 1 else None
    named = f"{card.name}_{register.prefix}_{field.name}_shift".upper() if field else ""
    return named if field and field.bits.low else ""


def _block(card: Card, block: str, more: dict[str, Any]) -> str:
    return render_block(TEMPLATE, block, view(card) | more)
