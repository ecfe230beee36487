# SPDX-License-Identifier: MIT
"""Rules on what a driver owes to the PCI bus and to the kernel: it enables its card, allows bus
mastering, maps memory for the right direction, accepts the card, says what its handler has done,
does not sleep where that is forbidden, and releases what it has requested.
"""

from collections.abc import Iterator

from understudy_devices.cards.journal import (
    ABSENT,
    NOT_DECODED,
    NOT_MASTER,
    SPURIOUS,
    STALE,
    WRONG_DIRECTION,
    Context,
    Misuse,
    What,
)
from understudy_devices.cards.model import Register
from understudy_devices.cards.shadow import Part
from understudy_devices.referee.events import Event, Finding, Rule, Run, acknowledges, bits_of
from understudy_devices.referee.power import Power

COMMAND = 4
"""Offset of the command register in the configuration space."""
MASTER = 0x4
RETURNED_NONE, RETURNED_HANDLED = 1, 2
"""Values of a HANDLED record: IRQ_NONE and IRQ_HANDLED, plus 1."""
MISUSES: dict[int, str] = {
    Misuse.SLEEPS: "sleeping in atomic context",
    Misuse.KEEPS_REGION: "region not released",
    Misuse.KEEPS_MAPPING: "BAR mapping leaked",
    Misuse.KEEPS_INTERRUPT: "interrupt not freed",
    Misuse.COPIES_PAST_END: "copy past the end",
    Misuse.MAPS_PAST_END: "mapping past the end",
    Misuse.BREAKS_RULE: "rule of the card broken",
    Misuse.RELEASES_OTHER: "DMA memory released wrongly",
    Misuse.KEEPS_ENABLED: "card left enabled",
    Misuse.FREES_MAPPED: "DMA memory freed while mapped",
    Misuse.SHARES_NOT: "interrupt line not shared",
}


def why(event: Event) -> str | None:
    """Return why the bus refused a transfer by memory that the driver owns, or None if the driver
    has not given this memory to the card.
    """
    if event.flags & NOT_MASTER:
        return "no bus mastering"
    return "wrong DMA direction" if event.flags & WRONG_DIRECTION else None


def ends_mastering(event: Event) -> bool:
    """Return whether the driver forbids the card to transfer, as pci_clear_master does."""
    is_command = event.what == What.CONFIG_WRITE and event.offset == COMMAND
    return is_command and not event.value & MASTER


def no_mastering(run: Run) -> Iterator[Finding]:
    """The card wants to transfer or to send a message before the driver has allowed it
    (pci_set_master).

    A driver that has allowed it and then forbids it stops its card by that, which is no mistake.
    """
    allowed = True
    for event in run.events:
        if event.what == What.BOUND:
            allowed = False
        elif event.what == What.CONFIG_WRITE and event.offset == COMMAND:
            allowed |= bool(event.value & MASTER)
        elif event.flags & NOT_MASTER and not allowed and not event.flags & ABSENT:
            refused = "an interrupt's message"
            if event.what == What.DMA_REFUSED:
                refused = f"a transfer at {event.value:#x}"
            yield Finding("no bus mastering", event.number, f"the bus refuses {refused}")


def not_decoded(run: Run) -> Iterator[Finding]:
    """The driver accesses registers without having enabled the card (pci_enable_device), or while
    it sleeps.
    """
    bound, power = False, Power(run.card)
    for event in run.events:
        power.resets(event)
        if event.what in (What.BOUND, What.UNBOUND):
            bound = event.what == What.BOUND
        elif event.parts and bound and event.flags & NOT_DECODED and not event.flags & ABSENT:
            text = f"a {event.what.name.lower()} of {event.parts[0].register.name} has no effect"
            name = "access in D3" if power.sleeps else "memory decoding off"
            yield Finding(name, event.number, text)


def wrong_direction(run: Run) -> Iterator[Finding]:
    """The driver mapped memory for the other direction than the card's transfer."""
    for event in run.events:
        if event.what == What.DMA_REFUSED and why(event) == "wrong DMA direction":
            text = f"{event.offset} bytes at {event.value:#x}"
            yield Finding("wrong DMA direction", event.number, text)


def not_synced(run: Run) -> Iterator[Finding]:
    """The driver has changed mapped memory, and not synced it before the card reads it.

    A real machine may let the card read the old bytes, from a bounce buffer or since the
    processor's cache has the new ones.
    """
    for event in run.events:
        if event.what == What.DMA_READ and event.flags & STALE:
            text = f"the card reads old bytes among {event.offset} at {event.value:#x}"
            yield Finding("DMA not synced", event.number, text)


def refused_card(run: Run) -> Iterator[Finding]:
    """The driver's probe refuses the card, and does not accept it later."""
    refusal: Event | None = None
    for event in run.events:
        if event.what == What.BOUND:
            refusal = None
        elif event.what == What.UNBOUND and event.value and not event.flags & ABSENT:
            refusal = event
    if refusal:
        text = "the driver's probe has refused the card"
        yield Finding("probe failed", refusal.number, text)


