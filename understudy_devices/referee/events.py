# SPDX-License-Identifier: MIT
"""The journal of one card as events, which the referee's rules examine."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

from understudy_devices.cards.journal import (
    ABSENT,
    INTERRUPTIBLE,
    NOT_DECODED,
    SOFT_INTERRUPTIBLE,
    Context,
    Journal,
    What,
)
from understudy_devices.cards.model import AT_ZERO, Access, Buffer, Card, RegisterField
from understudy_devices.cards.shadow import Part, Places
from understudy_devices.cards.table import MASKS

HANDLERS = {
    INTERRUPTIBLE: Context.HARD_INTERRUPT,
    SOFT_INTERRUPTIBLE: Context.SOFT_INTERRUPT,
}
DETAILS = re.compile(r"vpcib: misuse, record (\d+): (.*)")
"""A line of the kernel's log (kernel/vpcib/misuse.c)."""


@dataclass(frozen=True)
class Finding:
    """A mistake: its name, where the journal shows it, and details."""

    rule: str
    number: int
    text: str


@dataclass(frozen=True)
class Event:
    """One record of the journal, with the registers that it touches."""

    number: int
    what: What
    context: Context
    value: int
    offset: int
    width: int
    """0 if it is neither a load nor a store."""
    bar: int
    pid: int
    cpu: int
    ip: int
    absent: bool
    """The card did not react: it was gone, or its memory decoding was off."""
    flags: int
    handlers: frozenset[Context]
    """The kinds of handlers that could run at this point."""
    parts: tuple[Part, ...]


class Run:
    """The journal of one card, and the card's specification."""

    def __init__(self, card: Card, accesses: Journal, whole: bool, log: str = "") -> None:
        """Prepare the run; `whole`: the journal's end is not cut off; `log`: the kernel's log."""
        self.card = card
        self.details = {int(number): text.strip() for number, text in DETAILS.findall(log)}
        """What the kernel's log says about a record, by its number."""
        self.places = Places(card)
        self.events = [self._event(access) for access in accesses]
        *_, last = self.events
        self.to_the_end = self.events
        """The same, and the journal's end, which counts as unbinding the driver."""
        if whole:
            self.to_the_end = [*self.events, replace(last, what=What.UNBOUND)]

    def _event(self, access: "Journal") -> Event:
        bar, offset, width, value, flags = (
            int(access[name]) for name in ("bar", "offset", "bytes", "value", "flags")
        )
        what = What(int(access["what"]))
        width = width if what in (What.LOAD, What.STORE) else 0
        return Event(
            number=int(access["number"]),
            what=what,
            context=Context(int(access["context"])),
            value=value,
            offset=offset,
            width=width,
            bar=bar,
            pid=int(access["pid"]),
            cpu=int(access["cpu"]),
            ip=int(access["ip"]),
            absent=bool(flags & (ABSENT | NOT_DECODED)),
            flags=flags,
            handlers=frozenset(HANDLERS[flag] for flag in HANDLERS if flags & flag),
            parts=tuple(self.places.parts(bar, offset, width, value, stored=what == What.STORE)),
        )

    def buffers(self) -> tuple[Buffer, ...]:
        """Return everything that the card reads and writes by DMA."""
        return (*self.card.buffers, *self.card.rings)


Rule = Callable[[Run], Iterator[Finding]]


def is_store(event: Event) -> bool:
    """Return whether it is a store that reaches the card."""
    return event.what == What.STORE and not event.absent


def stores(run: Run) -> Iterator[Event]:
    """Yield the stores that reach the card."""
    return filter(is_store, run.events)


def acknowledges(card: Card, event: Event, status: str) -> bool:
    """Return whether the event clears the cause.

    A status bit that neither a write nor a read clears becomes 0 when its cause ends; the journal
    then has a RAISED record.
    """
    access = field_of(card, status).access
    bits = bits_of(event, status)
    if access in (*MASKS["clears"], *MASKS["toggles"]):
        return event.what == What.STORE and bool(acting(access, bits))
    if access == "rc":
        return event.what == What.LOAD and bool(bits.lanes)
    return event.what == What.RAISED


class Bits(NamedTuple):
    """The bits of one field that an access touches (`lanes`), and their values."""

    lanes: int
    value: int


def acting(access: Access, bits: Bits) -> int:
    """Return which bits of a field a store clears, sets or inverts, if the access is for that."""
    if access in MASKS["always"]:
        return bits.lanes
    return bits.lanes & ~bits.value if access in AT_ZERO else bits.value


def bits_of(event: Event, place: str) -> Bits:
    """Return the bits of the field called REGISTER.FIELD that an access touches."""
    register, _, name = place.partition(".")
    for part in event.parts:
        for one in part.register.fields:
            if (part.register.name, one.name) == (register, name):
                mask = one.bits.mask
                return Bits(part.lanes & mask, part.value & mask)
    return Bits(0, 0)


def field_of(card: Card, place: str) -> RegisterField:
    """Return the field called REGISTER.FIELD."""
    register, _, name = place.partition(".")
    fields = next(one.fields for one in card.all_registers if one.name == register)
    return next(one for one in fields if one.name == name)
