# SPDX-License-Identifier: MIT
"""Finds a driver's mistakes in the journal of a run.

Each rule is a function.  It gets a run on one card and yields findings, each with the access that
proves the mistake.  A rule reports a mistake only if the journal proves it. docs/referee.md
explains the rules.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from understudy_devices.cards.journal import Context, Journal, Misuse, What, code
from understudy_devices.cards.model import Buffer, Card
from understudy_devices.cards.register_log import slot
from understudy_devices.cards.shadow import Values, reserved
from understudy_devices.cards.table import MASKS
from understudy_devices.referee import manners
from understudy_devices.referee.events import (
    HANDLERS,
    Bits,
    Event,
    Finding,
    Rule,
    Run,
    acknowledges,
    acting,
    bits_of,
    field_of,
    is_store,
    stores,
)
from understudy_devices.referee.power import Power
from understudy_devices.referee.ring import Ring

NEAR = 64
"""An unfinished start of a transfer is ignored after this many more stores."""


def reserved_bits(run: Run) -> Iterator[Finding]:
    """A store sets bits that no field covers."""
    for event in stores(run):
        for part in event.parts:
            wrong = part.value & reserved(part.register)
            if wrong:
                name = part.register.name
                yield Finding("reserved bits", event.number, f"{name}: {wrong:#x} is reserved")


def no_register(run: Run) -> Iterator[Finding]:
    """An access touches an address without a register."""
    for event in run.events:
        if not run.places.covered(event.bar, event.offset, event.width):
            what = event.what.name.lower()
            yield Finding(
                "no register", event.number, f"a {what} of {event.width} at {event.offset:#x}"
            )


def unknown_instruction(run: Run) -> Iterator[Finding]:
    """An instruction that the bus can't decode touches a register; the bus ignores the access."""
    for event in run.events:
        if event.what == What.UNKNOWN:
            text = f"{code(event.value)} at {event.offset:#x}"
            yield Finding("unknown instruction", event.number, text)


@dataclass
class _Reason:
    """A pending cause of an interrupt: since which record, whether a handler has run for it,
    whether its status bit was read, and by which threads outside of handlers.
    """

    since: int
    handled: bool = False
    seen: bool = False
    seen_by: set[int] = field(default_factory=set)


def missing_acknowledge(run: Run) -> Iterator[Finding]:
    """A handler has run for a cause, but the driver does not clear the cause before it is unbound.

    A reset of the card also clears the cause.  It is a mistake only if the driver has read the
    status bit before, and the resetting thread has not read it itself, outside of handlers.  A
    card that was pulled out has no causes.
    """
    for index, interrupt in enumerate(run.card.interrupts):
        if (status := interrupt.status) is None:
            continue
        reason: _Reason | None = None
        values, power = Values(run.card), Power(run.card)
        for event in run.to_the_end:
            if power.resets(event):
                values, reason = Values(run.card), None
            for part in event.parts if event.what == What.STORE else ():
                values.store(part)
            if event.what == What.RAISED and event.value >> index & 1:
                reason = reason or _Reason(event.number)
            elif reason is None:
                continue
            elif event.what == What.HANDLED:
                reason.handled = True
            elif event.what == What.REMOVED or acknowledges(run.card, event, status):
                reason = None
            elif event.what == What.LOAD:
                if bits_of(event, status).value:
                    reason.seen = True
                    reason.seen_by |= set() if event.context in HANDLERS.values() else {event.pid}
            elif event.what == What.UNBOUND or (
                event.what == What.RAISED and _is_set(run.card, values, interrupt.enable)
            ):
                too_late = reason.seen and event.pid not in reason.seen_by
                if reason.handled and (event.what == What.UNBOUND or too_late):
                    text = f"{status} is handled and not cleared"
                    yield Finding("missing acknowledge", reason.since, text)
                reason = None


def left_enabled(run: Run) -> Iterator[Finding]:
    """The driver is unbound, but the card may still interrupt."""
    for event, values in _followed(run):
        for part in event.parts if event.what == What.STORE else ():
            values.store(part)
        if event.what == What.UNBOUND and not event.absent:
            for interrupt in run.card.interrupts:
                if interrupt.enable and _is_set(run.card, values, interrupt.enable):
                    yield Finding(
                        "interrupts left enabled", event.number, f"{interrupt.enable} is set"
                    )


def _followed(run: Run) -> Iterator[tuple[Event, Values]]:
    """Yield each event with the registers' values, which begin anew when the card is reset."""
    values, power = Values(run.card), Power(run.card)
    for event in run.events:
        if power.resets(event):
            values = Values(run.card)
        yield event, values


def _is_set(card: Card, values: Values, place: str | None) -> bool:
    """Return whether the enable bit is set, or there is none."""
    if place is None:
        return True
    return bool(values[place.partition(".")[0]] & field_of(card, place).bits.mask)


