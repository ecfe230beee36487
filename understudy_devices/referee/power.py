# SPDX-License-Identifier: MIT
"""What a driver's writes to the configuration space do to a card's power and registers, as
kernel/vpcib/power.c does it."""

from understudy_devices.cards.journal import What
from understudy_devices.cards.model import Card
from understudy_devices.cards.register_log import ASLEEP, EXPRESS, FAULTS, POWER, RESET
from understudy_devices.referee.events import Event

RESET_FAULT = FAULTS.index("reset")


class Power:
    """Whether a card sleeps, from its events in order."""

    def __init__(self, card: Card) -> None:
        """Begin with a card that is awake."""
        self._capabilities = card.capabilities
        self.sleeps = False

    def resets(self, event: Event) -> bool:
        """Take the next event; return whether it sets the registers to their power-on values."""
        pm, express = self._capabilities.pm, self._capabilities.express
        if event.what in (What.ADDED, What.RESET):  # another card in this slot, or a reset of it
            self.sleeps = False
            return True
        if event.what == What.FAULT:
            return event.value == RESET_FAULT
        if event.what != What.CONFIG_WRITE or event.absent:
            return False
        if express and express.flr and _bits(event, EXPRESS) & RESET:
            self.sleeps = False
            return True
        if not pm or event.offset != POWER or event.value & ASLEEP not in (0, ASLEEP):
            return False
        wakes = self.sleeps and not event.value & ASLEEP
        self.sleeps = bool(event.value & ASLEEP)
        return wakes and not pm.no_soft_reset


def _bits(event: Event, place: int) -> int:
    """Return what a write of any width stores in the word at a place."""
    shift = 8 * (event.offset - place)
    if not 0 <= shift < 16:
        return 0
    return event.value << shift & 0xFFFF
