# SPDX-License-Identifier: MIT
"""A card as the text of a specification, as a person would write it, without comments.

Keys with default values are left out.  Addresses, IDs and reset values are hexadecimal.
"""

from io import StringIO
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedSeq
from ruamel.yaml.scalarint import HexInt
from ruamel.yaml.scalarstring import LiteralScalarString

from understudy_devices.cards.model import Card

DIGITS = {"class_code": 6, "revision": 2, "reset": 1, "value": 1, "data": 2}
DIGITS |= dict.fromkeys(("offset", "stride", "table", "pending"), 3)
DIGITS |= dict.fromkeys(("vendor", "device", "subsystem_vendor", "subsystem"), 4)
WIDTH = 2**20  # no line is wrapped


def yaml_text(card: Card) -> str:
    """Return the text; specification.parse returns the same card from it."""
    writer = YAML()
    writer.indent(mapping=2, sequence=4, offset=2)
    writer.width = WIDTH
    written = StringIO()
    writer.dump(notation(card.model_dump(mode="json", exclude_defaults=True)), written)
    return written.getvalue()


def notation(node: Any, key: str = "") -> Any:
    """Return a part of a document, the value of this key, with its numbers as people write them."""
    if isinstance(node, dict):
        return {key: notation(value, key) for key, value in node.items()}
    if isinstance(node, list):
        values = CommentedSeq(notation(value, key) for value in node)
        if all(isinstance(value, int) for value in node):
            values.fa.set_flow_style()
        return values
    if key in DIGITS and isinstance(node, int):
        return HexInt(node, width=DIGITS[key])
    if key == "bits" and isinstance(node, str) and node.isdigit():
        return int(node)
    return LiteralScalarString(node) if _in_paragraphs(node) else node


def _in_paragraphs(node: Any) -> bool:
    """Return whether a text can be written as a block, line by line."""
    if not isinstance(node, str) or "\n" not in node:
        return False
    return all(line == line.strip() and line.isprintable() for line in node.split("\n"))
