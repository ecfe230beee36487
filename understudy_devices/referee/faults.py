# SPDX-License-Identifier: MIT
"""Faults of a card that a driver has to survive (kernel/vpcib/fault.c).

A run with a fault: the driver is loaded, the fault is set, the exercise runs and may fail, the
driver is unloaded and loaded again, and now the exercise must pass.  If requests are refused, the
fault is set before the driver is loaded, and once for each of its requests.
"""

import random
from dataclasses import dataclass

from understudy_devices.cards.model import Card

FAULTS = {
    "interrupt": ("an interrupt's message is lost", 6),
    "dma": ("a transfer fails", 6),
    "ones": ("the card does not answer for 20 ms, and loads return ones", 60),
    "stall": ("the card works 3 s late", 4),
    "reset": ("the card resets itself", 60),
    "corrupt": ("a byte of a transfer arrives wrong", 24),
    "request": ("the kernel refuses a request that the driver makes while it is loaded", 1),
    "error": ("the card reports a fatal error, and the kernel resets it (a card with AER)", 60),
}
"""Each fault: what happens, and at most at which opportunity.  For a request, this is where the run
begins: it goes on with the next request, until there is none."""


def possible(card: Card) -> tuple[str, ...]:
    """Return the faults that a card can have."""
    reports = card.capabilities.express and card.capabilities.express.aer
    return tuple(kind for kind in FAULTS if reports or kind != "error")


CAUSED = frozenset(
    {
        "missing acknowledge",
        "interrupts left enabled",
        "IRQ_NONE after work",
        "IRQ_HANDLED for nothing",
        "no bus mastering",
        "memory decoding off",
        "wrong ring wrap",
        "read-modify-write clears",
    }
)
"""Findings that a right driver may have since a fault has changed the card behind its back."""
LOST = frozenset({"DMA outside the driver's memory", "DMA buffer freed in use"})
CAUSED_BY = {
    "reset": LOST,
    "ones": LOST,
    "error": LOST,
    "corrupt": LOST
    | {
        "DMA memory changed in use",
        "wrong DMA direction",
        "misaligned DMA address",
        "bad DMA length",
        "rule of the card broken",
    },
}
"""A reset may come between the stores of an address and of the doorbell, and a card that was reset
does not say that it has ended.  A driver that loads ones takes the card for gone, and takes its
memory back.  A wrong byte may be part of an address, a length or a status."""


def causes(kind: str) -> frozenset[str]:
    """Return the findings that a right driver may have with a fault."""
    return CAUSED | CAUSED_BY.get(kind, frozenset())


@dataclass(frozen=True)
class Fault:
    """A fault at an opportunity, counted from 1."""

    kind: str
    number: int

    def __str__(self) -> str:
        return f"fault: {self.kind} {self.number}"


def drawn(kind: str, seed: int) -> Fault:
    """Return the fault at the opportunity that the seed determines."""
    _, most = FAULTS[kind]
    return Fault(kind, random.Random(f"{kind} {seed}").randint(1, most))
