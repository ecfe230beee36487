# SPDX-License-Identifier: MIT
"""The C header of a card: offsets, masks, shifts, reset values, enums.

It is valid C11 and C++11, in and outside the kernel, and includes no other header.  CARD_REG is an
offset in bytes.  CARD_REG_FIELD_MASK has the bit positions of the register.  An enum's
values are shifted down to bit 0.  Values above 2^31 - 1, which no C11 enum can have, are macros.
"""

from collections.abc import Iterator
from itertools import chain

from understudy_devices.cards.model import (
    Bar,
    Buffer,
    Card,
    Interrupt,
    Register,
    RegisterField,
    Ring,
)

INT_MAX = 2**31 - 1

PARTS = {"bars": "BAR", "interrupts": "interrupt", "buffers": "DMA", "rings": "DMA"}

Definition = tuple[str, str, str]  # name, value, comment


def header(card: Card) -> str:
    """Return the header's text."""
    parts = chain.from_iterable(getattr(card, key) for key in PARTS)
    lines = [*_defined(chain(_of_card(card), *(_of_part(card, part) for part in parts)))]
    for register in sorted(card.registers, key=lambda one: (one.bar, one.offset)):
        prefix = _prefix(card, register)
        of_fields = (_of_field(prefix, field) for field in register.fields)
        lines += ["", *_defined(chain(_of_register(prefix, register), *of_fields))]
        for field in register.fields:
            lines += _enum(f"{prefix}_{field.name}", field)
    guard = guard_of(card)
    body = "\n".join(lines)
    title = comment(card.title)
    return f"{title}\n\n#ifndef {guard}\n#define {guard}\n\n{body}\n\n#endif\n"


def guard_of(card: Card) -> str:
    """Return the name of the include guard."""
    return f"{card.name}_REGISTERS_H".upper()


def names(card: Card) -> Iterator[tuple[tuple[str | int, ...], str, list[str]]]:
    """Yield the parts of a card: each part's path, its kind, and its names in the header."""
    yield ("name",), "the card", [guard_of(card), *_first(_of_card(card))]
    for key, what in PARTS.items():
        for index, part in enumerate(getattr(card, key)):
            yield (key, index), f"{what} {part.name}", _first(_of_part(card, part))
    for index, register in enumerate(card.registers):
        path, prefix = ("registers", index), _prefix(card, register)
        yield path, f"register {register.name}", _first(_of_register(prefix, register))
        for at, field in enumerate(register.fields):
            label = f"{register.name}.{field.name}"
            yield (*path, "fields", at), f"field {label}", _first(_of_field(prefix, field))
            for place, entry in enumerate(field.values):
                name = f"{prefix}_{field.name}_{entry.name}"
                here = (*path, "fields", at, "values", place)
                yield here, f"value {label}.{entry.name}", [name]


def _first(definitions: Iterator[Definition]) -> list[str]:
    return [name.removesuffix("(i)") for name, _, _ in definitions]


def _prefix(card: Card, register: Register) -> str:
    return f"{card.name}_{register.name}".upper()


def _of_array(prefix: str, array: Register) -> Iterator[Definition]:
    """The offset of element i is a macro with a parameter."""
    place = f"({_hex(array.offset)} + {_hex(array.step)} * (i))"
    yield f"{prefix}(i)", place, f"i below {prefix}_COUNT: {array.description}"
    yield f"{prefix}_COUNT", str(array.count), ""
    for element in array.elements():
        yield f"{prefix}{element.name.removeprefix(array.name)}", _hex(element.offset), ""


def _defined(definitions: Iterator[Definition] | list[Definition]) -> Iterator[str]:
    for name, value, text in definitions:
        yield f"#define {name} {value}{' ' + comment(text) if text else ''}"


def _of_card(card: Card) -> Iterator[Definition]:
    prefix = card.name.upper()
    config = card.config
    yield f"{prefix}_VENDOR_ID", _hex(config.vendor), ""
    yield f"{prefix}_DEVICE_ID", _hex(config.device), ""
    yield f"{prefix}_SUBSYSTEM_VENDOR_ID", _hex(config.subsystem_vendor), ""
    yield f"{prefix}_SUBSYSTEM_ID", _hex(config.subsystem), ""
    yield f"{prefix}_CLASS_CODE", _hex(config.class_code), ""
    yield f"{prefix}_REVISION_ID", _hex(config.revision), ""
    if card.capabilities.msi:
        yield f"{prefix}_MSI_VECTORS", str(card.capabilities.msi.vectors), ""
    if card.capabilities.msix:
        yield f"{prefix}_MSIX_VECTORS", str(card.capabilities.msix.vectors), ""


def _of_part(card: Card, part: Bar | Interrupt | Buffer) -> Iterator[Definition]:
    prefix = card.name.upper()
    if isinstance(part, Bar):
        yield f"{prefix}_BAR_{part.name}", str(part.number), part.description
        yield f"{prefix}_BAR_{part.name}_BYTES", _hex(part.bytes), ""
    elif isinstance(part, Interrupt):
        yield f"{prefix}_VECTOR_{part.name.upper()}", str(part.vector), part.description
    else:
        name = f"{prefix}_DMA_{part.name.upper()}"
        yield f"{name}_ALIGNMENT", _hex(part.alignment), part.description
        yield f"{name}_BYTES_MAX", _hex(part.bytes_max), ""
        if isinstance(part, Ring):
            yield f"{name}_ENTRY_BYTES", _hex(part.entry_bytes), ""


def _of_register(prefix: str, register: Register) -> Iterator[Definition]:
    if register.count > 1:
        yield from _of_array(prefix, register)
    else:
        yield prefix, _hex(register.offset), register.description
    yield f"{prefix}_RESET_VALUE", _hex(register.initial), ""


def _of_field(prefix: str, field: RegisterField) -> Iterator[Definition]:
    name = f"{prefix}_{field.name}"
    yield f"{name}_SHIFT", str(field.bits.low), ""
    yield f"{name}_MASK", _hex(field.bits.mask), f"{field.access}: {field.description}"


def _enum(name: str, field: RegisterField) -> Iterator[str]:
    small = [entry for entry in field.values if entry.value <= INT_MAX]
    if small:
        yield f"enum {name.lower()} {{"
        for entry in small:
            text = comment(entry.description)
            yield f"\t{name}_{entry.name} = {entry.value:#x}, {text}"
        yield "};"
    large = [entry for entry in field.values if entry.value > INT_MAX]
    yield from _defined(
        [(f"{name}_{entry.name}", _hex(entry.value), entry.description) for entry in large]
    )


def _hex(value: int) -> str:
    return f"{value:#x}u" if value < 2**32 else f"{value:#x}ull"


def one_line(text: str) -> str:
    """Return the text with every mark changed that would begin or end a C comment."""
    return " ".join(text.split()).replace("*/", "* /").replace("/*", "/ *")


def comment(text: str) -> str:
    """Return a C comment of one line."""
    return f"/* {one_line(text)} */"
