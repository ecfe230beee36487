# SPDX-License-Identifier: MIT
"""A card from SystemRDL: a file from rdl_export.py, or any addrmap with the project's properties.

An array of registers stays an array if it has one dimension.  Registers in register files are
named by their path, such as CHANNEL_1_STATUS.  A memory that is no BAR is an array of registers, or
has the registers that it declares.
What hardware does with a field (counters, hw, intr) is a card's behaviour, which is written in C,
so it is left out.  Features that a card can't have are mistakes, each with its line, such as other
accesses of software.  All mistakes are reported at once, unless the file is not SystemRDL.
"""

from collections.abc import Sequence
from itertools import product
from math import prod
from pathlib import Path
from typing import Any, cast

from systemrdl.node import AddressableNode, AddrmapNode, FieldNode, MemNode, Node, RegNode
from systemrdl.rdltypes.user_struct import UserStruct

from understudy_devices.cards.document import Place
from understudy_devices.cards.mistakes import Mistakes
from understudy_devices.cards.model import BITS_MAX, REGISTERS_MAX, Card
from understudy_devices.cards.rdl_properties import NUMBER, PROPERTIES, TEXT, WAYS
from understudy_devices.cards.rdl_source import compiled, mistake
from understudy_devices.cards.rdl_string import plain
from understudy_devices.cards.wrong import WrongCard

BAR_BYTES_MIN = 4096
VALUES: dict[str, type] = {TEXT: str, NUMBER: int, "boolean": object}
Ids = tuple[int, int]
ACCESS = {ways: access for access, ways in WAYS.items()}
CLASS = 0xFF0000  # a device that is in no class
NO_IDS = "no pci_config: give its PCI IDs with --ids VENDOR:DEVICE, or set that property"
VARIES = "its reset is a signal's or another field's value: write a number"
OUTSIDE = "it is in no BAR, since others have pci_bar_number: put it into an addrmap that has one"
WRITTEN = "_WRITTEN"
KNOWN = "a card has rw, ro, wo, and one effect of a read or of a write"


def load_rdl(file: Path, before: Sequence[Path] = (), ids: Ids | None = None) -> Card:
    """Return the card in a .rdl file; raise one WrongCard with all mistakes.

    The files `before` declare what it uses.  ids: vendor and device of a file without pci_config.
    """
    return _Reader(file, compiled(file, before), ids).card()


