# SPDX-License-Identifier: MIT
"""The C table of a card, for the code that implements the card (core/cards/card_table.h).

CARD_INDEX_REG is a register's index, CARD_REGISTERS the number of registers, and `card_table` the
table.  The text has no #include; include core/cards/registers.h before it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from understudy_devices.cards import config_space
from understudy_devices.cards.model import (
    AT_ZERO,
    READABLE,
    Access,
    Bar,
    Buffer,
    Card,
    Interrupt,
    Register,
    Ring,
    VendorCapability,
)

MASKS: Final[dict[str, tuple[Access, ...]]] = {
    "readable": READABLE,
    "writable": ("rw", "wo"),
    "clears": ("w1c", "w0c", "wc"),
    "sets": ("w1s", "w0s", "ws"),
    "toggles": ("w1t", "w0t"),
    "at_zero": AT_ZERO,
    "always": ("wc", "ws"),
    "read_clears": ("rc",),
    "read_sets": ("rs",),
}
DIRECTIONS = {"to_device": "CARD_READS", "from_device": "CARD_WRITES"}

Member = tuple[str, str]  # name, value in C


def table(card: Card) -> str:
    """Return the header's text."""
    registers = card.all_registers
    indexes = [index_of(card, register.name) for register in registers]
    guard, count = own_names(card)
    bars = sorted(card.bars, key=lambda one: one.number)
    places = config_space.vendor_places(card.capabilities)
    vendor = zip(places, card.capabilities.vendor, strict=True)
    arrays = {
        "vendor_capabilities": (
            "capability",
            [[*_capability(at, one)] for at, one in vendor if at],
        ),
        "bars": ("bar", [[*_bar(one)] for one in bars]),
        "registers": ("register", [[*_register(card, one)] for one in registers]),
        "interrupts": ("interrupt", [[*_interrupt(card, one)] for one in card.interrupts]),
        "buffers": ("buffer", [[*_buffer(card, one)] for one in card.buffers]),
        "rings": ("ring", [[*_ring(card, one)] for one in card.rings]),
    }
    filled = {name: array for name, array in arrays.items() if array[1]}
    lines = [f"#ifndef {guard}", f"#define {guard}", "", f"enum {card.name}_index {{"]
    lines += [f"\t{index}," for index in [*indexes, count]] + ["};"]
    for name, (kind, rows) in filled.items():
        lines += ["", *_array(f"struct card_{kind} {card.name}_{name}", rows)]
    lines += ["", f"static const struct card_table {card.name}_table = {{"]
    lines += [*_members(_of_card(card, filled), "\t"), "};", "", "#endif", ""]
    return "\n".join(lines)


def own_names(card: Card) -> tuple[str, str]:
    """Return the names of the include guard and of the number of registers."""
    return f"{card.name}_TABLE_H".upper(), f"{card.name}_REGISTERS".upper()


def _array(declared: str, rows: Iterable[Sequence[Member]]) -> Iterator[str]:
    yield f"static const {declared}[] = {{"
    for members in rows:
        yield from ("\t{", *_members(members, "\t\t"), "\t},")
    yield "};"


def _members(members: Iterable[Member], indent: str) -> Iterator[str]:
    return (f"{indent}.{name} = {value}," for name, value in members)


def _of_card(card: Card, arrays: Mapping[str, tuple[str, Sequence[object]]]) -> Iterator[Member]:
    yield "name", _text(card.name)
    yield "functions", str(card.functions)
    for key, value in card.config.model_dump().items():
        yield key, f"{value:#x}"
    msi, msix = card.capabilities.msi, card.capabilities.msix
    yield "msi_vectors", str(msi.vectors if msi else 0)
    yield "msix_vectors", str(msix.vectors if msix else 0)
    yield "msix_bar", str(msix.bar if msix else 0)
    yield "msix_table", f"{msix.table if msix else 0:#x}"
    yield "msix_pending", f"{msix.pending if msix else 0:#x}"
    pm, express = card.capabilities.pm, card.capabilities.express
    yield "has_pm", _bool(pm)
    yield "no_soft_reset", _bool(pm and pm.no_soft_reset)
    yield "is_express", _bool(express)
    yield "has_flr", _bool(express and express.flr)
    yield "has_aer", _bool(express and express.aer)
    for name, (_, rows) in arrays.items():
        yield f"nr_{name}", str(len(rows))
        yield name, f"{card.name}_{name}"


def _bool(value: object) -> str:
    return "true" if value else "false"


def _capability(at: int, capability: VendorCapability) -> Iterator[Member]:
    yield "at", f"{at:#x}"
    yield "bytes", str(len(capability.data))
    yield "data", f"{{ {', '.join(f'{byte:#04x}' for byte in capability.data)} }}"


def _bar(bar: Bar) -> Iterator[Member]:
    yield "number", str(bar.number)
    yield "is64", _bool(bar.kind == "memory64")
    yield "is_io", _bool(bar.kind == "io")
    yield "bytes", _wide(bar.bytes)


def _register(card: Card, register: Register) -> Iterator[Member]:
    yield "name", _text(register.name)
    yield "bar", str(register.bar)
    yield "bytes", str(register.width // 8)
    yield "offset", _wide(register.offset)
    yield "kind", f"REGISTER_{register.kind.upper()}"
    yield "side", f"REGISTER_{card.side(register).upper()}"
    yield "reset", _wide(register.initial)
    for name, accesses in MASKS.items():
        yield name, _wide(register.bits_with(*accesses))


def _interrupt(card: Card, interrupt: Interrupt) -> Iterator[Member]:
    yield "name", _text(interrupt.name)
    for key in ("status", "enable"):
        if named := getattr(interrupt, key):
            register, field = named.split(".")
            yield f"{key}_register", index_of(card, register)
            yield f"{key}_bit", _wide(_mask(card, register, field))
    yield "vector", str(interrupt.vector)


def _mask(card: Card, register: str, field: str) -> int:
    fields = next(one.fields for one in card.all_registers if one.name == register)
    return next(one.bits.mask for one in fields if one.name == field)


def _buffer(card: Card, buffer: Buffer) -> Iterator[Member]:
    yield "name", _text(buffer.name)
    yield "direction", DIRECTIONS[buffer.direction]
    for key in ("address", "length", "doorbell"):
        yield key, index_of(card, getattr(buffer, key))
    yield "alignment", _wide(buffer.alignment)
    yield "bytes_max", _wide(buffer.bytes_max)


def _ring(card: Card, ring: Ring) -> Iterator[Member]:
    yield from ((f"buffer.{name}", value) for name, value in _buffer(card, ring))
    yield "entry_bytes", _wide(ring.entry_bytes)
    for key in ("head", "tail"):
        yield key, index_of(card, getattr(ring, key))


def index_of(card: Card, register: str) -> str:
    """Return the name of a register's index."""
    return f"{card.name}_INDEX_{register}".upper()


def _text(name: str) -> str:
    return f'"{name}"'


def _wide(value: int) -> str:
    return f"{value:#x}ull"
