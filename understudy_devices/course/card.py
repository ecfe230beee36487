# SPDX-License-Identifier: MIT
"""Variants of a card: the same card with other names, offsets, bits, codes and IDs, and with a
doorbell that wants a key.

A driver for one variant does not compile for another, since the header has other names; with the
names changed, the card ignores its doorbell, since the key is in the manual alone.  All variants
have as many registers and bits, so they are equally difficult.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from understudy_devices.base.catalog import pick
from understudy_devices.base.paths import cards_dir
from understudy_devices.cards import specification
from understudy_devices.cards.model import Card
from understudy_devices.cards.yaml_text import yaml_text
from understudy_devices.course.draws import SEED_BITS, Draws

SLOT_BYTES = 8
GAP_SLOTS = 4
KEY_BITS = 32
SEED_MAX = 2**SEED_BITS - 1


@dataclass(frozen=True)
class Original:
    """What may change in a card of the project.

    `words` are names and their synonyms; a name that a program in the guest uses has none.
    `doorbell` is the register with the key; `before` is the code in NAME.c that checks it, and
    `after` the code of a variant.  `rings` is where the reference driver rings it.  If NAME.c
    compares registers' indexes, their order stays (`ordered`).
    """

    words: Mapping[str, Sequence[str]]
    doorbell: str
    before: str
    after: str
    rings: str
    ordered: bool
    id_value: str


FLAGS = {
    "STATUS": ("STATE", "EVENTS", "FLAGS", "CAUSES"),
    "ENABLE": ("NOTIFY", "WANTED", "INTERRUPTS", "ALERTS"),
    "ID": ("MAGIC", "SIGNATURE", "IDENTITY", "MARK"),
}
ORIGINALS = {
    "copier": Original(
        words=FLAGS
        | {
            "COMMAND": ("OPCODE", "TASK", "ACTION", "ORDER"),
            "SOURCE": ("FROM", "ORIGIN", "INPUT", "READ_AT"),
            "DESTINATION": ("TARGET", "OUTPUT", "SINK", "WRITE_AT"),
            "LENGTH": ("SIZE", "EXTENT", "SPAN", "AMOUNT"),
            "PATTERN": ("FILLER", "PADDING", "STAMP", "SEED"),
            "START": ("GO", "LAUNCH", "KICK", "TRIGGER"),
            "ERROR": ("FAULT", "REASON", "TROUBLE", "MISTAKE"),
            "CHECKSUM": ("CRC", "DIGEST", "SUM", "HASH"),
            "COMPLETED": ("COUNT", "TALLY", "ENDED", "CARRIED_OUT"),
            "DONE": ("FINISHED", "COMPLETE", "SERVED", "OVER"),
            "FAILED": ("BROKEN", "STOPPED", "REFUSED", "ABORTED"),
            "BUSY": ("RUNNING", "ACTIVE", "WORKING", "OCCUPIED"),
            "BUSY_WRITE": ("RUNNING_STORE", "EARLY_WRITE", "TOO_SOON", "INTERFERED"),
        },
        doorbell="START",
        before="if (index != COPIER_INDEX_START)",
        after="if (index != COPIER_INDEX_START || value != {key})",
        rings="iowrite32(1, registers + COPIER_START)",
        ordered=False,
        id_value="0x43505901",
    ),
    "zach1": Original(
        words=FLAGS
        | {
            "DMA_ADDRESS": ("LIST_ADDRESS", "BATCH_ADDRESS", "BUFFER_ADDRESS", "FETCH_ADDRESS"),
            "DMA_LENGTH": ("LIST_LENGTH", "BATCH_LENGTH", "BUFFER_LENGTH", "FETCH_LENGTH"),
            "DMA_START": ("LIST_GO", "BATCH_RUN", "BUFFER_START", "FETCH_START"),
            "DMA_DONE": ("LIST_DRAWN", "BATCH_OVER", "BUFFER_DONE", "FETCH_ENDED"),
            "DMA_BUSY": ("LIST_BUSY", "BATCH_RUNNING", "BUFFER_IN_USE", "FETCHING"),
            "FAILED": ("BROKEN", "STOPPED", "REFUSED", "ABORTED"),
        },
        doorbell="DMA_START",
        before="else if (index == ZACH1_INDEX_DMA_START)\n\t\tstart_dma(device);",
        after="else if (index == ZACH1_INDEX_DMA_START) {{\n\t\tif (value == {key})\n"
        "\t\t\tstart_dma(device);\n\t}}",
        rings="iowrite32(1, zach1->registers + ZACH1_DMA_START)",
        ordered=True,
        id_value="0x5a434801",
    ),
}


@dataclass(frozen=True)
class Variant:
    """A drawn card: its specification, its behaviour in C, and how names have changed."""

    card: Card
    behaviour: str
    names: Mapping[str, str]
    key: int

    def driver(self) -> str:
        """Return the project's reference driver, changed for this card."""
        name = self.card.name
        code = (cards_dir() / "drivers" / f"{name}_driver.c").read_text(encoding="utf-8")
        rings = ORIGINALS[name].rings
        if rings not in code:
            raise ValueError(f"the reference driver of {name} has changed: course/card.py")
        code = code.replace(rings, rings.replace("iowrite32(1,", f"iowrite32({self.key:#010x},"))
        return _renamed_code(code, name, self.names)

    def files(self) -> dict[str, bytes]:
        """Return the card's files, which need a folder of their own."""
        found = {
            f"{self.card.name}.yaml": yaml_text(self.card).encode(),
            f"{self.card.name}.c": self.behaviour.encode(),
        }
        for file in sorted((cards_dir() / "drivers").glob(f"{self.card.name}_*")):
            if file.name.endswith(("_exercise", "_driver.h")):
                found[f"drivers/{file.name}"] = file.read_bytes()
        return found