class _Reader:
    """Converts the nodes to a document like the YAML file's, and remembers which part is which."""

    def __init__(self, file: Path, top: AddrmapNode, ids: Ids | None) -> None:
        self._file, self._top, self._ids = file, top, ids
        self._nodes: dict[Place, Node] = {(): top}
        self._wrong: list[tuple[int, str]] = []
        self._number = 0  # of registers and memories, with each element of an array

    def card(self) -> Card:
        """Return the card; raise a WrongCard with all mistakes."""
        document = self._document()
        mistakes = Mistakes(document)
        for place, reason in mistakes.found:
            self._refuse(self._nearest(place), reason)
        if self._wrong:
            raise WrongCard(str(self._file), self._wrong)
        assert mistakes.card, "a document without mistakes is a card"
        return mistakes.card

    def _refuse(self, node: Node, reason: str) -> None:
        self._wrong.append(mistake(self._file, node, reason))

    def _nearest(self, place: Place) -> Node:
        while place not in self._nodes:
            place = place[:-1]
        return self._nodes[place]

    def _document(self) -> dict[str, Any]:
        parts = [node for node in self._top.children() if isinstance(node, AddressableNode)]
        windows = [node for node in parts if self._own(node, "pci_bar_number") is not None]
        for node in parts:
            if windows and node not in windows:
                self._refuse(node, f"{node.inst_name}: {OUTSIDE}")
        document: dict[str, Any] = {
            "name": self._top.inst_name.lower(),
            "title": _text(self._top, "name"),
            "description": _text(self._top),
            "bars": [],
            "registers": [],
        }
        if (functions := self._own(self._top, "pci_functions")) is not None:
            document["functions"] = functions
        if capabilities := self._capabilities():
            document["capabilities"] = capabilities
        document["config"] = self._config()
        for key in ("interrupts", "buffers", "rings"):
            if structures := self._own(self._top, f"pci_{key}"):
                document[key] = [_members(one) for one in structures]
        for number, window in enumerate(windows or [self._top]):
            self._nodes["bars", number] = window
            bar = self._bar(window)
            document["bars"].append(bar)
            self._add_registers(window, bar["number"], document["registers"])
        return document

    def _config(self) -> dict[str, Any]:
        given = self._own(self._top, "pci_config")
        if given and self._ids:
            self._refuse(self._top, "it has a pci_config: leave --ids away")
        elif not given and not self._ids:
            self._refuse(self._top, NO_IDS)
        if given:
            return _members(given)
        vendor, device = self._ids or (0, 0)
        return {
            "vendor": vendor,
            "device": device,
            "subsystem_vendor": vendor,
            "subsystem": device,
            "class_code": CLASS,
            "revision": 0,
        }

    def _capabilities(self) -> dict[str, Any]:
        capabilities: dict[str, Any] = {}
        if vectors := self._own(self._top, "pci_msi_vectors"):
            capabilities["msi"] = {"vectors": vectors}
        if vectors := self._own(self._top, "pci_msix_vectors"):
            msix = {"vectors": vectors, "bar": self._own(self._top, "pci_msix_bar") or 0}
            for key in ("table", "pending"):
                if (place := self._own(self._top, f"pci_msix_{key}")) is not None:
                    msix[key] = place
            capabilities["msix"] = msix
        for name, key in (("pm", "no_soft_reset"), ("express", "flr"), ("express", "aer")):
            if (value := self._own(self._top, f"pci_{name}_{key}")) is not None:
                section = capabilities.setdefault(name, {})
                section[key] = bool(value) if value in (0, 1) else value
        if parts := self._own(self._top, "pci_vendor_capabilities"):
            capabilities["vendor"] = [_members(one) for one in parts]
        return capabilities

    def _bar(self, window: AddressableNode) -> dict[str, Any]:
        size = max(window.size, BAR_BYTES_MIN)
        return {
            "number": self._own(window, "pci_bar_number") or 0,
            "name": window.inst_name.upper(),
            "bytes": self._own(window, "pci_bar_bytes") or 1 << (size - 1).bit_length(),
            "kind": self._own(window, "pci_bar_kind") or "memory32",
            "description": _text(window),
        }

    def _own(self, node: Node, name: str) -> Any:
        """Return the value of one of the project's properties; None if it is not declared, not
        allowed for this node, or not set.
        """
        try:
            value = node.get_property(name, default=None)
        except LookupError:
            return None
        kind = PROPERTIES[name][1]
        parts = value if kind.endswith("[]") and isinstance(value, list) else [value]
        if value is None or all(isinstance(part, VALUES.get(kind, UserStruct)) for part in parts):
            return value
        self._refuse(node, f"{name}: declare it as understudy does: {kind}")
        return None

    def _add_registers(
        self, window: AddressableNode, bar: int, registers: list[dict[str, Any]]
    ) -> None:
        for node in window.descendants(unroll=False):
            self._count(node)
        for node in window.descendants(unroll=True):
            place: Place = ("registers", len(registers))
            if isinstance(node, MemNode) and not _has_registers(node):
                self._nodes[place] = node
                registers.append(self._words(node, window, bar))
            elif isinstance(node, RegNode) and not _is_later_element(node):
                for ending, fields in _sides(node):
                    place = ("registers", len(registers))
                    self._nodes[place] = node
                    register = self._register(place, node, fields, window, bar)
                    registers.append(register | {"name": register["name"] + ending})

    def _count(self, node: Node) -> None:
        """Count a register or a memory's words, with all elements, before a loop walks these."""
        if isinstance(node, MemNode) and not _has_registers(node):
            number, advice = node.get_property("mementries"), "make this memory a BAR"
        elif isinstance(node, RegNode):
            number, advice = 1, "no card has so many"
        else:
            return
        part = cast(Node | None, node)
        while isinstance(part, AddressableNode):
            number *= prod(part.array_dimensions or ())
            part = part.parent
        self._number += number
        if self._number > REGISTERS_MAX:
            reason = f"more than {REGISTERS_MAX} registers: {advice}"
            raise WrongCard(str(self._file), [mistake(self._file, node, reason)])

    def _words(self, node: MemNode, window: AddressableNode, bar: int) -> dict[str, Any]:
        return {
            "name": _path(node, window).upper(),
            "bar": bar,
            "offset": node.absolute_address - window.absolute_address,
            "width": node.get_property("memwidth"),
            "access": self._access(node),
            "description": _text(node),
            "count": node.get_property("mementries"),
        }

    def _register(
        self,
        place: Place,
        node: RegNode,
        fields: Sequence[FieldNode],
        window: AddressableNode,
        bar: int,
    ) -> dict[str, Any]:
        name = _path(node, window)
        array: dict[str, Any] = {}
        if _is_array(node):
            assert node.array_dimensions
            name = name.removesuffix("_0")
            array = {"count": node.array_dimensions[0], "stride": node.array_stride}
        register = {
            "name": name.upper(),
            "bar": bar,
            "offset": node.absolute_address - window.absolute_address,
            "width": node.get_property("regwidth"),
            "kind": self._own(node, "pci_register_kind") or "plain",
            "description": _text(node),
        } | array
        if node.get_property("regwidth") > BITS_MAX:
            return register | {"access": "ro"}  # one mistake, not also one of each field
        if self._own(node, "pci_one_value") and len(fields) == 1:
            value = {"access": self._access(fields[0]), "reset": self._reset(fields[0])}
            return register | {key: entry for key, entry in value.items() if entry is not None}
        for number, field in enumerate(fields):
            self._nodes[*place, "fields", number] = field
        return register | {"fields": [self._field(field) for field in fields]}

    def _field(self, node: FieldNode) -> dict[str, Any]:
        field: dict[str, Any] = {
            "name": node.inst_name.upper(),
            "bits": f"{node.high}:{node.low}",
            "access": self._access(node),
            "reset": self._reset(node) or 0,
            "description": _text(node),
        }
        if values := node.get_property("encode"):
            field["values"] = [
                {
                    "name": entry.name.upper(),
                    "value": int(entry.value),
                    "description": plain(entry.rdl_desc or entry.rdl_name or entry.name),
                }
                for entry in values
            ]
        return field

    def _reset(self, node: FieldNode) -> Any:
        reset = node.get_property("reset")
        if isinstance(reset, Node):
            self._refuse(node, f"{node.inst_name}: {VARIES}")
            return 0
        return reset

    def _access(self, node: FieldNode | MemNode) -> str:
        keys = ("sw", "onread", "onwrite") if isinstance(node, FieldNode) else ("sw",)
        names = [way.name if (way := node.get_property(key)) else None for key in keys]
        ways = (*names, None, None)[:3]
        if ways in ACCESS:
            return ACCESS[ways]
        kind = ", ".join(filter(None, names))
        self._refuse(node, f"{node.inst_name}: {kind}: {KNOWN}")
        return "ro" if str(names[0]).startswith("r") else "wo"


