# SPDX-License-Identifier: MIT
"""A card in SystemRDL 2.0; rdl_import.py reads the same card from it.

The card is an addrmap.  Each BAR is an addrmap inside it, or a memory if the BAR has no
registers.  A BAR has no fixed address on PCI; in the .rdl file, each BAR begins at the next
multiple of its size.
"""

from collections.abc import Iterable, Iterator, Sequence

from understudy_devices.cards.model import Bar, Card, Register, RegisterField, Section
from understudy_devices.cards.rdl_properties import WAYS, declarations
from understudy_devices.cards.rdl_string import quoted

Lines = Iterator[str]


def rdl(card: Card) -> str:
    """Return the text of a .rdl file."""
    inside = [*_of_card(card), *_bars(card)]
    return "\n".join([declarations(), "", f"addrmap \\{card.name} {{", *_in(inside), "};", ""])


def _of_card(card: Card) -> Lines:
    yield f"name = {quoted(card.title)};"
    yield f"desc = {quoted(card.description)};"
    yield from _assigned("pci_config", _structure("card_config", card.config))
    if card.functions > 1:
        yield f"pci_functions = {card.functions};"
    if card.capabilities.msi:
        yield f"pci_msi_vectors = {card.capabilities.msi.vectors};"
    if card.capabilities.msix:
        yield f"pci_msix_vectors = {card.capabilities.msix.vectors};"
        yield f"pci_msix_bar = {card.capabilities.msix.bar};"
        yield f"pci_msix_table = {card.capabilities.msix.table:#x};"
        yield f"pci_msix_pending = {card.capabilities.msix.pending:#x};"
    if card.capabilities.pm:
        yield f"pci_pm_no_soft_reset = {int(card.capabilities.pm.no_soft_reset)};"
    if card.capabilities.express:
        yield f"pci_express_flr = {int(card.capabilities.express.flr)};"
        yield f"pci_express_aer = {int(card.capabilities.express.aer)};"
    vendor = card.capabilities.vendor
    yield from _list("pci_vendor_capabilities", "card_vendor_capability", vendor)
    yield from _list("pci_interrupts", "card_interrupt", card.interrupts)
    yield from _list("pci_buffers", "card_buffer", card.buffers)
    yield from _list("pci_rings", "card_ring", card.rings)


def _assigned(name: str, value: list[str]) -> Lines:
    yield f"{name} = {value[0]}"
    yield from value[1:-1]
    yield f"{value[-1]};"


def _list(name: str, kind: str, parts: Sequence[Section]) -> Lines:
    inside: list[str] = []
    for part in parts:
        *lines, end = _structure(kind, part)
        inside += [*lines, end if part is parts[-1] else f"{end},"]
    if inside:
        yield from _assigned(name, ["'{", *_in(inside), "}"])


def _structure(kind: str, part: Section) -> list[str]:
    *members, last = (f"{name}: {_value(value)}" for name, value in part.model_dump().items())
    return [f"{kind}'{{", *_in([*(f"{member}," for member in members), last]), "}"]


def _value(value: int | str | tuple[int, ...] | None) -> str:
    if isinstance(value, int):
        return f"{value:#x}"
    if isinstance(value, tuple):
        return f"'{{{', '.join(map(_value, value))}}}"
    return quoted(value or "")


def _bars(card: Card) -> Lines:
    address = 0
    for bar in sorted(card.bars, key=lambda one: one.number):
        address = -(-address // bar.bytes) * bar.bytes
        registers = [register for register in card.registers if register.bar == bar.number]
        registers.sort(key=lambda one: one.offset)
        whole = [part for one in registers for part in _parts(one, registers, bar)]
        inside = [*_of_bar(bar), *(line for one in whole for line in _register(one))]
        if not registers:
            inside += [f"mementries = {bar.bytes};", "memwidth = 8;"]
        yield "addrmap {" if registers else "external mem {"
        yield from _in(inside)
        yield f"}} {bar.name} @{address:#x};"
        address += bar.bytes


def _parts(register: Register, others: Iterable[Register], bar: Bar) -> Iterable[Register]:
    """Return the register or array; its elements if another register lies between them, or if the
    BAR ends before the stride of the last one.  SystemRDL allows neither.
    """
    end = register.offset + register.count * register.step
    between = any(register.offset < one.offset < end for one in others)
    return register.elements() if between or end > bar.bytes else [register]


def _of_bar(bar: Bar) -> Lines:
    yield f"desc = {quoted(bar.description)};"
    yield f"pci_bar_number = {bar.number};"
    yield f"pci_bar_bytes = {bar.bytes:#x};"
    yield f"pci_bar_kind = {quoted(bar.kind)};"


def _register(register: Register) -> Lines:
    inside = [f"desc = {quoted(register.description)};", f"regwidth = {register.width};"]
    if register.kind != "plain":
        inside.append(f"pci_register_kind = {quoted(register.kind)};")
    if register.access:
        inside.append("pci_one_value;")
        ways = _ways(register)
        inside.append(f"field {{ {' '.join(ways)} }} VALUE[{register.width - 1}:0];")
    for field in register.fields:
        inside += _field(field)
    array, step = "", ""
    if register.count > 1:
        array, step = f"[{register.count}]", f" += {register.step:#x}"
    yield from ("reg {", *_in(inside), f"}} {register.name}{array} @{register.offset:#x}{step};")


def _field(field: RegisterField) -> Lines:
    inside = [f"desc = {quoted(field.description)};", *_ways(field)]
    if field.values:
        kind = f"{field.name.lower()}_e"
        yield from (f"enum {kind} {{", *_in(_values(field)), "};")
        inside.append(f"encode = {kind};")
    yield from ("field {", *_in(inside), f"}} {field.name}[{field.bits.high}:{field.bits.low}];")


def _values(field: RegisterField) -> Lines:
    for entry in field.values:
        value = f"{field.bits.count}'h{entry.value:x}"
        yield f"{entry.name} = {value} {{ desc = {quoted(entry.description)}; }};"


def _ways(part: Register | RegisterField) -> list[str]:
    """Return properties for access and reset value."""
    assert part.access, "a register without fields has an access"
    keys = zip(("sw", "onread", "onwrite"), WAYS[part.access], strict=True)
    ways = [f"{key} = {way};" for key, way in keys if way]
    count = part.width if isinstance(part, Register) else part.bits.count
    return ways + ([] if part.reset is None else [f"reset = {count}'h{part.reset:x};"])


def _in(lines: Iterable[str]) -> list[str]:
    """Return the lines, indented by one level, without changing texts of several lines."""
    return [f"\t{line}" for line in lines]
