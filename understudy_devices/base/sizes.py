# SPDX-License-Identifier: MIT
"""Sizes as people type them: 73.4G is a number of decimal gigabytes, 1.5GiB of binary gigabytes."""

import re
from fractions import Fraction

from understudy_devices.base.errors import UserError

MIB = 2**20
LARGE = 64 * MIB
PAGE = 4096
SECTOR = 512
UNITS = {"": 1, "B": 1, "s": SECTOR} | {
    f"{prefix}{suffix}": base**power
    for power, prefix in enumerate("KMGT", start=1)
    for suffix, base in (("", 1000), ("B", 1000), ("iB", 1024))
}
PATTERN = re.compile(r"(\d+(?:\.\d+)?)\s*(s|[KMGT]?(?:B|iB)?)", re.IGNORECASE)


def parse(option: str, text: str, low: int, high: int) -> int:
    """Parse a size and return it in bytes; it must be from `low` to `high`.

    A size typed in bytes or sectors (2929687s) is exact.  Other sizes are rounded down to a whole
    MiB, small sizes to 4 KiB.
    """
    match = PATTERN.fullmatch(text.strip())
    units = {unit.lower(): size for unit, size in UNITS.items()}
    if not match or match[2].lower() not in units:
        raise UserError(
            f"{option}: {text} is not a size; write 73.4G, 1.5GiB, or 2929687s for sectors"
        )
    unit = match[2].lower()
    size = int(Fraction(match[1]) * units[unit])
    if not low <= size <= high:
        raise UserError(f"{option}: {text} is outside {_shown(low)} to {_shown(high)}")
    if units[unit] > SECTOR:
        whole = MIB if size >= LARGE else PAGE
        return size // whole * whole
    if size % SECTOR:
        raise UserError(f"{option}: {text} is not a whole number of sectors of {SECTOR} bytes")
    return size


def _shown(size: int) -> str:
    """Return a round number of bytes as text, in its largest binary unit: 64KiB."""
    power = (size.bit_length() - 1) // 10
    return f"{size // 1024**power}{('', 'Ki', 'Mi', 'Gi', 'Ti')[power]}B"