def _path(node: AddressableNode, window: AddressableNode) -> str:
    return node.get_rel_path(window, hier_separator="_", array_suffix="_{index:d}")


def _has_registers(memory: MemNode) -> bool:
    return any(isinstance(node, RegNode) for node in memory.descendants())


def _sides(node: RegNode) -> list[tuple[str, list[FieldNode]]]:
    """Return the register's fields, after "".  If some bits are one field for reads and another
    field for writes, these are two registers: fields of each, after the ending of its name.
    """
    fields = list(node.fields())
    if node.get_property("regwidth") > BITS_MAX:
        return [("", fields)]
    read, written = (
        [field for field in fields if field.get_property("sw").name == way] for way in ("r", "w")
    )
    pairs = product(read, written)
    overlap = any(one.low <= other.high and other.low <= one.high for one, other in pairs)
    if overlap and len(read) + len(written) == len(fields):
        return [("", read), (WRITTEN, written)]
    return [("", fields)]


def _is_array(node: RegNode) -> bool:
    """Return whether this is an element of an array with several elements in one dimension."""
    dimensions = node.array_dimensions or []
    return len(dimensions) == 1 and dimensions[0] > 1


def _is_later_element(node: RegNode) -> bool:
    return _is_array(node) and list(node.current_idx or ()) != [0]


def _members(structure: UserStruct) -> dict[str, Any]:
    members = {name: getattr(structure, name) for name in structure.members}
    return {
        key: plain(one) if isinstance(one, str) else one
        for key, one in members.items()
        if one != ""
    }


def _text(node: Node, *keys: str) -> str:
    """Return the first of these texts that is there, by default the description or the name."""
    texts = (plain(node.get_property(key) or "") for key in keys or ("desc", "name"))
    return next(filter(None, texts), node.inst_name)