def after_unbind(run: Run) -> Iterator[Finding]:
    """The kernel accesses registers of a card that has no driver."""
    bound = False
    for event in run.events:
        if event.what in (What.BOUND, What.UNBOUND):
            bound = event.what == What.BOUND
        elif event.parts and not bound and event.context != Context.USER:
            yield Finding("touched after removal", event.number, event.parts[0].register.name)


def freed_in_use(run: Run) -> Iterator[Finding]:
    """DMA memory is freed or unmapped while the card uses it, and may still use the bus."""
    begun: dict[int, int] = {}
    power = Power(run.card)
    for event in run.events:
        if power.resets(event) or power.sleeps:
            begun.clear()
        if event.what == What.DMA_BEGUN:
            begun[event.value] = event.value + event.offset
        elif event.what == What.DMA_ENDED:
            begun.pop(event.value, None)
        elif event.what == What.REMOVED or manners.ends_mastering(event):
            begun.clear()
        elif event.what == What.DMA_TAKEN:
            end = event.value + max(event.offset, 1)
            used = [low for low, high in begun.items() if low < end and event.value < high]
            if used:
                text = f"the card was given {used[0]:#x}"
                yield Finding("DMA buffer freed in use", event.number, text)


def changed_in_use(run: Run) -> Iterator[Finding]:
    """The driver changes DMA memory that the card has still to read."""
    for event in run.events:
        if event.what == What.DMA_CHANGED:
            text = f"among the {event.offset} bytes at {event.value:#x}"
            yield Finding("DMA memory changed in use", event.number, text)


def not_given(run: Run) -> Iterator[Finding]:
    """The card accesses memory that the driver has not given to it; the bus refuses the access.

    If the address is just past given memory, the driver's ring does not wrap where it should.
    """
    memory: dict[int, int] = {}
    for event in run.events:
        if event.what == What.DMA_GIVEN:
            memory[event.value] = event.offset
        elif event.what == What.DMA_TAKEN:
            memory.pop(event.value, None)
        elif event.what == What.DMA_REFUSED and not event.absent and not manners.why(event):
            past = any(
                begin <= event.value < begin + 2 * size
                and event.value + event.offset > begin + size
                for begin, size in memory.items()
            )
            name = "wrong ring wrap" if past else "DMA outside the driver's memory"
            yield Finding(name, event.number, f"{event.offset} bytes at {event.value:#x}")


def turned_early(run: Run) -> Iterator[Finding]:
    """A ring wraps early, and the driver then changes bytes there that the card has still to read.

    So the driver writes entries at other addresses than it gives to the card, or more entries than
    the card gets.  Without such a change, the ring is merely smaller than its memory.
    """
    rings: dict[int, Ring] = {}
    changed: dict[int, int] = {}  # a ring's first address, and the first change after a wrap
    for event in run.to_the_end:
        held = [begin for begin, ring in rings.items() if ring.holds(event.value)]
        if event.what == What.DMA_GIVEN:
            rings[event.value] = Ring(event.value, event.offset)
        elif event.what == What.DMA_BEGUN:
            for begin in held:
                rings[begin].sent(event.value)
        elif event.what == What.DMA_CHANGED:
            changed |= {
                begin: event.number
                for begin in held
                if begin not in changed and rings[begin].has_turned()
            }
        elif event.what == What.STORE and _sets_off(run.card, event):
            for ring in rings.values():
                ring.restart()
        elif event.what in (What.DMA_TAKEN, What.UNBOUND):
            ended = rings if event.what == What.UNBOUND else {event.value} & rings.keys()
            for begin in list(ended):
                text, number = rings.pop(begin).early(), changed.pop(begin, None)
                if text and number is not None:
                    yield Finding("wrong ring wrap", number, text)


def _sets_off(card: Card, event: Event) -> bool:
    """Return whether the event sets a bit that triggers an action, such as a reset.

    A bit that it inverts may be such a one, but not if it is a status bit.
    """
    statuses = {one.status for one in card.interrupts}
    return any(
        acting(one.access, Bits(part.lanes & one.bits.mask, part.value & one.bits.mask))
        for part in event.parts
        for one in part.register.fields
        if one.access in MASKS["sets"]
        or (one.access in MASKS["toggles"] and f"{part.register.name}.{one.name}" not in statuses)
    )


def bad_transfer(run: Run) -> Iterator[Finding]:
    """A transfer starts with an address or length that the card's manual forbids."""
    for event, values in _followed(run):
        for part in event.parts if is_store(event) else ():
            values.store(part)
            for buffer in run.buffers():
                if part.register.name == buffer.doorbell:
                    yield from _misfits(buffer, values, event.number)


def _misfits(buffer: Buffer, values: Values, number: int) -> Iterator[Finding]:
    address, length = values[buffer.address], values[buffer.length]
    if address % buffer.alignment:
        yield Finding("misaligned DMA address", number, f"{buffer.name} at {address:#x}")
    if not 0 < length <= buffer.bytes_max:
        yield Finding("bad DMA length", number, f"{buffer.name}: {length} bytes")


