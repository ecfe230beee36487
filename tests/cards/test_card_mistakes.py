# SPDX-License-Identifier: MIT
"""Each mistake in a card's specification is reported with file, line and reason, all mistakes at
once."""

import random
import re
from pathlib import Path

import pytest
from card_texts import GOOD
from hypothesis import given, settings
from hypothesis import strategies as st

from understudy_devices.base.errors import UserError
from understudy_devices.base.paths import cards_dir
from understudy_devices.cards import specification
from understudy_devices.cards.driver import driver
from understudy_devices.cards.header import header
from understudy_devices.cards.model import Bits
from understudy_devices.cards.rdl_export import rdl
from understudy_devices.cards.selftest import selftest
from understudy_devices.cards.table import table

MISTAKES = [
    # replaced, by, line, reason
    ("A tiny", "A \u202etiny", 2, "U+202E (RIGHT-TO-LEFT OVERRIDE) can't be seen: leave it out"),
    (
        "A tiny card",
        '"A\\u202e card"',
        2,
        "U+202E (RIGHT-TO-LEFT OVERRIDE) can't be seen: leave it out",
    ),
    ("It has", "It \0has", 3, "U+0000 (a control character) can't be seen: leave it out"),
    ("4096, kind", "9" * 5000 + ", kind", 9, "a number of 5,000 digits: no register is so wide"),
    ("0x20\n", "0x" + "f" * 5000 + "\n", 15, "a number of 5,002 digits: no register is so wide"),
    ("offset: 0x4\n", "offset: 0x2\n", 29, "ENABLE at 0x2 is misaligned: multiples of 4 bytes"),
    ("offset: 0x4\n", "offset: 0x2\n", 29, "ENABLE at 0x2 overlaps STATUS (0x0 to 0x3)"),
    ("offset: 0x14", "offset: 0xffe", 36, "HEAD ends at 0x1002, outside BAR 0 of 0x1000 bytes"),
    ("bits: 6:4", "bits: 33:4", 20, "LEVEL has bit 33, past STATUS's 32 bits"),
    ("bits: 6:4", "bits: 6:0", 20, "LEVEL (6:0) overlaps DONE (0)"),
    ("bits: 6:4", "bits: 4:6", 20, "bits: '4:6': bits are HIGH:LOW: write 6:4"),
    ("bits: 6:4", "bits: six", 20, "bits: 'six': bits are HIGH:LOW or one number, as 15:8 or 7"),
    ("bits: 6:4", "bits: 64", 20, "bits: 64: no register has more than 64 bits"),
    ("name: HEAD", "name: SIZE", 36, "SIZE is there twice: names are unique"),
    ("name: LEVEL", "name: DONE", 19, "DONE is there twice: names are unique"),
    ("name: HALF", "name: EMPTY", 26, "EMPTY is there twice: names are unique"),
    ("value: 2,", "value: 0,", 26, "HALF = 0x0 is EMPTY already"),
    ("value: 2,", "value: 8,", 26, "HALF = 0x8 does not fit into bits 6:4"),
    ("bytes: 4096, kind", "bytes: 5000, kind", 9, "5000 bytes are no power of two"),
    (
        "bytes: 4096, kind",
        "bytes: 8, kind",
        9,
        "a BAR of kind memory32 has 16 to 134217728 bytes",
    ),
    (
        "bytes: 4096, kind: memory32",
        "bytes: 512, kind: io",
        9,
        "a BAR of kind io has 4 to 256 bytes",
    ),
    ("bytes: 4096, kind: memory32", "bytes: 2, kind: io", 9, "bytes: 2: Input should be greater"),
    ("0, name: CONTROL", "5, name: CONTROL", 12, "there is no BAR 0: there are: 5"),
    (
        "number: 0, name: CONTROL, bytes: 4096, kind: memory32",
        "number: 5, name: CONTROL, bytes: 4096, kind: memory64",
        9,
        "a memory64 BAR takes two numbers: 4 is the last",
    ),
    ("reset: 0x20\n", "reset: 0x120000000\n", 15, "reset 0x120000000 does not fit into 32 bits"),
    ("reset: 0x20\n", "reset: 0x21\n", 15, "reset 0x21 disagrees with the fields' 0x20"),
    ("reset: 2\n", "reset: 8\n", 22, "reset 0x8 does not fit into bits 6:4"),
    ("width: 32\n", "width: 31\n", 14, "width: 31: Input should be 8, 16, 32 or 64"),
    ("width: 32\n", "width: '32'\n", 14, "width: '32': Input should be 8, 16, 32 or 64"),
    (
        "offset: 0x4\n",
        "offset: four\n",
        29,
        "offset: 'four': should be a whole number, as 12 or 0x0c",
    ),
    (
        "name: tiny",
        "name: 12",
        1,
        "name: 12: should be text; put it in quotes if it looks like a number",
    ),
    ("access: ro\n", "acess: ro\n", 18 + 3, 'unknown key "acess": did you mean "access"?'),
    ("access: ro\n", "acess: ro\n", 19, 'missing key "access"'),
    ("title: A tiny card\n", "", 1, 'missing key "title"'),
    (
        "STATUS.DONE",
        "STATUS.DON",
        41,
        'unknown REGISTER.FIELD "STATUS.DON": did you mean "STATUS.DONE"?',
    ),
    ("STATUS.DONE", "STATUS.LEVEL", 41, "STATUS.LEVEL has 3 bits: one is needed"),
    ("enable: ENABLE.DONE", "enable: STATUS.DONE", 42, "STATUS.DONE is w1c, not rw or wo"),
    (
        "access: rw, description: When",
        "access: w1s, description: When",
        42,
        "ENABLE.DONE is w1s, not rw or wo",
    ),
    ("vector: 1", "vector: 2", 43, "vector 2 is not one of the card's 2: 0 is the first"),
    ("address: BASE", "address: BASIS", 48, 'unknown register "BASIS": did you mean "BASE"?'),
    ("head: HEAD", "head: HEAT", 54, 'unknown register "HEAT": did you mean "HEAD"?'),
    ("doorbell: TAIL", "doorbell: HEAD", 50, "HEAD is of kind plain, not doorbell"),
    ("alignment: 16", "alignment: 12", 51, "12 is no power of two"),
    (
        "entry_bytes: 16",
        "entry_bytes: 24",
        52,
        "bytes_max 4096 is no multiple of 24, the size of an entry",
    ),
    (
        "width: 32, access: ro",
        "width: 32",
        36,
        "HEAD needs fields, or access for all its bits: one of them",
    ),
    (
        "  msi: {vectors: 2}",
        "  msix: {vectors: 2, bar: 0}",
        7,
        "table (0x0 to 0x1f) overlaps STATUS",
    ),
    ("  msi: {vectors: 2}", "  msix: {vectors: 2, bar: 3}", 7, "there is no BAR 3: there are: 0"),
    (
        "  msi: {vectors: 2}",
        "  msix: {vectors: 65, bar: 3}",
        7,
        "vectors: 65: Input should be less than or equal to 64",
    ),
    ("title: A tiny card", "title: x\ntitle: y", 3, 'found duplicate key "title"'),
    ("title: A tiny card", "12: x\ntitle: y", 2, "the key 12 is not text"),
    ("title: A tiny card", "title: [", 4, "expected"),
    ("- {number", "- &b {number", 10, "an alias stands for this"),
    ("title: A", "title: !!bool A", 2, "leave out the tag "),
    ("title: A tiny card", "<<: {title: A}", 2, "<< merges keys: write them out"),
]


