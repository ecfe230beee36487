# SPDX-License-Identifier: MIT
"""The manual of a card: it contains the whole specification, and its drawings are well-formed."""

import re
from html import escape
from xml.etree import ElementTree

import pytest
from card_texts import GOOD

from understudy_devices.base.paths import cards_dir
from understudy_devices.cards import specification
from understudy_devices.cards.model import Card
from understudy_devices.show.card.reference import reference_manual as manual

TINY = specification.parse("x.yaml", GOOD.encode())
CARDS = [*map(specification.load, specification.catalogue()), TINY]
FIELD = '{name: MIDDLE, bits: "39:30", access: rw, description: In both rows.}'
WIDE = GOOD.replace("width: 64, access: rw", f"width: 64, fields: [{FIELD}]")


def drawings(page: str) -> list[ElementTree.Element]:
    """Return the manual's SVGs, parsed as XML."""
    return [ElementTree.fromstring(svg) for svg in re.findall(r"<svg.*?</svg>", page)]


def boxes(svg: ElementTree.Element) -> list[tuple[int, int, int, bool]]:
    """Return each box's top, left and width, and whether the box is a reserved field's."""
    return [
        (int(box.get("y", "")), int(box.get("x", "")), int(box.get("width", "")), _grey(box))
        for box in svg.iter("rect")
    ]


def _grey(box: ElementTree.Element) -> bool:
    return box.get("fill") != "none"


@pytest.mark.parametrize("card", CARDS, ids=lambda card: card.name)
def test_everything_is_in_it(card: Card) -> None:
    page = manual(card)
    for register in card.registers:
        section = page.split(f'id="{register.name}"')[1].split("</section>")[0]
        assert f"{register.offset:#05x}" in section
        assert escape(register.description) in section.replace("&#39;", "&#x27;")
        for field in register.fields:
            assert f"<td>{field.name}</td><td>{field.bits}</td><td>{field.access}</td>" in section
            assert all(f"<b>{entry.name}</b>" in section for entry in field.values)
    names = [one.name for one in card.interrupts]
    names += [one.name for one in (*card.buffers, *card.rings)]
    assert all(name in page.split('id="interrupts"')[1] for name in names)


@pytest.mark.parametrize("card", CARDS, ids=lambda card: card.name)
def test_it_needs_nothing_else(card: Card) -> None:
    page = manual(card)
    ids = re.findall(r' id="([^"]+)"', page)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'href="([^"]*)"', page)) <= {f"#{name}" for name in ids}
    assert not re.search(r"src=|https?:|@import|url\(", page)
    assert page == manual(card)


@pytest.mark.parametrize(
    "card",
    [*CARDS, specification.parse("x.yaml", WIDE.encode())],
    ids=lambda card: card.name,
)
def test_the_boxes_of_a_drawing_are_the_bits(card: Card) -> None:
    registers = sorted(card.registers, key=lambda one: (one.bar, one.offset))
    svgs = drawings(manual(card))
    assert len(svgs) == len(registers)
    for register, svg in zip(registers, svgs, strict=True):
        layout = sorted(boxes(svg))
        width = layout[-1][1] + layout[-1][2]
        bit = width // min(register.width, 32)
        rows = sorted({top for top, *_ in layout})
        grey: set[int] = set()
        seen: list[int] = []
        for top, left, wide, reserved in layout:
            above = 32 * (len(rows) - 1 - rows.index(top))
            last = above + (width - left) // bit
            bits = range(last - wide // bit, last)
            seen += bits
            grey |= set(bits) if reserved else set()
        assert sorted(seen) == list(range(register.width)), register.name
        used = {
            at for field in register.fields for at in range(field.bits.low, field.bits.high + 1)
        }
        assert grey == (set() if register.access else set(range(register.width)) - used)


def test_a_text_cannot_be_markup() -> None:
    text = (cards_dir() / "copier.yaml").read_text()
    page = manual(
        specification.parse("x.yaml", text.replace("The operation.", "<script>&").encode())
    )
    assert "<script>" not in page
    assert "&lt;script&gt;&amp;" in page


def test_a_card_without_interrupts_and_dma_says_so() -> None:
    text = GOOD[: GOOD.index("interrupts:")].replace("capabilities:\n  msi: {vectors: 2}\n", "")
    page = manual(specification.parse("x.yaml", text.encode()))
    assert "The card never interrupts." in page
    assert "The card reads and writes no memory of the driver." in page
    assert "INTA" in page
