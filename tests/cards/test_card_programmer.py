# SPDX-License-Identifier: MIT
"""The programmer's manual contains all that a driver needs.  Its code examples run in a program
against the register file, where tests/kernel_stub.h stands in for the kernel."""

import re
import subprocess
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from card_texts import GOOD, RandomCard
from manual_code import code
from places import CHECKOUT
from ruamel.yaml import YAML

from understudy_devices.cards import specification
from understudy_devices.cards.header import header
from understudy_devices.cards.table import table
from understudy_devices.show.card.programmer import programmers_manual

pytestmark = pytest.mark.thorough

TEXTS = {name: file.read_text() for name, file in specification.catalogue().items()}
TEXTS |= {"tiny": GOOD}
TEXTS |= {f"random{seed}": RandomCard(seed).text for seed in range(4)}
BY_NAME = pytest.mark.parametrize("name", TEXTS)
BUILD = ["gcc", "-std=gnu11", "-g", "-O1", "-fsanitize=address,undefined", "-Werror", "-Wall"]
BUILD += ["-fno-sanitize-recover=all", "-Wno-unused-function", "-Wno-unused-variable"]
BUILD += ["-Wno-unused-but-set-variable"]
SHOW = 'static void show(u32 index) { printf("%llu\\n", 0ull + stub_values[index]); }'

Document = dict[str, Any]
Call = tuple[str, list[int | str]]  # a call in C, and its expected output


def manual(name: str) -> str:
    """Return the page of a card."""
    return programmers_manual(specification.parse("x.yaml", TEXTS[name].encode()))