# Register names that collide with another name in the generated C, and what that name belongs to.
TAKEN = {
    "VENDOR_ID": "the card",
    "MSI_VECTORS": "the card",
    "REGISTERS": "the card",
    "REGISTERS_H": "the card",
    "TABLE_H": "the card",
    "BAR_CONTROL_BYTES": "BAR CONTROL",
    "VECTOR_DONE": "interrupt done",
    "DMA_COMMANDS_ENTRY_BYTES": "DMA commands",
    "INDEX_STATUS": "register STATUS",
    "STATUS_RESET_VALUE": "register STATUS",
    "STATUS_DONE_MASK": "field STATUS.DONE",
    "STATUS_LEVEL_HALF": "value STATUS.LEVEL.HALF",
}
MISTAKES += [
    (
        "name: HEAD",
        f"name: {name}",
        36,
        f"register {name} becomes TINY_{name} in C, as {owner} does",
    )
    for name, owner in TAKEN.items()
]
MISTAKES += [
    (
        "name: HALF",
        "name: MASK",
        26,
        "value STATUS.LEVEL.MASK becomes TINY_STATUS_LEVEL_MASK in C, as field STATUS.LEVEL does",
    ),
]


@pytest.mark.parametrize(
    ("name", "register", "message"),
    [
        ("pci", "HEAD", "1: the card becomes PCI_VENDOR_ID"),
        ("module", "LICENSE", "36: register LICENSE becomes MODULE_LICENSE"),
    ],
)
def test_a_name_of_the_kernels_is_refused(name: str, register: str, message: str) -> None:
    wrong = GOOD.replace("name: tiny", f"name: {name}", 1)
    wrong = wrong.replace("name: HEAD", f"name: {register}").replace("HEAD", register)
    with pytest.raises(UserError) as caught:
        specification.parse("x.yaml", wrong.encode())
    assert f"{message} in C, as a macro of the kernel does" in str(caught.value)


