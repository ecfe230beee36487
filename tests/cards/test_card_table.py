# SPDX-License-Identifier: MIT
"""The generated C table of a card, and accesses to its registers, compared with the YAML bit by
bit.

tests/card_accesses.c is the C side.  The expected values use neither the loader nor the generators.
"""

import random
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from card_texts import GOOD, RandomCard
from places import CHECKOUT
from ruamel.yaml import YAML

from understudy_devices.cards import specification
from understudy_devices.cards.table import table

pytestmark = pytest.mark.thorough

CHECKS = ["-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
STRICT = ["-std=gnu11", "-Wall", "-Wextra", "-Werror"]
KINDS = ["plain", "doorbell", "port"]
RANDOM_CARDS = 12
STEPS = 4000
TEXTS = {name: file.read_text() for name, file in specification.catalogue().items()}
TEXTS |= {"tiny": GOOD}
TEXTS |= {f"random{seed}": RandomCard(seed).text for seed in range(RANDOM_CARDS)}

Document = dict[str, Any]


@pytest.fixture(scope="module")
def core(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the compiled register file."""
    compiled = tmp_path_factory.mktemp("core") / "registers.o"
    source = CHECKOUT / "core" / "cards" / "registers.c"
    subprocess.run(["gcc", *STRICT, *CHECKS, "-c", source, "-o", compiled], check=True)
    return compiled


def run(text: str, core: Path, folder: Path, lines: list[str]) -> list[str]:
    """Compile the card's program, run it on these lines, and return its output."""
    card = specification.parse("x.yaml", text.encode())
    header = folder / f"{card.name}_table.h"
    header.write_text(table(card))
    program = folder / card.name
    names = [f'-DTABLE="{header}"', f"-DCARD={card.name}_table"]
    source = CHECKOUT / "tests" / "card_accesses.c"
    subprocess.run(["gcc", *STRICT, *CHECKS, *names, source, core, "-o", program], check=True)
    output = subprocess.run(
        [program], input="\n".join(lines), capture_output=True, text=True, check=True
    )
    return output.stdout.splitlines()


def ordered(document: Document) -> list[Document]:
    """Return the registers in order of BAR and offset."""
    return sorted(document["registers"], key=lambda one: (one["bar"], one["offset"]))


def ends(field: Document) -> tuple[int, int]:
    """Return a field's lowest bit, and its highest bit plus one."""
    high, _, low = str(field["bits"]).partition(":")
    return int(low or high), int(high) + 1


class Bits:
    """A card as single bits; (BAR, bit address) maps to the bit's access and its value."""

    def __init__(self, document: Document) -> None:
        """Set the card to its state after a reset."""
        self.access: dict[tuple[int, int], str] = {}
        self.value: dict[tuple[int, int], int] = {}
        self.document = document
        for register in document["registers"]:
            whole = {"bits": f"{register['width'] - 1}:0", "access": register.get("access")}
            fields = register.get("fields") or [whole | {"reset": register["reset"]}]
            for field in fields:
                low, above = ends(field)
                for number in range(low, above):
                    at = register["bar"], 8 * register["offset"] + number
                    self.access[at] = field["access"]
                    self.value[at] = field.get("reset", 0) >> (number - low) & 1

    def read(self, bar: int, offset: int, size: int) -> int:
        """An access of a driver."""
        seen = 0
        for number in range(8 * size):
            at = bar, 8 * offset + number
            if self.access.get(at, "wo") != "wo":
                seen |= self.value[at] << number
            match self.access.get(at):
                case "rc":
                    self.value[at] = 0
                case "rs":
                    self.value[at] = 1
        return seen

    def write(self, bar: int, offset: int, size: int, value: int) -> None:
        """An access of a driver."""
        for number in range(8 * size):
            at = bar, 8 * offset + number
            one = value >> number & 1
            match self.access.get(at):
                case "rw" | "wo":
                    self.value[at] = one
                case "w1c" if one:
                    self.value[at] = 0
                case "w0c" if not one:
                    self.value[at] = 0
                case "wc":
                    self.value[at] = 0
                case "w1s" if one:
                    self.value[at] = 1
                case "w0s" if not one:
                    self.value[at] = 1
                case "ws":
                    self.value[at] = 1
                case "w1t" if one:
                    self.value[at] ^= 1
                case "w0t" if not one:
                    self.value[at] ^= 1

    def set(self, register: Document, value: int) -> None:
        """Set a register, as the card does."""
        for number in range(register["width"]):
            at = register["bar"], 8 * register["offset"] + number
            if at in self.value:
                self.value[at] = value >> number & 1

    def pending(self) -> int:
        """Return a mask of the interrupt vectors that are raised and enabled."""
        vectors = 0
        for one in self.document.get("interrupts", ()):
            if "status" in one and self._bit(one["status"]) and self._bit(one["enable"]):
                vectors |= 1 << one["vector"]
        return vectors

    def _bit(self, named: str) -> int:
        register, field = named.split(".")
        register_found = next(one for one in self.document["registers"] if one["name"] == register)
        low, _ = ends(next(one for one in register_found["fields"] if one["name"] == field))
        return self.value[register_found["bar"], 8 * register_found["offset"] + low]


def play(document: Document, seed: int) -> Iterator[tuple[str, int | None]]:
    """Yield random input lines for the program, each with the expected reply."""
    draw = random.Random(seed)
    bits = Bits(document)
    registers = ordered(document)
    for _ in range(STEPS):
        index = draw.randrange(len(registers))
        register = registers[index]
        bar = register["bar"] if draw.random() < 0.97 else draw.randrange(8)
        size = draw.choice([1, 2, 3, 4, 4, 4, 5, 6, 7, 8, 8])
        offset = max(0, register["offset"] + draw.choice([0, 0, 0, 1, 2, 3, 5, -1, -3, -7]))
        value = draw.choice([draw.getrandbits(64), draw.getrandbits(8 * size), 1, 2**64 - 1])
        match draw.randrange(8):
            case 0 | 1 | 2:
                yield f"r {bar} {offset} {size}", bits.read(bar, offset, size)
            case 3 | 4 | 5:
                bits.write(bar, offset, size, value)
                yield f"w {bar} {offset} {size} {value}", None
            case 6:
                bits.set(register, value)
                yield f"c {index} {value & 2 ** register['width'] - 1}", None
            case 7:
                yield "p", bits.pending()


def told(document: Document) -> Iterator[str]:
    """Yield the lines that the program must print for the table."""
    config = document["config"]
    capabilities = document.get("capabilities", {})
    vectors = [capabilities.get(key, {}).get("vectors", 0) for key in ("msi", "msix")]
    vectors.append(capabilities.get("msix", {}).get("bar", 0))
    keys = ("vendor", "device", "subsystem_vendor", "subsystem", "class_code", "revision")
    yield " ".join(map(str, ["card", document["name"], *(config[key] for key in keys), *vectors]))
    for bar in sorted(document["bars"], key=lambda one: int(one["number"])):
        yield f"bar {bar['number']} {int(bar['kind'] == 'memory64')} {bar['bytes']}"
    for one in ordered(document):
        kind = KINDS.index(one.get("kind", "plain"))
        yield f"register {one['name']} {one['bar']} {one['offset']} {one['width'] // 8} {kind}"
    for one in document.get("interrupts", ()):
        bits = " ".join(_bit(document, one.get(key)) for key in ("status", "enable"))
        yield f"interrupt {one['name']} {bits} {one['vector']}"
    for one in document.get("buffers", ()):
        yield f"buffer {_transfer(one)}"
    for one in document.get("rings", ()):
        yield f"ring {_transfer(one)} {one['entry_bytes']} {one['head']} {one['tail']}"


def _bit(document: Document, named: str | None) -> str:
    if named is None:
        return f"{ordered(document)[0]['name']} 0"
    name, field = named.split(".")
    register_found = next(one for one in document["registers"] if one["name"] == name)
    low, _ = ends(next(one for one in register_found["fields"] if one["name"] == field))
    return f"{name} {2**low}"


def _transfer(one: Document) -> str:
    way = ["to_device", "from_device"].index(one["direction"])
    registers = " ".join(one[key] for key in ("address", "length", "doorbell"))
    return f"{one['name']} {way} {registers} {one['alignment']} {one['bytes_max']}"


@pytest.mark.parametrize("name", TEXTS)
def test_it_is_the_card(name: str, core: Path, tmp_path: Path) -> None:
    document = YAML(typ="safe", pure=True).load(TEXTS[name])
    steps = list(play(document, seed=len(TEXTS[name])))
    output = run(TEXTS[name], core, tmp_path, [line for line, _ in steps])
    parts = list(told(document))
    assert output[: len(parts)] == parts
    answers = iter(output[len(parts) :])
    for number, (line, answer) in enumerate(steps):
        if answer is not None:
            assert int(next(answers)) == answer, f"{name}, step {number}: {line}"
    assert next(answers, None) is None
