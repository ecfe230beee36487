# SPDX-License-Identifier: MIT
"""A YAML 1.2 file as plain data, with the line number of each part.

Specifications use only mappings, lists, numbers and text.  A repeated key is an error.  So is an
alias, since aliases let a short file expand to a huge one.
"""

import re
import unicodedata
from collections.abc import Iterator
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import (
    AliasEvent,
    CollectionEndEvent,
    CollectionStartEvent,
    ScalarEvent,
)

from understudy_devices.base.plain import DANGEROUS
from understudy_devices.cards.wrong import WrongCard

BYTES_MAX = 2**20
MARK = "\ufeff"
"""The byte-order mark that some editors put at the beginning of a file."""
LONG_NUMBER = re.compile(r"[-+]?[0-9][0-9A-Fa-fox_]{99,}")
DEPTH_MAX = 32

Place = tuple[str | int, ...]


class Document:
    """A parsed file: its content (`data`), and the line number of each part (`line`)."""

    def __init__(self, name: str, raw: bytes) -> None:
        """Parse the file; raise a WrongCard if it is not YAML."""
        self._root = _parse(name, _text(name, raw))
        if not isinstance(self._root, dict):
            raise WrongCard(name, [(1, "a card is a mapping of keys: name: ..., bars: ...")])
        if refused := list(_refused(self._root)):
            raise WrongCard(name, refused)
        self.data: dict[str, Any] = _plain(self._root)

    def line(self, place: Place) -> int:
        """Return the line, from 1, of the part at a path; if it does not exist, of the nearest
        existing part around it.
        """
        node: Any = self._root
        line = 1
        for step in place:
            try:
                lines = node.lc
                position = lines.key(step) if isinstance(node, dict) else lines.item(step)
                node = node[step]
            except (AttributeError, KeyError, IndexError, TypeError):
                break
            line = position[0] + 1
        return line


def _text(name: str, raw: bytes) -> str:
    if len(raw) > BYTES_MAX:
        raise WrongCard(name, [(1, f"longer than {BYTES_MAX} bytes: no specification")])
    if not raw.strip():
        raise WrongCard(name, [(1, "the file is empty: begin with name: NAME")])
    try:
        text = raw.decode("utf-8").removeprefix(MARK)
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        reason = f"byte {raw[error.start]:#04x} is not UTF-8: save the file as UTF-8"
        raise WrongCard(name, [(line, reason)]) from error
    if wrong := list(controls(text)):
        raise WrongCard(name, wrong)
    return text


def controls(text: str) -> Iterator[tuple[int, str]]:
    """Yield (line, reason) of characters that would change how the lines around them look."""
    for number, line in enumerate(text.split("\n"), 1):
        characters = line.removesuffix("\r").replace("\t", " ")
        for each in dict.fromkeys(characters):
            if unicodedata.category(each) in DANGEROUS:
                name = unicodedata.name(each, "a control character")
                yield number, f"U+{ord(each):04X} ({name}) can't be seen: leave it out"


def _parse(name: str, text: str) -> Any:
    try:
        if foreign := list(_foreign(text)):
            raise WrongCard(name, foreign)
        return YAML().load(text)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        reason = " ".join((error.problem or error.context or "not YAML").split())
        reason = reason.partition(" with value ")[0]  # of a key that is there twice, in full
        raise WrongCard(name, [(mark.line + 1 if mark else 1, reason)]) from error
    except (YAMLError, ValueError, TypeError) as error:
        raise WrongCard(name, [(1, " ".join(str(error).split()))]) from error


def _foreign(text: str) -> Iterator[tuple[int, str]]:
    """Yield (line, reason) of YAML features that are refused: aliases, tags, merged keys, deep
    nesting.
    """
    depth = 0
    for event in YAML().parse(text):
        line = event.start_mark.line + 1
        depth += isinstance(event, CollectionStartEvent)
        depth -= isinstance(event, CollectionEndEvent)
        if depth > DEPTH_MAX:
            yield line, "nested too deep"
            return
        if isinstance(event, AliasEvent):
            yield line, "an alias stands for this: write it out"
        elif getattr(event, "tag", None):
            yield line, f"leave out the tag {event.tag}"
        elif getattr(event, "value", None) == "<<":
            yield line, "<< merges keys: write them out"
        elif isinstance(event, ScalarEvent):
            yield from ((line, reason) for _, reason in controls(event.value))
            if not event.style and LONG_NUMBER.fullmatch(event.value):
                yield line, f"a number of {len(event.value):,} digits: no register is so wide"


def _refused(node: Any) -> Iterator[tuple[int, str]]:
    """Yield (line, reason) of keys that are not text."""
    if not isinstance(node, dict | list):
        return
    for key in node if isinstance(node, dict) else ():
        if not isinstance(key, str):
            yield node.lc.key(key)[0] + 1, f"the key {key!r} is not text"  # type: ignore[union-attr]
    for child in node.values() if isinstance(node, dict) else node:
        yield from _refused(child)


def _plain(node: Any) -> Any:
    """Return the same data as plain Python types, without ruamel's comments and notations."""
    if isinstance(node, dict):
        return {_plain(key): _plain(value) for key, value in node.items()}
    if isinstance(node, list):
        return [_plain(value) for value in node]
    for kind in (bool, int, str):
        if isinstance(node, kind):
            return kind(node)
    return node