def test_a_table_of_vectors_is_not_in_ports() -> None:
    ports = "bars:\n  - {number: 1, name: PORTS, bytes: 64, kind: io, description: x}\n"
    text = GOOD.replace("bars:\n", ports, 1).replace(
        "msi: {vectors: 2}", "msix: {vectors: 2, bar: 1}"
    )
    with pytest.raises(UserError, match="BAR 1 has I/O ports: the table is in memory"):
        specification.parse("x.yaml", text.encode())


@pytest.mark.parametrize(("old", "new", "line", "reason"), MISTAKES)
def test_each_mistake_has_its_line(old: str, new: str, line: int, reason: str) -> None:
    wrong = GOOD.replace(old, new, 1)
    if "&b" in new:
        wrong = wrong.replace("registers:\n", "  - *b\nregisters:\n", 1)
    assert wrong != GOOD
    with pytest.raises(UserError) as caught:
        specification.parse("x.yaml", wrong.encode())
    lines = str(caught.value).splitlines()
    assert [message for message in lines if message.startswith(f"x.yaml:{line}: {reason}")], lines
    assert len(lines) <= 2 or "BAR" in reason, "one mistake, and what follows from it at once"


@pytest.mark.parametrize(
    ("capabilities", "line", "reason"),
    [
        ("msix: {vectors: 64, bar: 7}", 7, "bar: 7: Input should be less than or equal to 5"),
        ("msx: {vectors: 64, bar: 0}", 7, 'unknown key "msx": did you mean "msix"?'),
        ("- msi", 6, "capabilities: ('msi',): should be keys with values"),
    ],
)
def test_vectors_of_wrong_capabilities_are_one_mistake(
    capabilities: str, line: int, reason: str
) -> None:
    text = GOOD.replace("msi: {vectors: 2}", capabilities).replace("vector: 1", "vector: 40")
    with pytest.raises(UserError) as caught:
        specification.parse("x.yaml", text.encode())
    [message] = str(caught.value).splitlines()
    assert message.startswith(f"x.yaml:{line}: {reason}")


@pytest.mark.parametrize("number", ["'0'", "6", "true", "0x", "null"])
def test_a_wrong_number_of_a_bar_is_one_mistake(number: str) -> None:
    """The registers may be in this BAR; another BAR has a right number."""
    other = "bars:\n  - {number: 2, name: OTHER, bytes: 4096, kind: memory32, description: x}\n"
    text = GOOD.replace("number: 0", f"number: {number}", 1).replace("bars:\n", other, 1)
    with pytest.raises(UserError) as caught:
        specification.parse("x.yaml", text.encode())
    [message] = str(caught.value).splitlines()
    assert message.startswith("x.yaml:10: number: ")


@pytest.mark.parametrize(
    ("old", "new", "line", "reason"),
    [
        ("name: ENABLE\n    bar: 0\n", "bar: 0\n", 27, 'missing key "name"'),
        ("name: DONE, bits: 0, access: rw", "name: 1, bits: 0, access: rw", 33, "name: 1: should"),
        ("name: TAIL", "name: null", 37, "name: None: should be text"),
    ],
)
def test_references_to_a_part_without_a_name_are_no_mistakes(
    old: str, new: str, line: int, reason: str
) -> None:
    assert old in GOOD
    with pytest.raises(UserError) as caught:
        specification.parse("x.yaml", GOOD.replace(old, new, 1).encode())
    [message] = str(caught.value).splitlines()
    assert message.startswith(f"x.yaml:{line}: {reason}")


def test_an_interrupt_may_be_enabled_by_a_bit_that_is_only_written() -> None:
    text = GOOD.replace("access: rw, description: When", "access: wo, description: When")
    assert specification.parse("x.yaml", text.encode()).interrupts[0].enable == "ENABLE.DONE"


def test_the_card_without_a_mistake() -> None:
    card = specification.parse("x.yaml", GOOD.encode())
    assert [hex(register.initial) for register in card.registers] == ["0x20"] + ["0x0"] * 5
    assert card.registers[0].fields[1].bits == Bits(6, 4)
    assert card.rings[0].entry_bytes == 16


