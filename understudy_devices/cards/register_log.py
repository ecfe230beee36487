# SPDX-License-Identifier: MIT
"""The register log: a journal as text, one line per access.

    12.003456789 CPU0 kernel   pid 71  store DMA_LENGTH 0x1c0 BYTES=448

The columns are seconds of the guest's monotonic clock, the processor, the driver's context, the
process, the access with its register and value, and those fields of the register that are not 0.
A function of a card with several is called by its slot and its number: slot 3.1.
"""

from collections.abc import Iterator

from understudy_devices.cards.journal import (
    ABSENT,
    NOT_DECODED,
    NOT_MASTER,
    SLOTS,
    STALE,
    WRONG_DIRECTION,
    Context,
    Journal,
    Misuse,
    What,
    code,
)
from understudy_devices.cards.model import Card, Register
from understudy_devices.cards.shadow import Part, Places

CONTEXTS = {
    Context.USER: "process",
    Context.KERNEL: "kernel",
    Context.SOFT_INTERRUPT: "softirq",
    Context.HARD_INTERRUPT: "handler",
    Context.CARD: "card",
}
IGNORED = {
    ABSENT: " (the card is gone)",
    NOT_DECODED: " (memory decoding is off, or the card sleeps)",
    NOT_MASTER: " (bus mastering is off)",
    STALE: " (not synced)",
    WRONG_DIRECTION: " (mapped for the other direction)",
}
CONFIG = {What.CONFIG_READ: "config load ", What.CONFIG_WRITE: "config store"}
POWER, ASLEEP = 0x74, 0x3
EXPRESS, RESET = 0x88, 0x8000
"""Words of the configuration space, and their bits: D3hot, and the function-level reset."""
SWITCHES = {
    0x04: ("COMMAND", {0x2: "memory decoding", 0x4: "bus mastering", 0x400: "no INTA"}),
    0x42: ("MSI", {0x1: "enabled"}),
    POWER: ("D3hot", {ASLEEP: "on"}),
    EXPRESS: ("function-level reset", {RESET: "on"}),
    0x62: ("MSI-X", {0x8000: "enabled", 0x4000: "all masked"}),
}
"""The registers of the configuration space that switch something on (kernel/vpcib/config.c,
power.c), with their bits."""
FAULTS = ("none", "interrupt", "dma", "ones", "stall", "reset", "corrupt", "request", "error")
"""The kinds of faults, by their numbers (kernel/vpcib/card.h)."""
DMA = tuple(what for what in What if what.name.startswith("DMA_"))


def lines(card: Card, accesses: Journal) -> Iterator[str]:
    """Yield a line for each access."""
    places = Places(card)
    for access in accesses:
        where = CONTEXTS[Context(int(access["context"]))]
        yield (
            f"{int(access['ns']) / 1e9:.9f} CPU{access['cpu']} {slot(card, int(access['card']))} "
            f"{where:8}pid {access['pid']:<6}{said(card, places, access)}{ignored(access)}"
        )


def slot(card: Card, number: int) -> str:
    """Return the slot of a card in a journal, with the function if it has several: slot 3.1."""
    function = f".{number // SLOTS}" if card.functions > 1 else ""
    return f"slot {number % SLOTS}{function}"


def ignored(access: Journal) -> str:
    """Return why the access had no effect, or not the one that it should have; or nothing."""
    return next((text for flag, text in IGNORED.items() if access["flags"] & flag), "")


def said(card: Card, places: Places, access: Journal) -> str:
    """Return the access with its register, value and fields, without when and where it was."""
    what = What(int(access["what"]))
    value, offset = int(access["value"]), int(access["offset"])
    if what in DMA:
        return f"{what.name.lower().replace('_', ' ')} {offset} bytes at {value:#x}"
    if what == What.RAISED:
        names = [one.name for index, one in enumerate(card.interrupts) if value >> index & 1]
        return f"interrupt: {', '.join(names) or 'none'}"
    if what == What.UNKNOWN:
        return f"unknown instruction {code(value)} at {offset:#x}"
    if what == What.FALLBACK:
        return f"carried out by the fallback {code(value)} at {offset:#x}"
    if what in CONFIG:
        return f"{CONFIG[what]} {offset:#04x} {value:#x}{_switched(what, offset, value)}"
    if what == What.MISUSE:
        return f"misuse: {Misuse(value).name.lower().replace('_', ' ')}"
    if what == What.FAULT:
        if value >= len(FAULTS):
            raise ValueError(f"{value} is no fault")
        return f"fault: {FAULTS[value]}"
    if what not in (What.LOAD, What.STORE):
        return what.name.lower()
    width = int(access["bytes"])
    is_store = what == What.STORE
    parts = list(places.parts(int(access["bar"]), offset, width, value, stored=is_store))
    text = "; ".join(map(_register, parts)) or f"BAR {access['bar']} + {offset:#x} {value:#x}"
    return f"{what.name.lower():6}{text}"


def _switched(what: What, offset: int, value: int) -> str:
    """Return what a store to the configuration space switches on."""
    if what != What.CONFIG_WRITE or offset not in SWITCHES:
        return ""
    name, bits = SWITCHES[offset]
    switched = [text for bit, text in bits.items() if value & bit == bit]
    if offset == EXPRESS and not switched:
        return ""  # a reset is not switched off
    return f" {name}: {', '.join(switched) or 'off'}"


def _register(part: Part) -> str:
    fields = [
        f"{field.name}={_value(part.register, field.name, part.value)}"
        for field in part.register.fields
        if part.value & field.bits.mask
    ]
    return " ".join([part.register.name, f"{part.value:#x}", *fields])


def _value(register: Register, name: str, value: int) -> str:
    field = next(field for field in register.fields if field.name == name)
    number = (value & field.bits.mask) >> field.bits.low
    return next((entry.name for entry in field.values if entry.value == number), str(number))