def leaked(run: Run) -> Iterator[Finding]:
    """The driver is unbound without freeing or unmapping memory that it gave to the card.

    If its probe refuses the card, the kernel frees managed memory (dmam_alloc_coherent) only after
    the record of that.
    """
    has_refused = False
    memory: dict[int, int] = {}
    for event in run.events:
        if event.what == What.DMA_GIVEN:
            memory[event.value] = event.number
        elif event.what == What.DMA_TAKEN:
            memory.pop(event.value, None)
        elif event.what == What.UNBOUND and event.value:
            has_refused = True
        elif event.what == What.UNBOUND or (event.what == What.BOUND and has_refused):
            has_refused = False
            for address, number in memory.items():
                yield Finding("DMA memory leaked", number, f"at {address:#x}")
            memory.clear()


def no_lock(run: Run) -> Iterator[Finding]:
    """A handler of hard or soft interrupts starts transfers, and code that the handler can
    interrupt starts transfers too.
    """
    for buffer in run.buffers():
        steps = {buffer.address, buffer.length, buffer.doorbell}
        starts = [event for event in stores(run) if steps & _names(event)]
        exposed = [event for event in _while_enabled(run) if steps & _names(event)]
        for handler in sorted({event.context for event in starts} & set(HANDLERS.values())):
            for event in exposed:
                if handler in event.handlers and Context.KERNEL <= event.context < handler:
                    name = sorted(steps & _names(event))[0]
                    text = f"{name} is stored where the handler may interrupt"
                    yield Finding("no lock against the handler", event.number, text)


def _while_enabled(run: Run) -> Iterator[Event]:
    """Yield the stores made while the card may interrupt."""
    for event, values in _followed(run):
        if not is_store(event):
            continue
        if any(_is_set(run.card, values, interrupt.enable) for interrupt in run.card.interrupts):
            yield event
        for part in event.parts:
            values.store(part)


def _names(event: Event) -> set[str]:
    return {part.register.name for part in event.parts}


def torn_start(run: Run) -> Iterator[Finding]:
    """Another context starts a transfer between two of the stores that start this transfer.  So
    the driver has no lock, or a lock that does not exclude other processors.
    """
    for buffer in run.buffers():
        steps = {buffer.address, buffer.length, buffer.doorbell}
        begun: dict[tuple[int, bool], int] = {}  # the context that has begun, and with which store
        overtaken: set[tuple[int, bool]] = set()  # those that began before another's doorbell
        for index, event in enumerate(stores(run)):
            names = steps & _names(event)
            if not names:
                continue
            who = (event.pid, event.context == Context.HARD_INTERRUPT)
            if who in overtaken:
                text = f"{sorted(names)[0]} is stored, but {buffer.name} was started meanwhile"
                yield Finding("no lock between processors", event.number, text)
            overtaken.discard(who)
            begun[who] = index
            if buffer.doorbell in names:
                del begun[who]
                overtaken |= {other for other, since in begun.items() if index - since < NEAR}


def noted(accesses: Journal) -> list[Finding]:
    """Return notes, which are no mistakes of the driver: BARs that it maps without having requested
    them, as some of the kernel's drivers do, and parts where the journal is less exact.
    """
    rows = accesses[accesses["what"] == What.FALLBACK]
    maps = (accesses["what"] == What.MISUSE) & (accesses["value"] == Misuse.REQUESTS_NOT)
    return [
        Finding(
            "BAR not requested",
            int(row["number"]),
            f"BAR {row['bar']} is mapped without pci_request_region: another driver may use it too",
        )
        for row in accesses[maps]
    ] + [
        Finding(
            "carried out by the fallback",
            int(row["number"]),
            f"{code(int(row['value']))} at {int(row['offset']):#x}: the journal lacks "
            "unchanged values, reads, and the order within the instruction",
        )
        for row in rows
    ]


RULES: tuple[Rule, ...] = (
    reserved_bits,
    no_register,
    unknown_instruction,
    missing_acknowledge,
    left_enabled,
    after_unbind,
    freed_in_use,
    changed_in_use,
    not_given,
    turned_early,
    bad_transfer,
    leaked,
    no_lock,
    torn_start,
    *manners.RULES,
)


def found(card: Card, accesses: Journal, whole: bool = True, log: str = "") -> list[Finding]:
    """Return all findings of the rules, in the order of the journal.  The rules are applied to each
    card, and to each function, by itself.

    `whole`: the journal's end is not cut off.  `log`: the kernel's log, which has details.
    """
    findings: list[Finding] = []
    for number in sorted(set(accesses["card"].tolist())):
        run = Run(card, accesses[accesses["card"] == number], whole, log)
        ours = [finding for rule in RULES for finding in rule(run)]
        if card.functions > 1:
            where = slot(card, number)
            ours = [replace(one, text=f"{where}: {one.text}") for one in ours]
        findings += ours
    return sorted(findings, key=lambda finding: finding.number)
