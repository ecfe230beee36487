# SPDX-License-Identifier: MIT
"""Rules between the parts of a card.

`broken(card, known)` yields each broken rule as (path, reason).  The path leads to a part of the
card, as in ("registers", 3, "offset").
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from understudy_devices.base.catalog import unknown
from understudy_devices.cards import config_space, header, table
from understudy_devices.cards.model import (
    NAME_MAX,
    REGISTERS_MAX,
    VECTORS_MAX,
    Buffer,
    Card,
    Interrupt,
    Register,
    RegisterField,
    Ring,
)
from understudy_devices.cards.template import kernel_names

Path = tuple[str | int, ...]
Broken = Iterator[tuple[Path, str]]
PAGE_BYTES = 4096


@dataclass(frozen=True)
class Known:
    """The names in a document, including those of wrong parts that were set aside.

    With these names, a reference to a part that was set aside is not reported as wrong.
    """

    bars: frozenset[int]
    registers: frozenset[str]
    fields: frozenset[str]
    """As REGISTER.FIELD."""
    incomplete: frozenset[str]
    """Registers without some of their fields."""
    uncounted: frozenset[str]
    """Arrays whose count is wrong, so that any number may follow their name."""
    nameless: bool
    """Whether the name of a register or field is wrong, so that any name may be meant to be its."""
    vectors: bool
    """Whether the number of vectors is the document's: no capability was set aside."""

    def has_register(self, name: str) -> bool:
        """Return whether a register or an element has this name."""
        return self.nameless or name in self.registers or _array_of(name) in self.uncounted

    def has_field(self, name: str) -> bool:
        """Return whether a register or an element has this field, as REGISTER.FIELD."""
        register, _, field = name.partition(".")
        array = _array_of(register)
        return (
            self.nameless
            or name in self.fields
            or (array in self.uncounted and f"{array}.{field}" in self.fields)
        )


def _array_of(element: str) -> str:
    return re.sub("_[0-9]+$", "", element)


class Named(Protocol):
    """Anything with a name."""

    @property
    def name(self) -> str:
        """The name."""


def broken(card: Card, known: Known) -> Broken:
    """Yield all broken rules of a card."""
    every = sum(register.count for register in card.registers)
    if every > REGISTERS_MAX:
        yield ("registers",), f"{every:,} registers with all elements: {REGISTERS_MAX} at most"
        return
    for key in ("bars", "registers", "interrupts"):
        yield from _twice((key,), getattr(card, key))
    yield from _transfer_names(card)
    yield from _bars(card)
    for index, register in enumerate(card.registers):
        path: Path = ("registers", index)
        yield from _place(path, register, card, known)
        yield from _contents(path, register, register.name not in known.incomplete)
    yield from _arrays(card)
    yield from _overlaps(card)
    yield from _msix(card, known)
    vectors = card.capabilities.vectors if known.vectors else VECTORS_MAX
    if card.capabilities.express and not card.capabilities.pm:
        yield ("capabilities", "express"), "PCI Express needs power management: add pm"
    yield from _vendor(card)
    fields = _fields(card)
    for index, interrupt in enumerate(card.interrupts):
        yield from _interrupt(("interrupts", index), interrupt, fields, known, vectors)
    registers = {register.name: register for register in card.all_registers}
    for key in ("buffers", "rings"):
        for index, transfer in enumerate(getattr(card, key)):
            yield from _transfer((key, index), transfer, registers, known)
    yield from _names_in_c(card)


def _names_in_c(card: Card) -> Broken:
    """Check that each generated name is unique (cards/header.py, table.py), and differs
    from kernel names that drivers use.
    """
    owners = dict.fromkeys({"PCI_VENDOR_ID", *kernel_names()}, "a macro of the kernel")
    owners |= dict.fromkeys(table.own_names(card), "the card")
    for path, part, names in header.names(card):
        if len(path) == 2 and path[0] == "registers":
            register = card.registers[int(path[1])]
            names += [table.index_of(card, one.name) for one in register.elements()]
        for name in names:
            owner = owners.setdefault(name, part)
            if owner != part:
                yield path, f"{part} becomes {name} in C, as {owner} does: rename one of them"
                break


def _twice(path: Path, parts: Sequence[Named]) -> Broken:
    seen: set[str] = set()
    for index, part in enumerate(parts):
        if part.name in seen:
            yield (*path, index, "name"), f"{part.name} is there twice: names are unique"
        seen.add(part.name)


def _transfer_names(card: Card) -> Broken:
    buffers = {buffer.name for buffer in card.buffers}
    yield from _twice(("buffers",), card.buffers)
    yield from _twice(("rings",), card.rings)
    for index, ring in enumerate(card.rings):
        if ring.name in buffers:
            yield ("rings", index, "name"), f"{ring.name} is a buffer too: names are unique"


