# SPDX-License-Identifier: MIT
"""Finds all mistakes of a specification, so that the author sees them together.

First, each part is checked alone.  A wrong part is set aside: an unknown key, an entry of a list,
or a key of the card.  Then rules.py checks the rules between the remaining parts.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from understudy_devices.base.catalog import unknown
from understudy_devices.cards import model, rules
from understudy_devices.cards.document import Place
from understudy_devices.cards.model import Card

SECTIONS: dict[str, type[model.Section]] = {
    "config": model.Config,
    "capabilities": model.Capabilities,
    "msi": model.Msi,
    "msix": model.Msix,
    "pm": model.Pm,
    "express": model.Express,
    "vendor": model.VendorCapability,
    "bars": model.Bar,
    "registers": model.Register,
    "fields": model.RegisterField,
    "values": model.EnumValue,
    "interrupts": model.Interrupt,
    "buffers": model.Buffer,
    "rings": model.Ring,
}
STAND_INS: dict[str, Any] = {
    "name": "card",
    "title": "-",
    "description": "-",
    "config": dict.fromkeys(model.Config.model_fields, 0),
    "capabilities": {},
    "interrupts": [],
    "buffers": [],
    "rings": [],
}
NEEDED = ("bars", "registers")  # without them nothing is left to check
EXPECTED = {
    "too_short": "should have an entry",
    "int_type": "should be a whole number, as 12 or 0x0c",
    "string_type": "should be text; put it in quotes if it looks like a number",
    "tuple_type": "should be a list, with a dash before each entry",
    "model_type": "should be keys with values, as name: X",
}
PATTERNS: dict[object, str] = {
    model.CARD_NAME: "should have small letters, digits and _, a letter first; 31 at most",
    model.NAME: f"should have capitals, digits and _, a capital first; {model.NAME_MAX} at most",
    model.SOURCE_NAME: "should have small letters, digits and _, a letter first; 63 at most",
}
NAMES_MAX = model.REGISTERS_MAX * model.BITS_MAX
ALL_BARS = range(6)
SHOWN = 40  # letters of a wrong value in a message


class Mistakes:
    """The mistakes of a document (`found`: path and reason); `card` is set only if there are
    none."""

    def __init__(self, data: dict[str, Any]) -> None:
        """Check a document; the check modifies it."""
        self.card: Card | None = None
        self.found: list[tuple[Place, str]] = []
        self._data = data
        self._incomplete: set[str] = set()
        self._has_vectors = True
        self._places = dict(_places(data, ()))
        self._bars = frozenset(_bar_numbers(data))
        self._registers = frozenset(islice(_register_names(data), NAMES_MAX))
        self._fields = frozenset(islice(_field_names(data), NAMES_MAX))
        self._uncounted = frozenset(_uncounted(data))
        self._nameless = any(_nameless(data))
        self._check()

    def _check(self) -> None:
        try:
            card = Card.model_validate(_tuples(self._data))
        except ValidationError as error:
            details = error.errors(include_url=False)
            self.found += [
                (self._place(detail["loc"]), _reason(detail))
                for detail in details
                if not (detail["type"] == "too_short" and detail["input"])  # its entries are wrong
            ]
            if self._set_aside(details):
                self._check()
            return
        known = rules.Known(
            self._bars,
            self._registers,
            self._fields,
            frozenset(self._incomplete),
            self._uncounted,
            self._nameless,
            self._has_vectors,
        )
        broken = list(rules.broken(card, known))
        self.found += [(self._place(path), reason) for path, reason in broken]
        self.card = None if self.found else card

    def _place(self, path: Place) -> Place:
        """Return the path that a part had in the document before other parts were removed."""
        node: Any = self._data
        place: Place = ()
        for step in path:
            place = self._places.get(id(node), place)
            place = (*place, step)
            try:
                node = node[step]
            except (KeyError, IndexError, TypeError):
                break
        return self._places.get(id(node), place)

    def _set_aside(self, details: Iterable[ErrorDetails]) -> bool:
        """Remove parts that are wrong by themselves; return whether anything is left to check."""
        entries = [self._wrong_part(detail) for detail in details]
        for container, key in entries:
            if key == "capabilities" or container is self._data.get("capabilities"):
                self._has_vectors = False
            if isinstance(container, list):
                container[:] = [entry for entry in container if entry is not key]
            elif container is self._data and key in STAND_INS:
                container[key] = STAND_INS[key]
            else:
                container.pop(key, None)
        return all(isinstance(self._data.get(key), list) and self._data[key] for key in NEEDED)

    def _wrong_part(self, detail: ErrorDetails) -> tuple[Any, Any]:
        """Return the mapping or list that contains the wrong part, and the part's key or entry."""
        path = detail["loc"]
        if detail["type"] == "extra_forbidden":
            return self._at(path[:-1]), path[-1]
        numbered = [
            index
            for index, step in enumerate(path)
            if isinstance(step, int) and path[index - 1] in SECTIONS
        ]
        if not numbered:
            return self._data, path[0]
        last = numbered[-1]
        if path[last - 1] == "fields":
            self._incomplete.add(str(self._at(path[: last - 1]).get("name")))
        holder = self._at(path[:last])
        return holder, holder[path[last]]

    def _at(self, path: Place) -> Any:
        node: Any = self._data
        for step in path:
            node = node[step]
        return node


