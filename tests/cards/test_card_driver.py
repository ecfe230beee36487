# SPDX-License-Identifier: MIT
"""The generated driver skeleton and self-test of a card, run in a program against the register
file.

tests/kernel_stub.h stands in for the kernel.  The expected status registers and the detectable
faults are computed from the YAML, without the loader.
"""

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from card_texts import GOOD, RandomCard
from places import CHECKOUT
from ruamel.yaml import YAML

from understudy_devices.cards import specification
from understudy_devices.cards.driver import driver
from understudy_devices.cards.header import header
from understudy_devices.cards.selftest import selftest
from understudy_devices.cards.table import table

pytestmark = pytest.mark.thorough

BUILD = ["gcc", "-std=gnu11", "-g", "-O1", "-fsanitize=address,undefined"]
BUILD += ["-fno-sanitize-recover=all", "-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter"]
BUILD += [
    "-Wno-unused-function",
    "-Wno-unused-variable",
    "-Wno-format",
    "-Wno-missing-field-initializers",
]
EIO = -5
RANDOM_CARDS = 6
TEXTS = {name: file.read_text() for name, file in specification.catalogue().items()}
TEXTS |= {"tiny": GOOD}
TEXTS |= {f"random{seed}": RandomCard(seed).text for seed in range(RANDOM_CARDS)}
BY_NAME = pytest.mark.parametrize("name", TEXTS)
HEADERS = ["dma-mapping", "interrupt", "io-64-nonatomic-lo-hi", "module", "pci", "slab"]

UNTRIED = {"wo", "w1s", "w1t", "w0c", "w0s", "w0t", "wc", "ws"}  # by the self-test's writes

Document = dict[str, Any]


def run(kind: str, name: str, folder: Path, lines: list[str]) -> list[str]:
    """Return the output of the program tests/card_KIND.c for a card."""
    card = specification.parse("x.yaml", TEXTS[name].encode())
    (folder / "linux").mkdir()
    for empty in HEADERS:
        (folder / "linux" / f"{empty}.h").touch()
    files = {"registers.h": header(card), "table.h": table(card)}
    files |= {"driver.c": driver(card), "selftest.c": selftest(card)}
    for file, text in files.items():
        (folder / f"{card.name}_{file}").write_text(text)
    paths = {key: folder / f"{card.name}_{file}" for key, file in _PARTS[kind].items()}
    names = [f'-D{key}="{path}"' for key, path in paths.items()]
    names += [f"-DCARD={card.name}_table", f"-I{folder}", f"-I{CHECKOUT / 'tests'}"]
    sources = [CHECKOUT / "tests" / f"card_{kind}.c", CHECKOUT / "core" / "cards" / "registers.c"]
    subprocess.run([*BUILD, *names, *sources, "-o", folder / kind], check=True)
    done = subprocess.run(
        [folder / kind], input="\n".join(lines), capture_output=True, text=True, check=False
    )
    assert not done.returncode, done.stderr[-2000:]
    return done.stdout.splitlines()


_PARTS = {
    "driver": {"TABLE": "table.h", "DRIVER": "driver.c"},
    "selftest": {"TABLE": "table.h", "SELFTEST": "selftest.c"},
}


def bits(document: Document) -> Iterator[tuple[int, Document, int, str, int, str]]:
    """Yield each bit: its register's index in the table, the register, bit number, access, reset
    value, field."""
    places = sorted(document["registers"], key=lambda one: (one["bar"], one["offset"]))
    for index, register in enumerate(places):
        whole = {"bits": f"{register['width'] - 1}:0", "access": register.get("access"), "name": ""}
        fields = register.get("fields") or [whole | {"reset": register.get("reset")}]
        known = {}
        for field in fields:
            high, _, low = str(field["bits"]).partition(":")
            first = int(low or high)
            for bit in range(first, int(high) + 1):
                reset = field.get("reset", 0) >> (bit - first) & 1
                known[bit] = field["access"], reset, field["name"]
        for bit in range(register["width"]):
            access, reset, name = known.get(bit, ("reserved", 0, ""))
            yield index, register, bit, access, reset, name


def wrong_bits(document: Document) -> Iterator[tuple[str, bool]]:
    """Yield wrong bits as input lines of card_selftest.c, and whether the self-test can detect
    them."""
    careful: dict[int, bool] = {}
    for index, register, _, access, _, _ in bits(document):
        safe = register.get("kind", "plain") == "plain" and access not in UNTRIED
        careful[index] = careful.get(index, True) and safe
    for index, register, bit, access, reset, _ in bits(document):
        port = register.get("kind") == "port"
        written = careful[index] and access != "reserved"
        caught_by = {"r": not port and access not in ("wo", "reserved")}
        match access:
            case "rw":
                caught_by |= {"w": written, "R": not port and (written or reset == 1)}
            case "ro":
                caught_by |= {"w": written, "R": not port and reset == 1}
            case "w1c":
                caught_by |= {"c": written and reset == 1, "w": written}
            case "rc":
                caught_by |= {"d": not port and reset == 1}
        yield from ((f"{index} {mask} {bit}", caught) for mask, caught in caught_by.items())


@BY_NAME
def test_the_selftest_finds_each_wrong_bit(name: str, tmp_path: Path) -> None:
    document = YAML(typ="safe", pure=True).load(TEXTS[name])
    wrong = list(wrong_bits(document))
    output = run("selftest", name, tmp_path, [line for line, _ in wrong])
    assert output[0] == "0", "a card that is right"
    for (line, caught), answer in zip(wrong, output[1:], strict=True):
        assert int(answer) == (EIO if caught else 0), line


def interrupts(document: Document) -> Iterator[tuple[str, str]]:
    """Yield status registers as input lines of card_driver.c, with the expected output."""
    sources = {one["status"] for one in document.get("interrupts", ()) if "status" in one}
    status = {source.split(".")[0] for source in sources}
    registers: dict[int, list[tuple[int, str, bool]]] = {}
    for index, register, bit, access, _, field in bits(document):
        if register["name"] in status and access != "reserved":
            source = f"{register['name']}.{field}" in sources
            registers.setdefault(index, []).append((bit, access, source))
    for index, known in registers.items():
        masks = [1 << bit for bit, _, _ in known]
        for value in [*masks, sum(masks), sum(masks) & 0x5555_5555_5555_5555, 0]:
            ours = [
                access
                for bit, access, source in known
                if source and value >> bit & 1 and access != "wo"
            ]
            acknowledged = ours and any(source and access == "w1c" for _, access, source in known)
            cleared = {"rc", "wo", "wc"} if acknowledged else {"rc"}
            is_set = {"rs", "ws"} if acknowledged else {"rs"}
            left = sum(
                1 << bit
                for bit, access, source in known
                if access in is_set
                or (value >> bit & 1 and access not in cleared and not (source and access == "w1c"))
            )
            yield f"{index} {value}", f"{int(bool(ours))} {left}"


@BY_NAME
def test_the_skeleton_takes_its_interrupts_and_gives_all_back(name: str, tmp_path: Path) -> None:
    document = YAML(typ="safe", pure=True).load(TEXTS[name])
    expected = list(interrupts(document))
    output = run("driver", name, tmp_path, [line for line, _ in expected])
    for (line, answer), reply in zip(expected, output, strict=True):
        assert reply == answer, line