def run(name: str, folder: Path, calls: list[str], text: str | None = None) -> list[str]:
    """Return the output of a program that probes `card` and then makes these calls; `text`: another
    specification of the name.
    """
    card = specification.parse("x.yaml", (text or TEXTS[name]).encode())
    (folder / "table.h").write_text(table(card))
    (folder / f"{name}_registers.h").write_text(header(card))
    body = "\n".join(f"\t{call}" for call in calls)
    program = folder / "program.c"
    program.write_text(
        f'#define TABLE "{folder / "table.h"}"\n#define CARD {name}_table\n'
        f'#include "kernel_stub.h"\n#include "{name}_registers.h"\n'
        f"#define IS_ALIGNED(a, b) (!((a) % (b)))\ntypedef u64 dma_addr_t;\n"
        f"{code(programmers_manual(card))}\n{SHOW}\n"
        f"int main(void)\n{{\n\tstruct {name}_card *card;\n\n\tstub_begin();\n"
        f"\tif ({name}_probe(&stub_pdev, NULL))\n\t\treturn 1;\n\tcard = stub_drvdata;\n"
        f"{body}\n\t{name}_remove(&stub_pdev);\n\treturn 0;\n}}\n"
    )
    folders = [f"-I{folder}", f"-I{CHECKOUT / 'tests'}"]
    subprocess.run(
        [
            *BUILD,
            program,
            CHECKOUT / "core" / "cards" / "registers.c",
            *folders,
            "-o",
            folder / "program",
        ],
        check=True,
    )
    done = subprocess.run([folder / "program"], capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr[-2000:]
    return done.stdout.splitlines()


def ordered(document: Document) -> list[Document]:
    """Return the registers in the order of the generated table."""
    return sorted(document["registers"], key=lambda one: (one["bar"], one["offset"]))


def low_and_mask(field: Document) -> tuple[int, int]:
    """Return a field's lowest bit and its mask."""
    high, _, low = str(field["bits"]).partition(":")
    first = int(low or high)
    return first, (2 ** (int(high) + 1) - 1) & ~(2**first - 1)


def writable(register: Document) -> int:
    """Return the mask of the bits that a write can change."""
    if register.get("access"):
        return 2 ** int(register["width"]) - 1 if register["access"] in ("rw", "wo") else 0
    return sum(low_and_mask(one)[1] for one in register["fields"] if one["access"] in ("rw", "wo"))


def choices(name: str, document: Document) -> Iterator[Call]:
    """Yield a call for each named value of each rw field, with all other rw bits set. Besides, the
    write sets ws bits, and the read of the other rw bits sets rs bits.
    """
    for index, register in enumerate(ordered(document)):
        rw = [one for one in register.get("fields", ()) if one["access"] == "rw"]
        whole = sum(low_and_mask(one)[1] for one in rw)
        set_too = {"ws", "rs"} if len(rw) > 1 else {"ws"}
        fields = [one for one in register.get("fields", ()) if one["access"] in set_too]
        besides = sum(low_and_mask(one)[1] for one in fields)
        for field in rw if register.get("kind") != "port" else ():
            low, mask = low_and_mask(field)
            label = f"{name}_{register['name']}_{field['name']}".upper()
            function = f"{name}_set_{register['name']}_{field['name']}".lower()
            for entry in field.get("values", ()):
                call = f"{function}(card, {label}_{entry['name']}); show({index});"
                chosen = whole & ~mask | entry["value"] << low | besides
                yield f"stub_values[{index}] = {whole}ull; {call}", [chosen]


def reports(name: str, document: Document) -> Iterator[Call]:
    """Yield a call for the text of each named value of each ro, rc or rs field."""
    for index, register in enumerate(ordered(document)):
        for field in register.get("fields", ()) if register.get("kind") != "port" else ():
            low, _ = low_and_mask(field)
            for entry in field.get("values", ()) if field["access"] in ("ro", "rc", "rs") else ():
                function = f"{name}_{register['name']}_{field['name']}_text".lower()
                description = " ".join(entry["description"].split())
                yield (
                    f"stub_values[{index}] = {entry['value'] << low}ull; puts({function}(card));",
                    [description],
                )


def enabled(name: str, document: Document) -> Iterator[Call]:
    """Yield calls that enable all interrupt sources and then none, where a driver can write the
    bits."""
    registers = ordered(document)
    names = [register["name"] for register in registers]
    bits: dict[int, int] = {}
    for one in (source for source in document.get("interrupts", ()) if "enable" in source):
        register, field = one["enable"].split(".")
        match = registers[names.index(register)]
        _, mask = low_and_mask(next(one for one in match["fields"] if one["name"] == field))
        index = names.index(register)
        bits[index] = bits.get(index, 0) | mask & writable(match)
    for call, on in (("let_interrupt", True), ("silence", False)) if bits else ():
        prints = "".join(
            f'printf("%llu\\n", (unsigned long long)(stub_values[{index}] & {mask}ull));'
            for index, mask in bits.items()
        )
        yield f"{name}_{call}(card); {prints}", [mask if on else 0 for mask in bits.values()]


@BY_NAME
def test_its_code_does_what_it_says(name: str, tmp_path: Path) -> None:
    document = YAML(typ="safe", pure=True).load(TEXTS[name])
    calls = [call for part in (choices, reports, enabled) for call in part(name, document)]
    output = run(name, tmp_path, [call for call, _ in calls])
    expected = [(call, str(answer)) for call, answers in calls for answer in answers]
    for (call, answer), line in zip(expected, output, strict=True):
        assert line == answer, call


def test_transfers_of_the_copier(tmp_path: Path) -> None:
    """Register indices: 2 is SOURCE, 3 DESTINATION, 4 LENGTH, 6 START."""
    ring = "copier_ring_start(card, {}, {}, {})"
    output = run(
        "copier",
        tmp_path,
        [
            f'printf("%d\\n", {ring.format("0x1230008", 16777216, "0x4560010")});',
            "show(2); show(4); show(3); show(6);",
            *(
                f'printf("%d\\n", {ring.format(*wrong)});'
                for wrong in ((4, 8, 8), (8, 8, 9), (8, 0, 8), (8, 16777217, 8))
            ),
            "show(2);",
        ],
    )
    sent = [0x1230008, 16777216, 0x4560010, 1]
    assert [int(line) for line in output] == [0, *sent, -22, -22, -22, -22, 0x1230008]


def test_the_ring_of_the_tiny_card(tmp_path: Path) -> None:
    """Register indices: 2 is BASE, 3 SIZE, 4 HEAD, 5 TAIL."""
    calls = ['printf("%d\\n", tiny_place_commands(card, 0x7008, 128));']
    calls += ['printf("%d\\n", tiny_place_commands(card, 0x7010, 128)); show(2); show(3);']
    for head, following in ((0, 0), (3, 2), (3, 3), (2, 7), (0, 7)):
        calls.append(f"stub_values[4] = {head};")
        calls.append(f'printf("%u\\n", tiny_room_in_commands(card, 8, {following}));')
    calls.append("tiny_push_commands(card, 5); show(5);")
    output = run("tiny", tmp_path, calls)
    assert [int(line) for line in output] == [-22, 0, 0x7010, 128, 7, 0, 7, 2, 0, 5]


def test_a_transfer_leaves_bits_that_a_0_changes(tmp_path: Path) -> None:
    """Register indices: 3 is SIZE, 5 TAIL."""
    text, field = GOOD, "{{name: {}, bits: {}, access: {}, reset: {}, description: x}}"
    for name, access in (("SIZE", "w0c"), ("TAIL", "w0t")):
        begin = text.index(f"name: {name}")
        end = text.index("}", begin)
        value, flag = field.format("VALUE", "15:0", "rw", 0), field.format("FLAG", 16, access, 1)
        changed = text[begin:end].replace("access: rw, reset: 0", f"fields: [{value}, {flag}]")
        text = text[:begin] + changed + text[end:]
    calls = [
        "tiny_place_commands(card, 0x7010, 128); show(3); tiny_push_commands(card, 5); show(5);"
    ]
    assert run("tiny", tmp_path, calls, text) == [str(128 | 1 << 16), str(5 | 1 << 16)]


def test_the_text_of_a_field_that_reading_sets(tmp_path: Path) -> None:
    """Register index: 0 is STATUS."""
    text = GOOD.replace("access: ro\n", "access: rs\n", 1)
    calls = ["puts(tiny_status_level_text(card)); show(0);"]
    assert run("tiny", tmp_path, calls, text) == ["Half full.", str(7 << 4)]


@BY_NAME
def test_everything_is_in_it(name: str) -> None:
    page, document = manual(name), YAML(typ="safe", pure=True).load(TEXTS[name])
    text = unescape(re.sub(r"<[^>]+>", "", page))
    for part in (*document.get("interrupts", ()), *document.get("buffers", ())):
        assert part["name"] in text
        assert part["description"].strip() in text
    table_of_special = page.split("each access counts")[1] if "each access counts" in page else ""
    for register in document["registers"]:
        if register.get("kind", "plain") != "plain":
            assert f"<td>{register['name']}</td>" in table_of_special
    ids = re.findall(r' id="([^"]+)"', page)
    assert set(re.findall(r'href="([^"]*)"', page)) <= {f"#{one}" for one in ids}
    assert not re.search(
        r"src=|https?:|@import|url\(", re.sub(r"<pre>.*?</pre>", "", page, flags=re.S)
    )


def test_a_card_without_interrupts_and_dma_says_so() -> None:
    text = GOOD[: GOOD.index("interrupts:")]
    page = programmers_manual(specification.parse("x.yaml", text.encode()))
    assert "The card never interrupts" in page
    assert "The card reads and writes no memory of the driver." in page
    assert "irq" not in page
    assert "pci_set_master" not in page
