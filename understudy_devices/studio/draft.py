# SPDX-License-Identifier: MIT
"""A card while it is designed: the text of a specification, with all its mistakes at their places,
and the files that are generated from it.

The designer works on the document, a mapping as in the file, which may be wrong.  `edited` writes
it over the text from which it was read, so that comments and the order of keys stay.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from io import StringIO
from pathlib import PurePath
from typing import Any

from ruamel.yaml import YAML

from understudy_devices.cards.document import Document, Place
from understudy_devices.cards.driver import driver, makefile
from understudy_devices.cards.header import header
from understudy_devices.cards.mistakes import Mistakes
from understudy_devices.cards.model import Card
from understudy_devices.cards.output_files import marked
from understudy_devices.cards.rdl_export import rdl
from understudy_devices.cards.selftest import selftest
from understudy_devices.cards.wrong import WrongCard
from understudy_devices.cards.yaml_text import DIGITS, WIDTH, notation
from understudy_devices.show.card.programmer import programmers_manual
from understudy_devices.show.card.reference import reference_manual

SAFE_MOST = 2**53 - 1
HEXADECIMAL = re.compile(r"0x[0-9a-f]{1,16}")


@dataclass(frozen=True)
class Mistake:
    """A mistake: its line in the text, the place of the part in the document, and the reason."""

    line: int
    place: Place
    reason: str


@dataclass(frozen=True)
class Draft:
    """A checked text.  document: None if it is no YAML; card: None if there are mistakes."""

    text: str
    document: dict[str, Any] | None
    card: Card | None
    mistakes: tuple[Mistake, ...]

    def as_json(self) -> dict[str, Any]:
        """Return what the designer shows."""
        return {
            "text": self.text,
            "document": safe(self.document),
            "mistakes": [
                {"line": one.line, "place": list(one.place), "reason": one.reason}
                for one in self.mistakes
            ],
            "files": files(self.card) if self.card else None,
        }


def checked(text: str) -> Draft:
    """Check a text."""
    raw = text.encode()
    try:
        document = Document("card", raw)
        data = Document("card", raw).data  # the check below modifies it
    except WrongCard as wrong:
        found = tuple(Mistake(line, (), reason) for line, reason in wrong.mistakes)
        return Draft(text, None, None, found)
    mistakes = Mistakes(data)
    found = tuple(Mistake(document.line(place), place, why) for place, why in mistakes.found)
    return Draft(text, document.data, mistakes.card, found)


@lru_cache(maxsize=16)
def files(card: Card) -> dict[str, str]:
    """Return the generated files that are text, as `understudy card generate` writes them."""
    texts = {
        f"{card.name}_registers.h": header(card),
        f"{card.name}.rdl": rdl(card),
        f"{card.name}_driver.c": driver(card),
        f"{card.name}_selftest.c": selftest(card),
        "Makefile": makefile(card),
        "reference.html": reference_manual(card),
        "programmer.html": programmers_manual(card),
    }
    return {
        name: marked(card.name, PurePath(name).suffix, text.encode()).decode()
        for name, text in texts.items()
    }


def edited(text: str, document: dict[str, Any]) -> str:
    """Return the text of a document that was read from another text, and then changed.

    Comments stay with the parts that are still there. Numbers may be hexadecimal text.
    """
    document = _exact(document)
    writer = YAML()
    writer.indent(mapping=2, sequence=4, offset=2)
    writer.width = WIDTH
    writer.preserve_quotes = True
    try:
        root = writer.load(text) if text.strip() else {}
    except Exception:
        root = {}
    written = StringIO()
    writer.dump(_over(root, document) if isinstance(root, dict) else notation(document), written)
    return written.getvalue()


def safe(node: Any) -> Any:
    """Return a document without numbers that JavaScript would round: they become text."""
    if isinstance(node, dict):
        return {key: safe(value) for key, value in node.items()}
    if isinstance(node, list):
        return [safe(value) for value in node]
    is_long = type(node) is int and abs(node) > SAFE_MOST
    return hex(node) if is_long else node


def _exact(node: Any, key: str = "") -> Any:
    if isinstance(node, dict):
        return {name: _exact(value, name) for name, value in node.items()}
    if isinstance(node, list):
        return [_exact(value) for value in node]
    is_number = key in DIGITS and isinstance(node, str) and HEXADECIMAL.fullmatch(node)
    return int(node, 16) if is_number else node


def _over(old: Any, new: Any, key: str = "") -> Any:
    """Return the old node, changed to the new one's content."""
    if isinstance(old, dict) and isinstance(new, dict):
        for gone in [one for one in old if one not in new]:
            del old[gone]
        for one, value in new.items():
            old[one] = _over(old.get(one), value, one)
        return old
    if isinstance(old, list) and isinstance(new, list):
        known = {_name(entry): entry for entry in old}
        entries = [_over(known.get(_name(entry)), entry, key) for entry in new]
        if len(entries) == len(old) and all(a is b for a, b in zip(old, entries, strict=True)):
            return old
        return entries
    return old if old == new and type(new) is not bool else notation(new, key)


def _name(entry: Any) -> Any:
    return entry.get("name", entry.get("number")) if isinstance(entry, dict) else None
