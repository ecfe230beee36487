# SPDX-License-Identifier: MIT
"""The journal of a virtual PCI bus: all accesses between drivers and cards, in order.  The format
is that of the guest's /dev/vpcib (kernel/vpcib/access.h).
"""

from enum import IntEnum
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from understudy_devices.base.errors import RunFailed


class What(IntEnum):
    """The kind of an access."""

    LOAD = 0
    STORE = 1
    RAISED = 2
    HANDLING = 3
    HANDLED = 4
    DMA_READ = 5
    DMA_WRITE = 6
    DMA_REFUSED = 7
    DMA_GIVEN = 8
    DMA_TAKEN = 9
    ADDED = 10
    REMOVED = 11
    BOUND = 12
    UNBOUND = 13
    UNKNOWN = 14
    DMA_BEGUN = 15
    DMA_ENDED = 16
    DMA_CHANGED = 17
    FALLBACK = 18
    CONFIG_READ = 19
    CONFIG_WRITE = 20
    MISUSE = 21
    FAULT = 22
    RESET = 23


class Misuse(IntEnum):
    """The value of a MISUSE record: what a driver does to the kernel or against a card's rule."""

    SLEEPS = 0
    KEEPS_REGION = 1
    KEEPS_MAPPING = 2
    KEEPS_INTERRUPT = 3
    COPIES_PAST_END = 4
    MAPS_PAST_END = 5
    BREAKS_RULE = 6
    RELEASES_OTHER = 7
    KEEPS_ENABLED = 8
    FREES_MAPPED = 9
    REQUESTS_NOT = 10
    SHARES_NOT = 11


class Context(IntEnum):
    """The driver's context at the time of an access."""

    USER = 0
    KERNEL = 1
    SOFT_INTERRUPT = 2
    HARD_INTERRUPT = 3
    CARD = 4


ACCESS = np.dtype(
    [
        ("ns", "<u8"),  # monotonic clock of the guest
        ("number", "<u8"),  # from 0, without gaps
        ("value", "<u8"),
        ("ip", "<u8"),  # of the instruction; 0: the card did it
        ("offset", "<u4"),  # in the BAR; for DMA: bytes
        ("pid", "<u4"),
        ("cpu", "<u2"),
        ("card", "u1"),  # slot, and SLOTS more for each function before this one
        ("bar", "u1"),
        ("bytes", "u1"),
        ("what", "u1"),
        ("context", "u1"),
        ("flags", "u1"),  # ABSENT, ...
    ]
)

SLOTS = 32

ABSENT = 0x1
"""The card was gone."""
INTERRUPTIBLE = 0x2
"""The card could interrupt at this point."""
SOFT_INTERRUPTIBLE = 0x4
"""Soft interrupts could run at this point."""

NOT_DECODED = 0x8
"""The access was ignored, since memory decoding was off."""
NOT_MASTER = 0x10
"""The transfer or the message was refused, since bus mastering was off."""
WRONG_DIRECTION = 0x20
"""The transfer was refused, since the driver mapped the memory for the other direction."""
STALE = 0x40
"""The card read what the memory held when the driver mapped or synced it; it has changed since."""

SPURIOUS = 0x80
"""The handler runs although the card has no reason, as on a line that cards share."""

Journal = NDArray[np.void]


def code(value: int) -> str:
    """Return the first bytes of an instruction, in hexadecimal."""
    return value.to_bytes(8, "little").hex(" ")


def journal(raw: bytes) -> Journal:
    """Return the accesses of a whole journal; RunFailed if it is cut off, or if some are
    missing.
    """
    if len(raw) % ACCESS.itemsize:
        raise RunFailed(f"the journal is cut off: {len(raw)} bytes")
    accesses: Journal = np.frombuffer(raw, ACCESS)
    gaps = np.flatnonzero(accesses["number"] != np.arange(len(accesses)))
    if len(gaps):
        raise RunFailed(
            f"the journal has a gap at access {gaps[0]}: give the bus more, journal_records=N"
        )
    return accesses


class Kept(NamedTuple):
    """The accesses that fit in a run's journal, and the number of accesses that did not fit."""

    accesses: Journal
    missed: int


PAGE_BYTES = 4096
NOTHING_KEPT = Kept(np.zeros(0, ACCESS), 0)


def bytes_outside(records: int) -> int:
    """Return the bytes of a journal that the guest writes to a file of the host (journal_at,
    kernel/vpcib/journal.c)."""
    return PAGE_BYTES + records * ACCESS.itemsize


def kept_outside(file: Path, at: int, records: int) -> Kept:
    """Return the journal that begins at byte `at` of a file."""
    with file.open("rb") as opened:
        opened.seek(at)
        written = int.from_bytes(opened.read(8), "little")
        opened.seek(at + PAGE_BYTES)
        raw = opened.read(min(written, records) * ACCESS.itemsize)
    return Kept(journal(raw), max(written - records, 0))