def test_five_mistakes_at_once() -> None:
    wrong = GOOD
    for old, new in (
        ("class_code: 0x088000", "class_code: 0x1088000"),
        ("bytes: 4096, kind", "bytes: 4097, kind"),
        ("bits: 0,", "bits: 4,"),
        ("    width: 32\n    description: What int", "    widht: 32\n    description: What int"),
        ("enable: ENABLE.DONE", "enable: ENABLE.DUNE"),
    ):
        assert old in wrong
        wrong = wrong.replace(old, new, 1)
    with pytest.raises(UserError) as caught:
        specification.parse("x.yaml", wrong.encode())
    message = [line.split(": ", 1) for line in str(caught.value).splitlines()]
    assert [(place, reason[:22]) for place, reason in message] == [
        ("x.yaml:5", "class_code: 17334272: "),
        ("x.yaml:9", "4097 bytes are no powe"),
        ("x.yaml:20", "LEVEL (6:4) overlaps D"),
        ("x.yaml:27", 'missing key "width"'),
        ("x.yaml:30", 'unknown key "widht": d'),
        ("x.yaml:42", "unknown REGISTER.FIELD"),
    ]


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"", "x.yaml:1: the file is empty"),
        (b" \n\n", "x.yaml:1: the file is empty"),
        (b"name: x\ntitle: \xff\n", "x.yaml:2: byte 0xff is not UTF-8"),
        (b"- a\n", "x.yaml:1: a card is a mapping"),
        pytest.param(b"[" * 3000 + b"]" * 3000, "x.yaml:1: nested too deep", id="deep"),
        (b"#" * (2**20 + 1), "x.yaml:1: longer than 1048576 bytes: no specification"),
        (b"a: 1\n---\nb: 2\n", "x.yaml:2: "),
        (b"a: \x00\n", "x.yaml:1: "),
    ],
)
def test_a_file_that_is_no_specification(raw: bytes, message: str) -> None:
    with pytest.raises(UserError) as caught:
        specification.parse("x.yaml", raw)
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    folder = tmp_path / "card.yaml"
    folder.mkdir()
    for name, message in (
        (str(folder), "a folder, not a specification"),
        (str(tmp_path / "none.yaml"), "No such file or directory"),
        ("zach", 'unknown card "zach": did you mean "zach1"? there are: copier, nvme, '),
    ):
        with pytest.raises(UserError, match=message.replace("?", r"\?")):
            specification.load(name)


@pytest.mark.parametrize("name", ["copier", "zach1"])
def test_the_cards_that_come_along(name: str) -> None:
    card = specification.load(name)
    assert card == specification.load(cards_dir() / f"{name}.yaml")
    assert card.name == name
    assert card.capabilities.msi
    assert card.interrupts
    assert card.buffers


TOKENS = [
    "0",
    "-1",
    "[]",
    "{}",
    "null",
    "x: y",
    "true",
    "1e9",
    "- a",
    "''",
    ":",
    "&a",
    "*a",
    "\n",
    "!!int ",
]


@settings(max_examples=150, deadline=None, derandomize=True)
@given(
    st.lists(
        st.tuples(st.integers(0, len(GOOD)), st.integers(0, 12), st.sampled_from(TOKENS)),
        min_size=1,
        max_size=4,
    )
)
def test_whatever_is_written_is_a_card_or_is_refused(cuts: list[tuple[int, int, str]]) -> None:
    text = GOOD
    for place, length, token in cuts:
        text = text[:place] + token + text[place + length :]
    lines = []
    try:
        specification.parse("x.yaml", text.encode())
    except UserError as error:
        lines = str(error).splitlines()
    assert all(line.startswith("x.yaml:") for line in lines)


VALUE = re.compile(r"(?<=: )[^\s,{}\[\]][^,{}\[\]\n]*")
ODD = ["-1", "0", "1.5", "1e9", "0x", "9" * 5000, "null", "true", "[]", "{a: 1}", "'0'", "int"]
ODD += ["\u202e", "'*/ int x;'", "018", "18446744073709551616"]


def test_a_wrong_value_is_refused_in_its_line_or_it_is_a_card() -> None:
    """One value is replaced.  What is accepted can be generated."""
    values = list(VALUE.finditer(GOOD))
    accepted = 0
    for seed in range(150):
        draw = random.Random(seed)
        value, odd = draw.choice(values), draw.choice(ODD)
        line = GOOD[: value.start()].count("\n") + 1
        text = GOOD[: value.start()] + odd + GOOD[value.end() :]
        card, told = None, ""
        try:
            card = specification.parse("x.yaml", text.encode())
        except UserError as error:
            told = str(error)
        if card:
            accepted += 1
            assert all((header(card), table(card), driver(card), selftest(card), rdl(card)))
        else:
            right = any(one.startswith(f"x.yaml:{line}: ") for one in told.splitlines())
            assert right or "disagrees" in told, (seed, told)
    assert 10 < accepted < 140