def none_after_work(run: Run) -> Iterator[Finding]:
    """A handler clears the status bit of a pending interrupt, and returns IRQ_NONE."""
    pending = 0
    causes: dict[int, int] = {}  # those of the handler that runs on a processor
    cleared: dict[int, str] = {}  # what the handler has cleared there
    for event in run.events:
        if event.what == What.RAISED:
            pending = event.value
        elif event.what == What.HANDLING:
            causes[event.cpu] = pending
            cleared.pop(event.cpu, None)
        elif event.what == What.HANDLED:
            name = cleared.pop(event.cpu, None)
            causes.pop(event.cpu, None)
            if name and event.value == RETURNED_NONE:
                text = f"the handler has cleared {name}, and returns IRQ_NONE"
                yield Finding("IRQ_NONE after work", event.number, text)
        elif event.context == Context.HARD_INTERRUPT and event.parts and not event.absent:
            for index, interrupt in enumerate(run.card.interrupts):
                status = interrupt.status
                was_there = causes.get(event.cpu, 0) >> index & 1
                if status and was_there and acknowledges(run.card, event, status):
                    cleared[event.cpu] = status


def handled_nothing(run: Run) -> Iterator[Finding]:
    """A handler on a shared line claims an interrupt of another card (IRQ_HANDLED).

    A handler that has read a status bit as 1 may claim the interrupt; the bit may be disabled.
    """
    statuses = [one.status for one in run.card.interrupts if one.status]
    spurious: dict[int, bool] = {}  # whether nothing was raised for the handler on a processor
    raised = 0
    for event in run.events:
        if event.what == What.HANDLING:
            spurious[event.cpu] = bool(event.flags & SPURIOUS) and not raised
        elif event.what == What.RAISED:
            raised = event.value
            if raised:
                spurious.clear()
        elif event.what == What.LOAD and any(bits_of(event, one).value for one in statuses):
            spurious.pop(event.cpu, None)
        elif event.what == What.HANDLED and spurious.pop(event.cpu, False):
            if event.value != RETURNED_HANDLED:
                continue
            text = "the handler returns IRQ_HANDLED, and the card has not interrupted"
            yield Finding("IRQ_HANDLED for nothing", event.number, text)


def clears_unseen(run: Run) -> Iterator[Finding]:
    """A read-modify-write of a register also clears status bits of interrupts: the driver changes
    other bits, and writes back the ones that it has read.

    Reported only outside of handlers, where the handler still waits for the cleared bits.
    """
    loaded: dict[tuple[int, str], int] = {}
    for event in run.events:
        if event.absent or event.context != Context.KERNEL:
            continue
        for part in event.parts:
            name = part.register.name
            clearing = _mask(part.register, "w1c", "w1t")
            if event.what == What.LOAD:
                loaded[event.pid, name] = part.value
            elif event.what == What.STORE:
                value = loaded.pop((event.pid, name), 0)
                seen, stored = value & clearing, part.value & clearing
                changed = (value ^ part.value) & part.lanes & _mask(part.register, "rw", "w1s")
                if seen and seen == stored and changed:
                    text = f"{name}: {seen:#x} was read, and is written back with other changes"
                    yield Finding("read-modify-write clears", event.number, text)


def _mask(register: Register, *accesses: str) -> int:
    """Return the bits of the fields with one of these accesses."""
    return sum(one.bits.mask for one in register.fields if one.access in accesses)


def wrong_width(run: Run) -> Iterator[Finding]:
    """An access covers a part of a register, or several registers; the manual forbids both.

    A register of 64 bits may also be accessed by its halves.  The fallback's stores have not the
    width of the driver's instruction.
    """
    fallback: int | None = None
    for event in run.events:
        if event.what == What.FALLBACK:
            fallback = event.ip
        elif event.parts and event.context != Context.USER and event.ip != fallback:
            first = event.parts[0].register
            if len(event.parts) > 1 or not _is_whole(event.parts[0]):
                text = f"{event.width} bytes at {event.offset:#x} of {first.name}"
                yield Finding("access of the wrong width", event.number, text)


def _is_whole(part: Part) -> bool:
    half = (1 << 32) - 1
    whole = (1 << part.register.width) - 1
    return part.lanes == whole or (part.register.width == 64 and part.lanes in (half, half << 32))


def misused(run: Run) -> Iterator[Finding]:
    """The bus has noticed what the driver does wrong to the kernel, or the card has reported it."""
    for event in run.events:
        if event.what == What.MISUSE and event.value in MISUSES:
            name = MISUSES[event.value]
            yield Finding(name, event.number, run.details.get(event.number, "(no details)"))


RULES: tuple[Rule, ...] = (
    no_mastering,
    not_decoded,
    wrong_direction,
    not_synced,
    refused_card,
    none_after_work,
    handled_nothing,
    clears_unseen,
    wrong_width,
    misused,
)
