# SPDX-License-Identifier: MIT
"""Specifications with what is unusual (tests/gaps_card.py): generated files, SystemRDL, the
journal's registers, and mistakes.
"""

import re
import subprocess
from pathlib import Path

import pytest
from gaps_card import GAPS

from understudy_devices.base.errors import UserError
from understudy_devices.cards import specification
from understudy_devices.cards.config_space import vendor_places
from understudy_devices.cards.header import header
from understudy_devices.cards.rdl_export import rdl
from understudy_devices.cards.rdl_import import load_rdl
from understudy_devices.cards.shadow import Places
from understudy_devices.cards.table import table
from understudy_devices.cards.yaml_text import yaml_text
from understudy_devices.show.card.programmer import programmers_manual
from understudy_devices.show.card.reference import reference_manual

CARD = specification.parse("gaps.yaml", GAPS.encode())
FIGURES = {
    "GAPS_RECEIVE": 0,
    "GAPS_TRANSMIT": 0,
    "GAPS_WIDE": 4,
    "GAPS_SLOT_COUNT": 4,
    "GAPS_SLOT(3)": 0x130,
    "GAPS_SLOT_2": 0x120,
    "GAPS_SLOT_RESET_VALUE": 5,
    "GAPS_SLOT_MODE_MASK": 0x300,
    "GAPS_SLOT_MODE_FAST": 2,
    "GAPS_BAR_SMALL_BYTES": 16,
}
VENDOR = """\
  vendor:
    - {data: [0x01, 0xff, 0x80], description: "\\"Small\\", that is."}
    - {data: [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18], description: Long.}
"""
INDEXES = ("RECEIVE", "TRANSMIT", "WIDE", "STATUS", "SLOT_0", "BETWEEN", "SLOT_1", "SLOT_3")
MISTAKES = [
    ("bytes: 16,", "bytes: 8,", "a BAR of kind memory32 has 16 to 134217728 bytes"),
    ("offset: 4, width: 64", "offset: 2, width: 64", "WIDE at 0x2 is misaligned: multiples of 4"),
    ("offset: 4, width: 64", "offset: 12, width: 64", "WIDE ends at 0x14, outside BAR 0 of 0x10"),
    ("access: wo", "access: rw", "TRANSMIT at 0x0 overlaps RECEIVE (0x0 to 0x0)"),
    ("access: ro", "access: wo", "TRANSMIT at 0x0 overlaps RECEIVE (0x0 to 0x0)"),
    ("table: 0x800", "table: 0x804", "table at 0x804 is misaligned: multiples of 8 bytes"),
    ("table: 0x800", "table: 0x100", "table (0x100 to 0x12f) overlaps SLOT_0"),
    ("table: 0x800", "table: 0xfe0", "table ends at 0x1010, outside BAR 2 of 0x1000 bytes"),
    ("pending: 0x880", "pending: 0x828", "the pending bits overlap the table"),
    ("pending: 0x880", "pending: 0x10", "pending (0x10 to 0x17) overlaps STATUS"),
    ("  msix:", "  pm: {no_soft_reset: 1}\n  msix:", "no_soft_reset: 1: Input should be a valid"),
    ("  msix:", "  express: {}\n  msix:", "PCI Express needs power management: add pm"),
    ("  msix:", "  pm:\n  msix:", "pm: None: write its keys, {} if they all have defaults"),
    ("  msix:", "  express: {frl: true}\n  msix:", 'unknown key "frl": did you mean "flr"?'),
    (
        "capabilities:",
        "functions: 9\ncapabilities:",
        "x.yaml:6: functions: 9: Input should",
    ),
    ("capabilities:", "functions: 0\ncapabilities:", "x.yaml:6: functions: 0: Input should"),
    (
        "  msix:",
        "  vendor: [{data: [1, 300], description: Odd.}]\n  msix:",
        "x.yaml:7: data: 300: Input should be less than 256",
    ),
    (
        "  msix:",
        "  vendor: [{data: [], description: Odd.}]\n  msix:",
        "x.yaml:7: data: (): should have an entry",
    ),
    (
        "  msix:",
        "  vendor:\n    - {data: [1], description: Short.}\n    - description: Long.\n      data: "
        + str([0] * 146)
        + "\n  msix:",
        "x.yaml:10: no gap of 149 bytes is left in the config space: shorten the data",
    ),
    ("    count: 4\n", "", "without a count there is no stride: add count"),
    ("count: 4", "count: 0", "count: 0: Input should be greater than or equal to 1"),
    ("count: 4", "count: 1000", "SLOT ends at 0x3f74, outside BAR 2 of 0x1000 bytes"),
    ("stride: 16", "stride: 2", "2 bytes are less than the 4 of an element"),
    ("stride: 16", "stride: 6", "elements 6 bytes apart are misaligned"),
    ("stride: 16", "stride: 4", "BETWEEN at 0x104 overlaps SLOT_1 (0x104 to 0x107)"),
    ("name: BETWEEN", "name: SLOT_1", "SLOT_1 becomes GAPS_SLOT_1 in C"),
    ("STATUS.RECEIVED", "SLOT.LEVEL", 'unknown REGISTER.FIELD "SLOT.LEVEL"'),
]