def _bars(card: Card) -> Broken:
    owners: dict[int, str] = {}
    for index, bar in enumerate(card.bars):
        if not _power_of_two(bar.bytes):
            yield ("bars", index, "bytes"), f"{bar.bytes} bytes are no power of two"
        least, most = (4, 256) if bar.kind == "io" else (16, 2**27)
        if not least <= bar.bytes <= most:
            yield ("bars", index, "bytes"), f"a BAR of kind {bar.kind} has {least} to {most} bytes"
        numbers = [bar.number, bar.number + 1] if bar.kind == "memory64" else [bar.number]
        if numbers[-1] > 5:
            yield ("bars", index, "number"), "a memory64 BAR takes two numbers: 4 is the last"
        for number in numbers:
            if number in owners:
                reason = f"BAR {number} is taken by {owners[number]}"
                yield ("bars", index, "number"), reason
                break
        owners |= dict.fromkeys(numbers, bar.name)


def _msix(card: Card, known: Known) -> Broken:
    msix = card.capabilities.msix
    if not msix:
        return
    path: Path = ("capabilities", "msix", "bar")
    if msix.bar not in known.bars:
        there = ", ".join(map(str, sorted(known.bars)))
        yield path, f"there is no BAR {msix.bar}: there are: {there}"
    parts = {"table": 16 * msix.vectors, "pending": 8}
    bars = [bar for bar in card.bars if bar.number == msix.bar]
    if bars and bars[0].kind == "io":
        yield path, f"BAR {msix.bar} has I/O ports: the table is in memory"
        return
    for key, size in parts.items():
        begin = getattr(msix, key)
        here = ("capabilities", "msix", key)
        if begin % 8:
            yield here, f"{key} at {begin:#x} is misaligned: multiples of 8 bytes"
        for bar in bars:
            if begin + size > bar.bytes:
                reason = f"{key} ends at {begin + size:#x}, outside BAR {bar.number}"
                yield here, f"{reason} of {bar.bytes:#x} bytes"
        for register in card.all_registers:
            inside = register.offset < begin + size and begin < register.end
            if register.bar == msix.bar and inside:
                yield here, f"{key} ({begin:#x} to {begin + size - 1:#x}) overlaps {register.name}"
                break
    if msix.table < msix.pending + 8 and msix.pending < msix.table + parts["table"]:
        yield ("capabilities", "msix", "pending"), "the pending bits overlap the table"


def _vendor(card: Card) -> Broken:
    places = config_space.vendor_places(card.capabilities)
    for index, (at, one) in enumerate(zip(places, card.capabilities.vendor, strict=True)):
        if at is None:
            size = config_space.HEADER_BYTES + len(one.data)
            reason = f"no gap of {size} bytes is left in the config space: shorten the data"
            yield ("capabilities", "vendor", index, "data"), reason