def _places(node: Any, place: Place) -> Iterator[tuple[int, Place]]:
    """Yield the id() and the path of each mapping."""
    if isinstance(node, dict):
        yield id(node), place
    pairs = node.items() if isinstance(node, dict) else enumerate(node)
    for step, child in pairs:
        if isinstance(child, dict | list):
            yield from _places(child, (*place, step))


def _tuples(node: Any) -> Any:
    """Return the data with tuples, which the models use, instead of lists."""
    if isinstance(node, dict):
        return {key: _tuples(value) for key, value in node.items()}
    return tuple(map(_tuples, node)) if isinstance(node, list) else node


def _each(node: dict[str, Any], section: str, key: str) -> Iterator[Any]:
    """Yield the existing values of a key in the entries of a list."""
    entries = node.get(section)
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, dict) and isinstance(entry.get(key), str | int):
            yield entry[key]


def _bar_numbers(data: dict[str, Any]) -> Iterable[int]:
    """Return the numbers of the BARs; all that there can be if one of them is wrong."""
    bars = data.get("bars")
    entries = bars if isinstance(bars, list) else []
    numbers: list[Any] = [one.get("number") if isinstance(one, dict) else None for one in entries]
    return numbers if all(type(one) is int and one in ALL_BARS for one in numbers) else ALL_BARS


def _registers(data: dict[str, Any]) -> list[dict[str, Any]]:
    registers = data.get("registers")
    entries = registers if isinstance(registers, list) else []
    return [register for register in entries if isinstance(register, dict)]


def _register_names(data: dict[str, Any]) -> Iterator[str]:
    for register in _registers(data):
        yield from _elements(register)


def _elements(register: dict[str, Any]) -> Iterator[str]:
    """Yield the name of a register, or of the elements of an array; if its count is wrong, that of
    the array.
    """
    name, count = register.get("name"), register.get("count", 1)
    if _is_count(count) and count > 1:
        yield from (f"{name}_{index}" for index in range(count))
    else:
        yield str(name)


def _is_count(count: Any) -> bool:
    return type(count) is int and 1 <= count <= model.REGISTERS_MAX


def _uncounted(data: dict[str, Any]) -> Iterator[str]:
    """Yield the names of arrays whose count is wrong."""
    for register in _registers(data):
        if not _is_count(register.get("count", 1)):
            yield str(register.get("name"))


def _nameless(data: dict[str, Any]) -> Iterator[bool]:
    """Yield for each register and field whether it has no name that could be one."""
    registers = data.get("registers")
    for register in registers if isinstance(registers, list) else []:
        fields = register.get("fields") if isinstance(register, dict) else None
        for part in (register, *(fields if isinstance(fields, list) else ())):
            name = part.get("name") if isinstance(part, dict) else None
            yield not (isinstance(name, str) and re.match(model.NAME, name))


def _field_names(data: dict[str, Any]) -> Iterator[str]:
    for register in _registers(data):
        for name in _each(register, "fields", "name"):
            yield from (f"{one}.{name}" for one in _elements(register))


def _reason(detail: ErrorDetails) -> str:
    """Return a line with the key, its value, and the values that it may have."""
    path, kind = detail["loc"], detail["type"]
    key = next((str(step) for step in reversed(path) if isinstance(step, str)), "card")
    if kind == "extra_forbidden":
        section = next((step for step in reversed(path[:-1]) if isinstance(step, str)), None)
        keys = (SECTIONS[section] if section else Card).model_fields
        return unknown("key", str(path[-1]), keys)
    if kind == "missing":
        return f'missing key "{key}"'
    value = repr(detail["input"])
    value = value if len(value) <= SHOWN else f"{value[: SHOWN - 3]}..."
    expected = EXPECTED.get(kind) or PATTERNS.get(detail.get("ctx", {}).get("pattern"))
    return f"{key}: {value}: {expected or detail['msg'].removeprefix('Value error, ')}"