def test_the_header_has_arrays(tmp_path: Path) -> None:
    """It is valid C11 and C++11 without warnings."""
    (tmp_path / "gaps.h").write_text(header(CARD))
    checks = [f'_Static_assert({name} == {value}, "");' for name, value in FIGURES.items()]
    lines = ["#ifdef __cplusplus", "#define _Static_assert static_assert", "#endif"]
    text = "\n".join(['#include "gaps.h"', *lines, *checks, ""])
    for suffix, compiler in (("c", ["gcc", "-std=c11"]), ("cc", ["g++", "-std=c++11"])):
        (tmp_path / f"gaps.{suffix}").write_text(text)
        strict = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only"]
        subprocess.run([*compiler, *strict, tmp_path / f"gaps.{suffix}"], check=True)


def test_the_table_has_each_element() -> None:
    """Indexes are in order of the addresses; of a pair, the one that is loaded is first."""
    text = table(CARD)
    places = [text.index(f"\tGAPS_INDEX_{name},") for name in INDEXES]
    assert places == sorted(places)
    assert text.count(".side = REGISTER_LOADED") == text.count(".side = REGISTER_STORED") == 1


def test_nothing_is_lost_in_systemrdl(tmp_path: Path) -> None:
    """Arrays stay arrays, and YAML has the same card again.

    An array with another register between its elements becomes single registers.
    """
    assert specification.parse("gaps.yaml", yaml_text(CARD).encode()) == CARD
    powered = GAPS.replace("capabilities:", f"capabilities:\n  pm: {{}}\n{VENDOR}")
    powered = powered.replace("  msix:", "  express: {flr: false}\n  msix:")
    powered = powered.replace("capabilities:", "functions: 3\ncapabilities:")
    apart = specification.parse("gaps.yaml", powered.replace("0x104", "0x140").encode())
    assert specification.parse("gaps.yaml", yaml_text(apart).encode()) == apart
    for card, kept in ((CARD, False), (apart, True)):
        (tmp_path / "gaps.rdl").write_text(rdl(card))
        again = load_rdl(tmp_path / "gaps.rdl")
        places = [
            [(one.name, one.offset, one.fields, one.access) for one in each.all_registers]
            for each in (again, card)
        ]
        assert places[0] == places[1]
        assert (again.capabilities, again.functions) == (card.capabilities, card.functions)
        assert any(one.count == 4 for one in again.registers) == kept


def test_a_card_may_have_several_functions() -> None:
    """The table and the manual say how many; a card that does not has one."""
    card = CARD.model_copy(update={"functions": 3})
    assert "\t.functions = 3," in table(card)
    assert "<td>Functions</td><td>3, each" in reference_manual(card)
    assert "\t.functions = 1," in table(CARD)
    assert "<td>Functions</td>" not in reference_manual(CARD)


