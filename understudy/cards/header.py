# SPDX-License-Identifier: MIT
"""The C header of a card: offsets, masks, shifts, values after a reset, enums.

For C11 and C++11, in the kernel and outside; it includes nothing.  CARD_REG is an offset in
bytes, CARD_REG_FIELD_MASK has the bits where they are, and a value of an enum is shifted down to
bit 0.  Values above 2^31 - 1, which no C11 enum can have, are macros.
"""

from collections import Counter
from collections.abc import Iterator

from understudy.base.errors import UserError
from understudy.cards.model import Card, Register, RegisterField, Ring

INT_MAX = 2**31 - 1

Definition = tuple[str, str, str]  # name, value, comment


def header(card: Card) -> str:
    """The text; a UserError if two of its names would be one."""
    refuse_twice(names(card))
    lines = [*_defined(_of_card(card))]
    for register in sorted(card.registers, key=lambda one: (one.bar, one.offset)):
        prefix = _prefix(card, register)
        lines += ["", *_defined(_of_register(prefix, register))]
        for field in register.fields:
            lines += _enum(f"{prefix}_{field.name}", field)
    guard = f"{card.name}_REGISTERS_H".upper()
    body = "\n".join(lines)
    title = comment(card.title)
    return f"{title}\n\n#ifndef {guard}\n#define {guard}\n\n{body}\n\n#endif\n"


def names(card: Card) -> list[str]:
    """All that the header defines."""
    found = [name for name, _, _ in _of_card(card)]
    for register in card.registers:
        prefix = _prefix(card, register)
        found += [name for name, _, _ in _of_register(prefix, register)]
        for field in register.fields:
            found += [f"{prefix}_{field.name}_{entry.name}" for entry in field.values]
    return found


def refuse_twice(names: list[str]) -> None:
    """A UserError if a name is there twice."""
    name, times = Counter(names).most_common(1)[0]
    if times > 1:
        raise UserError(f"two names of the card become {name} in C: rename one of them")


def _prefix(card: Card, register: Register) -> str:
    return f"{card.name}_{register.name}".upper()


def _defined(definitions: Iterator[Definition] | list[Definition]) -> Iterator[str]:
    for name, value, said in definitions:
        yield f"#define {name} {value}{' ' + comment(said) if said else ''}"


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
    for bar in card.bars:
        yield f"{prefix}_BAR_{bar.name}", str(bar.number), bar.description
        yield f"{prefix}_BAR_{bar.name}_BYTES", _hex(bar.bytes), ""
    for interrupt in card.interrupts:
        name = f"{prefix}_VECTOR_{interrupt.name.upper()}"
        yield name, str(interrupt.vector), interrupt.description
    for buffer in (*card.buffers, *card.rings):
        name = f"{prefix}_DMA_{buffer.name.upper()}"
        yield f"{name}_ALIGNMENT", _hex(buffer.alignment), buffer.description
        yield f"{name}_BYTES_MAX", _hex(buffer.bytes_max), ""
        if isinstance(buffer, Ring):
            yield f"{name}_ENTRY_BYTES", _hex(buffer.entry_bytes), ""


def _of_register(prefix: str, register: Register) -> Iterator[Definition]:
    yield prefix, _hex(register.offset), register.description
    yield f"{prefix}_RESET_VALUE", _hex(register.initial), ""
    for field in register.fields:
        name = f"{prefix}_{field.name}"
        yield f"{name}_SHIFT", str(field.bits.low), ""
        yield f"{name}_MASK", _hex(field.bits.mask), f"{field.access}: {field.description}"


def _enum(name: str, field: RegisterField) -> Iterator[str]:
    small = [entry for entry in field.values if entry.value <= INT_MAX]
    if small:
        yield f"enum {name.lower()} {{"
        for entry in small:
            said = comment(entry.description)
            yield f"\t{name}_{entry.name} = {entry.value:#x}, {said}"
        yield "};"
    large = [entry for entry in field.values if entry.value > INT_MAX]
    yield from _defined(
        [(f"{name}_{entry.name}", _hex(entry.value), entry.description) for entry in large]
    )


def _hex(value: int) -> str:
    return f"{value:#x}u" if value < 2**32 else f"{value:#x}ull"


def one_line(text: str) -> str:
    """A text for a C comment, which it cannot end, nor begin another in."""
    return " ".join(text.split()).replace("*/", "* /").replace("/*", "/ *")


def comment(text: str) -> str:
    """A C comment of one line."""
    return f"/* {one_line(text)} */"
