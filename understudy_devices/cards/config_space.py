# SPDX-License-Identifier: MIT
"""Where the capabilities of a card are in its config space.

Each has its place (kernel/vpcib/config.c, power.c).  Vendor-specific capabilities are in the gaps
between those that the card has.
"""

from typing import Final

from understudy_devices.cards.model import Capabilities

BEGIN, END = 0x40, 0x100
HEADER_BYTES = 3
"""Of a vendor-specific capability: its ID, the place of the next capability, its length."""
PLACES: Final[dict[str, tuple[int, int]]] = {
    "msi": (0x40, 0x58),
    "msix": (0x60, 0x6C),
    "pm": (0x70, 0x78),
    "express": (0x80, 0xBC),
}
"""The first byte of each capability, and the first one after it."""


def vendor_places(capabilities: Capabilities) -> list[int | None]:
    """Return the place of each vendor-specific capability, a multiple of 4; None if it has no
    room: the first gap in which it fits.
    """
    taken = [place for name, place in PLACES.items() if getattr(capabilities, name)]
    places: list[int | None] = []
    for one in capabilities.vendor:
        size = HEADER_BYTES + len(one.data)
        at = next((at for at in range(BEGIN, END - size + 1, 4) if _is_free(at, size, taken)), None)
        places.append(at)
        taken += [] if at is None else [(at, at + size)]
    return places


def _is_free(at: int, size: int, taken: list[tuple[int, int]]) -> bool:
    return all(at + size <= begin or end <= at for begin, end in taken)