def test_vendor_specific_capabilities_fill_the_gaps() -> None:
    """They are where the card has no other capability, and the table and the manual have them."""
    text = GAPS.replace("capabilities:\n", f"capabilities:\n{VENDOR}")
    card = specification.parse("gaps.yaml", text.encode())
    assert vendor_places(card.capabilities) == [0x40, 0x48]
    assert ".at = 0x48,\n\t\t.bytes = 17,\n\t\t.data = { 0x02, 0x03" in table(card)
    assert "<code>01 ff 80</code>. &#34;Small&#34;, that is." in reference_manual(card)
    assert "data: [0x01, 0xff, 0x80]" in yaml_text(card)
    text = text.replace("  vendor", "  msi: {vectors: 1}\n  pm: {}\n  vendor")
    card = specification.parse("gaps.yaml", text.encode())
    assert vendor_places(card.capabilities) == [0x58, 0x78]


def test_the_manuals_show_arrays_and_pairs() -> None:
    page = reference_manual(CARD).replace("\u00d7", "x")
    assert "<code>0x100</code> + <code>0x10</code> x i" in page
    assert 'At this address, <a href="#TRANSMIT">TRANSMIT</a> is written.' in page
    assert 'At this address, <a href="#RECEIVE">RECEIVE</a> is read.' in page
    assert "gaps_registers.h" in programmers_manual(CARD)


def test_an_access_belongs_to_one_side() -> None:
    """A load at the shared address is one of RECEIVE, and a store is one of TRANSMIT."""
    places = Places(CARD)
    for stored, name in ((False, "RECEIVE"), (True, "TRANSMIT")):
        [part] = places.parts(0, 0, 1, 7, stored=stored)
        assert part.register.name == name
    [part] = places.parts(2, 0x120, 4, 7, stored=True)
    assert part.register.name == "SLOT_2"


@pytest.mark.parametrize(("old", "new", "reason"), MISTAKES)
def test_mistakes_are_named(old: str, new: str, reason: str) -> None:
    assert GAPS.count(old) == 1
    with pytest.raises(UserError) as caught:
        specification.parse("x.yaml", GAPS.replace(old, new).encode())
    assert reason in str(caught.value)


def with_registers(*registers: str) -> str:
    """Return the card with more registers, which are at 0x200 unless they say where."""
    places = [one if "offset" in one else f"{one}, offset: 0x200" for one in registers]
    lines = [f"  - {{bar: 2, access: rw, description: More, {one}}}\n" for one in places]
    return GAPS.replace("interrupts:", "".join(lines) + "interrupts:")


def mistakes(text: str) -> list[str]:
    """Return the messages, each with its line."""
    with pytest.raises(UserError) as caught:
        specification.parse("x.yaml", text.encode())
    return str(caught.value).splitlines()


@pytest.mark.parametrize("more", ["offset: 0xffc", "offset: 0xff0, count: 100, stride: 12"])
def test_a_register_is_in_one_page(more: str) -> None:
    """The fallback carries out an instruction in one page only."""
    text = with_registers(f"name: SPLIT, width: 64, {more}")
    [line] = mistakes(text.replace("bytes: 4096", "bytes: 8192"))
    assert "SPLIT is in two pages of 0x1000 bytes at 0xffc: move it" in line


def test_an_elements_name_is_not_too_long() -> None:
    """What is a card can be exported and imported again."""
    name = "A" * 62
    specification.parse("x.yaml", with_registers(f"name: {name}, width: 8").encode())
    text = with_registers(f"name: {name[1:]}, width: 8, count: 10")
    specification.parse("x.yaml", text.encode())
    [line] = mistakes(with_registers(f"name: {name}, width: 8, count: 11"))
    assert f"the name of element {name}_10 has 65 letters: 63 at most" in line


def test_an_overlap_is_told_once() -> None:
    """Elements of two arrays overlap, and those of one whose stride is too small."""
    text = with_registers("name: A, width: 32, count: 9", "name: B, width: 32, count: 9")
    [line] = mistakes(text)
    assert "B_0 at 0x200 overlaps A_0 (0x200 to 0x203)" in line
    [line] = mistakes(with_registers("name: A, width: 32, count: 9, stride: 2"))
    assert "2 bytes are less than the 4 of an element" in line


def test_an_overlap_has_its_own_line() -> None:
    """Another register has the name of the element that overlaps."""
    text = with_registers(
        "name: A, width: 32, count: 2, offset: 0x206",
        "name: B, width: 64, offset: 0x200",
        "name: A_0, width: 32, offset: 0x300",
    )
    number = next(i for i, line in enumerate(text.splitlines(), 1) if "name: A," in line)
    [line] = [one for one in mistakes(text) if "overlaps" in one]
    assert line.startswith(f"x.yaml:{number}: A_0 at 0x206 overlaps B (0x200 to 0x207)")


