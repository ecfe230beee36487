# SPDX-License-Identifier: MIT
"""The values of a card's registers, as far as its driver's stores determine them.

An access of 1 to 8 bytes may touch several registers, or part of a register; `Places` splits it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from understudy_devices.cards.model import Card, Register, Side
from understudy_devices.cards.table import MASKS

SIDES: Final[dict[Side, tuple[Side, ...]]] = {
    "both": ("loaded", "stored"),
    "loaded": ("loaded",),
    "stored": ("stored",),
}


@dataclass(frozen=True)
class Part:
    """The part of one register that an access touches: the bits `lanes`, with value `value`."""

    register: Register
    lanes: int
    value: int


class Places:
    """Finds the registers of a card by their addresses."""

    def __init__(self, card: Card) -> None:
        self._by_byte = {
            (register.bar, byte, side == "stored"): register
            for register in card.all_registers
            for byte in range(register.offset, register.end)
            for side in SIDES[card.side(register)]
        }

    def parts(
        self, bar: int, offset: int, width: int, value: int, *, stored: bool
    ) -> Iterator[Part]:
        """Yield the registers that a store or load of `width` bytes touches, in order of
        address."""
        touched: dict[str, tuple[Register, int, int]] = {}
        for index in range(width):
            register = self._by_byte.get((bar, offset + index, stored))
            if not register:
                continue
            shift = 8 * (offset + index - register.offset)
            _, lanes, held = touched.get(register.name, (register, 0, 0))
            byte = value >> 8 * index & 0xFF
            touched[register.name] = (register, lanes | 0xFF << shift, held | byte << shift)
        for register, lanes, held in touched.values():
            yield Part(register, lanes, held)

    def covered(self, bar: int, offset: int, width: int) -> bool:
        """Return whether each byte of an access belongs to a register."""
        return all((bar, offset + index, True) in self._by_byte for index in range(width))


def reserved(register: Register) -> int:
    """Return the mask of a register's reserved bits, which no field covers."""
    everything = (1 << register.width) - 1
    if register.access:
        return 0
    return everything & ~sum(field.bits.mask for field in register.fields)


class Values:
    """The values of a card's registers after the recorded stores of its driver.

    What the card itself changes is missing, and so is what loads clear or set.
    """

    def __init__(self, card: Card) -> None:
        self._held = {register.name: register.initial for register in card.all_registers}
        self._masks: dict[str, dict[str, int]] = {}

    def __getitem__(self, name: str) -> int:
        return self._held[name]

    def store(self, part: Part) -> None:
        """Record a store that reached the card, as registers_store (core/cards/registers.c)."""
        masks = self._masks_of(part.register)
        taken = masks["writable"] & part.lanes
        acts = ((part.value ^ masks["at_zero"]) | masks["always"]) & part.lanes
        value = self._held[part.register.name] & ~(taken | (acts & masks["clears"]))
        value |= (taken & part.value) | (acts & masks["sets"])
        self._held[part.register.name] = value ^ (acts & masks["toggles"])

    def _masks_of(self, register: Register) -> dict[str, int]:
        if register.name not in self._masks:
            masks = {name: register.bits_with(*accesses) for name, accesses in MASKS.items()}
            self._masks[register.name] = masks
        return self._masks[register.name]