def of_seed(name: str, seed: int) -> Variant:
    """Return the variant of a seed, from 1 to SEED_MAX; UserError if the card has no variants."""
    pick("card with variants", name, ORIGINALS)
    return variant(name, Draws.of(b"", "card", name, str(seed)))


def variant(name: str, draws: Draws) -> Variant:
    """Draw a variant of a card in ORIGINALS."""
    original = ORIGINALS[name]
    names = {word: draws.choice(word, others) for word, others in sorted(original.words.items())}
    key = draws.between("key", 2, 2**KEY_BITS - 2)
    raw = specification.load(name).model_dump(mode="json", exclude_defaults=True)
    table = _renamed(raw, names)
    _place(table, draws, ordered=original.ordered)
    doorbell = names[original.doorbell]
    for register in table["registers"]:
        _change(register, draws)
        if register["name"] == doorbell:
            register["description"] = (
                f"A write of {key:#010x} starts; the card ignores any other value."
            )
    table["config"]["device"] = draws.between("device", 0x1000, 0xFFFE)
    text = json.dumps(table)
    text = text.replace(original.id_value, f"{_id(draws):#010x}")
    behaviour = (cards_dir() / f"{name}.c").read_text(encoding="utf-8")
    if original.before not in behaviour:
        raise ValueError(f"cards/{name}.c has changed: course/card.py looks for its doorbell")
    behaviour = behaviour.replace(original.before, original.after.format(key=f"{key:#010x}"))
    behaviour = _renamed_code(behaviour, name, names)
    return Variant(Card.model_validate_json(text), behaviour, names, key)


def _id(draws: Draws) -> int:
    return draws.between("id", 2**24, 2**32 - 2)


def _renamed(node: Any, names: Mapping[str, str]) -> Any:
    """Return a specification with other names, in its keys' values and in its descriptions."""
    words = sorted(names, key=len, reverse=True)
    upper = re.compile(rf"(?<![A-Za-z0-9_])({'|'.join(words)})(?![A-Za-z0-9_])")
    lower = {word.lower(): other.lower() for word, other in names.items()}

    def text(value: str, key: str) -> str:
        if key == "name" and value in lower:  # of an interrupt or a buffer
            return lower[value]
        return upper.sub(lambda match: names[match[1]], value)

    def walk(part: Any, key: str = "") -> Any:
        if isinstance(part, dict):
            return {name: walk(value, name) for name, value in part.items()}
        if isinstance(part, list):
            return [walk(value, key) for value in part]
        return text(part, key) if isinstance(part, str) else part

    return walk(node)


def _renamed_code(code: str, name: str, names: Mapping[str, str]) -> str:
    """Return C code with other names in its identifiers that begin with the card's name."""
    words = sorted(names, key=len, reverse=True)
    inside = re.compile(rf"(?<=_)({'|'.join(words)})(?=_|$)")
    small = re.compile(inside.pattern.lower())

    def changed(match: re.Match[str]) -> str:
        word = match[0]
        if word.endswith(("_VENDOR_ID", "_DEVICE_ID")):  # of the config space
            return word
        if word.isupper():
            return inside.sub(lambda it: names[it[1]], word)
        return small.sub(lambda it: names[it[1].upper()].lower(), word)

    return re.sub(rf"\b(?:{name}|{name.upper()})_\w+", changed, code)


def _place(table: dict[str, Any], draws: Draws, *, ordered: bool) -> None:
    """Give each register another offset."""
    registers = sorted(table["registers"], key=lambda one: (one["bar"], one["offset"]))
    if not ordered:
        registers = draws.shuffled("places", registers)
    slot = draws.below("first place", GAP_SLOTS)
    for register in registers:
        register["offset"] = slot * SLOT_BYTES
        slot += 1 + draws.below(f"gap {register['name']}", GAP_SLOTS)
    table["registers"] = sorted(registers, key=lambda one: int(one["offset"]))


def _change(register: dict[str, Any], draws: Draws) -> None:
    """Draw a register's ID, the places of its flags, and its error codes."""
    mine = draws.child(f"register {register['name']}")
    if "Always 0x" in register["description"]:
        register["reset"] = _id(draws)
    fields = register.get("fields", [])
    flags = [field for field in fields if str(field["bits"]).isdigit()]
    if fields and len(flags) == len(fields):
        places = mine.shuffled("bits", list(range(register["width"])))
        for field, place in zip(flags, places, strict=False):
            field["bits"] = str(place)
        fields.sort(key=lambda field: int(field["bits"]))
    for field in fields:
        values = field.get("values", [])
        if field["name"] == "CODE" and values:
            codes = mine.shuffled("codes", [each["value"] for each in values if each["value"]])
            for each, code in zip((it for it in values if it["value"]), codes, strict=True):
                each["value"] = code