def _place(path: Path, register: Register, card: Card, known: Known) -> Broken:
    size = min(register.width // 8, 4)
    if register.offset % size:
        reason = f"{register.name} at {register.offset:#x} is misaligned: multiples of {size} bytes"
        yield (*path, "offset"), reason
    bars = {bar.number: bar for bar in card.bars}
    bar = bars.get(register.bar)
    if register.bar not in known.bars:
        there = ", ".join(map(str, sorted(known.bars)))
        yield (*path, "bar"), f"there is no BAR {register.bar}: there are: {there}"
    elif bar and (end := register.end + (register.count - 1) * register.step) > bar.bytes:
        reason = f"{register.name} ends at {end:#x}, outside BAR {bar.number}"
        yield (*path, "offset"), f"{reason} of {bar.bytes:#x} bytes"
    else:
        yield from _page(path, register, size)


def _page(path: Path, register: Register, alignment: int) -> Broken:
    """Check that no element is in two pages, as a 64-bit register at a multiple of 4 may be."""
    size = register.width // 8
    for index in range(register.count):
        begin = register.offset + index * register.step
        if begin % PAGE_BYTES > PAGE_BYTES - size and not begin % alignment:
            reason = f"{register.name} is in two pages of {PAGE_BYTES:#x} bytes at {begin:#x}"
            yield (*path, "offset"), f"{reason}: move it"
            return


def _contents(path: Path, register: Register, complete: bool) -> Broken:
    if complete and bool(register.fields) == bool(register.access):
        reason = f"{register.name} needs fields, or access for all its bits: one of them"
        yield path, reason
    if register.reset is not None and register.reset >> register.width:
        reason = f"reset {register.reset:#x} does not fit into {register.width} bits"
        yield (*path, "reset"), reason
    elif complete and register.reset is not None and register.fields:
        of_fields = sum(field.reset << field.bits.low for field in register.fields)
        if register.reset != of_fields:
            reason = f"reset {register.reset:#x} disagrees with the fields' {of_fields:#x}"
            yield (*path, "reset"), reason
    yield from _twice((*path, "fields"), register.fields)
    for index, field in enumerate(register.fields):
        yield from _field((*path, "fields", index), field, register)


def _field(path: Path, field: RegisterField, register: Register) -> Broken:
    last = path[-1]
    assert isinstance(last, int)
    if field.bits.high >= register.width:
        reason = (
            f"{field.name} has bit {field.bits.high}, past {register.name}'s {register.width} bits"
        )
        yield (*path, "bits"), reason
    for other in register.fields[:last]:
        if field.bits.mask & other.bits.mask:
            reason = f"{field.name} ({field.bits}) overlaps {other.name} ({other.bits})"
            yield (*path, "bits"), reason
    if field.reset >> field.bits.count:
        yield (*path, "reset"), f"reset {field.reset:#x} does not fit into bits {field.bits}"
    yield from _twice((*path, "values"), field.values)
    seen: dict[int, str] = {}
    for index, entry in enumerate(field.values):
        here = (*path, "values", index, "value")
        if entry.value >> field.bits.count:
            yield here, f"{entry.name} = {entry.value:#x} does not fit into bits {field.bits}"
        if entry.value in seen:
            yield here, f"{entry.name} = {entry.value:#x} is {seen[entry.value]} already"
        seen[entry.value] = entry.name


def _arrays(card: Card) -> Broken:
    for index, register in enumerate(card.registers):
        if register.count == 1 and register.stride is not None:
            yield ("registers", index, "stride"), "without a count there is no stride: add count"
        elif register.step < register.width // 8:
            reason = f"{register.step} bytes are less than the {register.width // 8} of an element"
            yield ("registers", index, "stride"), reason
        elif register.count > 1 and register.step % min(register.width // 8, 4):
            reason = f"elements {register.step} bytes apart are misaligned"
            yield ("registers", index, "stride"), reason
        last = f"{register.name}_{register.count - 1}"
        if register.count > 1 and len(last) > NAME_MAX:
            reason = f"the name of element {last} has {len(last)} letters: {NAME_MAX} at most"
            yield ("registers", index, "name"), reason


def _overlaps(card: Card) -> Broken:
    """Yield each register that begins before the end of a register with a lower offset, once if
    more elements do.  If elements of one array overlap, its stride is wrong (_arrays).
    """
    reach: dict[int, tuple[int, Register]] = {}
    shared: Register | None = None
    seen = {(index, index) for index in range(len(card.registers))}
    places = sorted(
        (
            (index, element)
            for index, register in enumerate(card.registers)
            for element in register.elements()
        ),
        key=lambda place: (place[1].bar, place[1].offset, not place[1].is_loaded, place[0]),
    )
    for index, register in places:
        other, before = reach.get(register.bar, (index, None))
        pair = (min(index, other), max(index, other))
        if before and before is not shared and before.shares(register):
            shared = before
        elif before and register.offset < before.end and pair not in seen:
            seen.add(pair)
            reason = (
                f"{register.name} at {register.offset:#x} overlaps {before.name}"
                f" ({before.offset:#x} to {before.end - 1:#x})"
            )
            yield ("registers", index, "offset"), reason
        if not before or register.end > before.end:
            reach[register.bar] = (index, register)


def _fields(card: Card) -> dict[str, RegisterField]:
    return {
        f"{register.name}.{field.name}": field
        for register in card.all_registers
        for field in register.fields
    }


def _interrupt(
    path: Path,
    interrupt: Interrupt,
    fields: dict[str, RegisterField],
    known: Known,
    vectors: int,
) -> Broken:
    for key in ("status", "enable"):
        named = getattr(interrupt, key)
        field = fields.get(named)
        if named is None:
            continue
        if not known.has_field(named):
            yield (*path, key), unknown("REGISTER.FIELD", named, known.fields)
        elif field and field.bits.count > 1:
            yield (*path, key), f"{named} has {field.bits.count} bits: one is needed"
        if key == "enable" and field and field.access not in ("rw", "wo"):
            yield (*path, key), f"{named} is {field.access}, not rw or wo"
    if interrupt.enable and not interrupt.status:
        yield (*path, "enable"), "without a status, nothing enables it: leave enable out"
    if interrupt.vector >= vectors:
        reason = f"vector {interrupt.vector} is not one of the card's {vectors}: 0 is the first"
        yield (*path, "vector"), reason


def _transfer(path: Path, transfer: Buffer, registers: dict[str, Register], known: Known) -> Broken:
    keys = ["address", "length", "doorbell"]
    if isinstance(transfer, Ring):
        keys += ["head", "tail"]
        if transfer.bytes_max % transfer.entry_bytes:
            reason = f"bytes_max {transfer.bytes_max} is no multiple of {transfer.entry_bytes}"
            yield (*path, "bytes_max"), f"{reason}, the size of an entry"
    for key in keys:
        named = getattr(transfer, key)
        if not known.has_register(named):
            yield (*path, key), unknown("register", named, known.registers)
    doorbell = registers.get(transfer.doorbell)
    if doorbell and doorbell.kind != "doorbell":
        yield (*path, "doorbell"), f"{doorbell.name} is of kind {doorbell.kind}, not doorbell"
    if not _power_of_two(transfer.alignment):
        yield (*path, "alignment"), f"{transfer.alignment} is no power of two"


def _power_of_two(number: int) -> bool:
    return number & (number - 1) == 0
