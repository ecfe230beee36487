# SPDX-License-Identifier: MIT
"""Variants of cards: valid, of equal size, and different in what a driver has to know."""

import re

import pytest

from understudy_devices.cards import specification
from understudy_devices.cards.header import header
from understudy_devices.course import card
from understudy_devices.course.draws import Draws

COUNT = 40


def drawn(name: str, number: int) -> card.Variant:
    return card.variant(name, Draws(number.to_bytes(8, "big")))


@pytest.mark.parametrize("name", sorted(card.ORIGINALS))
def test_every_variant_is_a_valid_card_of_the_same_size(name: str) -> None:
    original = specification.load(name)
    for number in range(COUNT):
        variant = drawn(name, number)
        text = variant.files()[f"{name}.yaml"]
        assert specification.parse(f"{number}.yaml", text) == variant.card
        assert len(variant.card.registers) == len(original.registers)
        bits = (sum(len(each.fields) for each in one.registers) for one in (variant.card, original))
        assert len(set(bits)) == 1


@pytest.mark.parametrize("name", sorted(card.ORIGINALS))
def test_neighbours_have_other_cards(name: str) -> None:
    one, other = drawn(name, 1), drawn(name, 2)
    assert one == drawn(name, 1)
    assert one.key != other.key
    assert one.card.config.device != other.card.config.device
    shared = {each.name: each.offset for each in one.card.registers}.items() & {
        each.name: each.offset for each in other.card.registers
    }.items()
    assert len(shared) < len(one.card.registers) / 2
    assert one.behaviour != other.behaviour


@pytest.mark.parametrize("name", sorted(card.ORIGINALS))
def test_the_key_is_in_the_manual_alone(name: str) -> None:
    variant = drawn(name, 3)
    key = f"{variant.key:#010x}"
    doorbell = variant.names[card.ORIGINALS[name].doorbell]
    (register,) = [each for each in variant.card.registers if each.name == doorbell]
    assert key in register.description
    assert key not in re.sub(r"/\*.*?\*/", "", header(variant.card), flags=re.DOTALL)
    assert key in variant.driver()
    assert key not in drawn(name, 4).driver()


@pytest.mark.parametrize("name", sorted(card.ORIGINALS))
def test_no_old_name_is_left(name: str) -> None:
    variant = drawn(name, 5)
    tokens = re.findall(rf"\b{name.upper()}_(?:INDEX_)?(\w+)", variant.behaviour + variant.driver())
    for old in variant.names:
        left = [
            each
            for each in tokens
            if re.match(rf"{old}(_|$)", each) and old not in variant.names.values()
        ]
        assert not left, old
