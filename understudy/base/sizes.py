# SPDX-License-Identifier: MIT
"""Sizes as people type them: 73.4G is a disk maker's gigabytes, 1.5GiB are binary."""

import re
from fractions import Fraction

from understudy.base.errors import UserError

MIB = 2**20
LARGE = 64 * MIB
PAGE = 4096
UNITS = {"": 1} | {
    f"{prefix}{suffix}": base**power
    for power, prefix in enumerate("KMGT", start=1)
    for suffix, base in (("", 1000), ("B", 1000), ("iB", 1024))
}
PATTERN = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?(?:B|iB)?)", re.IGNORECASE)


def parse(option: str, text: str, low: int, high: int) -> int:
    """Bytes from low to high, rounded down to a whole MiB or, of a small size, to 4 KiB."""
    match = PATTERN.fullmatch(text.strip())
    units = {unit.lower(): size for unit, size in UNITS.items()}
    if not match or match[2].lower() not in units:
        raise UserError(f"{option}: {text} is not a size; write 73.4G, 512M or 1.5GiB")
    size = int(Fraction(match[1]) * units[match[2].lower()])
    if not low <= size <= high:
        raise UserError(f"{option}: {text} is outside {_shown(low)} to {_shown(high)}")
    unit = MIB if size >= LARGE else PAGE
    return size // unit * unit


def _shown(size: int) -> str:
    """A round number of bytes in its largest unit."""
    power = (size.bit_length() - 1) // 10
    return f"{size // 1024**power}{('', 'Ki', 'Mi', 'Gi', 'Ti')[power]}B"
