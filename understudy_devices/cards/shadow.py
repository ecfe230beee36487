# SPDX-License-Identifier: MIT
"""The values of a card's registers, as far as its driver's stores determine them.

An access of 1 to 8 bytes may touch several registers, or part of a register; `Places` splits it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from understudy_devices.cards.model import Card, Register, Side

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


def meaning(register: Register) -> int:
    """Return the mask of a register's bits that are not reserved."""
    return ((1 << register.width) - 1) & ~reserved(register)


class Values:
    """The values of a card's registers after the recorded stores of its driver."""

    def __init__(self, card: Card) -> None:
        self._held = {register.name: register.initial for register in card.all_registers}

    def __getitem__(self, name: str) -> int:
        return self._held[name]

    def store(self, part: Part) -> None:
        """Record a store that reached the card."""
        old = self._held[part.register.name]
        new = (old & ~part.lanes) | part.value
        self._held[part.register.name] = new & meaning(part.register)