@pytest.mark.parametrize("count", ["5000", "four", "0", "4.0", "null"])
def test_a_wrong_count_is_one_mistake(count: str) -> None:
    """References to elements are not told; those to fields that no element has are."""
    text = GAPS.replace("count: 4", f"count: {count}").replace('bits: "9:8"', "bits: 9")
    text = text.replace("value: 2,", "value: 1,")
    [line] = mistakes(text.replace("STATUS.RECEIVED", "SLOT_3.MODE"))
    assert "count: " in line
    for wrong in ("SLOT_3.NONE", "SLOT.MODE_3", "SLUT_3.MODE"):
        lines = mistakes(text.replace("STATUS.RECEIVED", wrong))
        assert sum("unknown REGISTER.FIELD" in one for one in lines) == 1


def test_an_array_may_end_with_its_bar(tmp_path: Path) -> None:
    """SystemRDL counts the whole stride of the last element, so the array is dissolved."""
    bars = "".join(
        f"  - {{number: {number}, name: {name}, bytes: 16, kind: memory32, description: Small.}}\n"
        for number, name in ((4, "FOURTH"), (5, "FIFTH"))
    )
    text = GAPS.replace("registers:\n", f"{bars}registers:\n", 1).replace(
        "interrupts:",
        "".join(
            f"  - {{name: {name}, bar: {bar}, offset: 0, width: 32, count: 2, stride: {stride},"
            " access: rw, description: Two.}\n"
            for name, bar, stride in (("APART", 4, 12), ("LAST", 5, 8))
        )
        + "interrupts:",
    )
    card = specification.parse("x.yaml", text.encode())
    (tmp_path / "gaps.rdl").write_text(rdl(card))
    again = load_rdl(tmp_path / "gaps.rdl")
    places = [
        [(one.name, one.bar, one.offset) for one in each.all_registers] for each in (again, card)
    ]
    assert places[0] == places[1]
    assert [one.count for one in again.registers if one.bar > 2] == [1, 1, 2]


def test_the_manual_shows_pairs_of_arrays() -> None:
    """One sentence, if all elements correspond, or else one for each pair."""

    def sentences(transmit: str) -> list[str]:
        text = with_registers("name: RX, width: 8, count: 3", transmit)
        for name, access in (("RX", "ro"), ("TX", "wo")):
            own = f"description: More, name: {name}"
            text = text.replace(f"access: rw, {own}", f"access: {access}, {own}")
        page = reference_manual(specification.parse("x.yaml", text.encode()))
        return re.findall(r"At [RT]X_\w+, \w+ is \w+\.", re.sub("</?a[^>]*>", "", page))

    assert sentences("name: TX, width: 8, count: 3") == [
        "At RX_i, TX_i is written.",
        "At TX_i, RX_i is read.",
    ]
    assert sentences("name: TX, width: 8, count: 2, offset: 0x201") == [
        "At RX_1, TX_0 is written.",
        "At RX_2, TX_1 is written.",
        "At TX_0, RX_1 is read.",
        "At TX_1, RX_2 is read.",
    ]
    assert sentences("name: TX, width: 8, offset: 0x202") == ["At RX_2, TX is written."]


def test_an_interrupt_may_belong_to_an_element() -> None:
    text = GAPS.replace('bits: "9:8"', "bits: 9").replace("value: 2,", "value: 1,")
    text = text.replace("STATUS.RECEIVED", "SLOT_3.MODE")
    card = specification.parse("x.yaml", text.encode())
    assert ".status_register = GAPS_INDEX_SLOT_3," in table(card)


def test_arrays_are_limited_together() -> None:
    """The message comes at once, though each array by itself is allowed."""
    text = GAPS
    for name in ("A", "B"):
        text = text.replace(
            "interrupts:",
            f"  - {{name: {name}, bar: 2, offset: 0x200, width: 8, access: rw, count: 4096,"
            " description: Many.}\ninterrupts:",
        )
    with pytest.raises(UserError, match="8,201 registers with all elements: 4096 at most"):
        specification.parse("x.yaml", text.encode())
