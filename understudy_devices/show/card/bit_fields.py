# SPDX-License-Identifier: MIT
"""A register as a drawing: 32 bits per row, the highest bit on the left, reserved bits hatched."""

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

from understudy_devices.cards.model import Bits, Register, RegisterField

ROW_BITS = 32
BIT = 28  # user units; the page scales the drawing
ROW, TOP = 74, 18
SIZE, SIZE_MIN = 12, 8.5  # font sizes of names; a name that does not fit is below its box
LETTER = 7.6  # largest width of a letter, at the larger size
HATCH = "#d5dade"


@dataclass(frozen=True)
class Part:
    """Some bits of a register; `field` is None if they are reserved."""

    bits: Bits
    field: RegisterField | None
    name: str
    access: str


def parts(register: Register) -> list[Part]:
    """Split a register into parts, from the highest bit down: its fields, and the reserved bits
    between."""
    if register.access:
        bits = Bits(register.width - 1, 0)
        return [Part(bits, None, register.name, register.access)]
    pieces: list[Part] = []
    above: int = register.width
    for field in sorted(register.fields, key=lambda one: -one.bits.high):
        if field.bits.high + 1 < above:
            pieces.append(_reserved(above - 1, field.bits.high + 1))
        pieces.append(Part(field.bits, field, field.name, field.access))
        above = field.bits.low
    if above:
        pieces.append(_reserved(above - 1, 0))
    return pieces


def drawing(register: Register, pieces: list[Part]) -> str:
    """Return inline SVG of a register's parts."""
    row_bits = min(register.width, ROW_BITS)
    rows = register.width // row_bits
    hanging = max((len(part.name) for part in pieces if _size(part) < SIZE_MIN), default=0)
    tall = ROW + round(hanging * LETTER)
    width, height = row_bits * BIT + 2, rows * tall
    body = "".join(
        _box(part, row, row_bits, (rows - 1 - row) * tall + TOP)
        for part in pieces
        for row in range(rows)
        if part.bits.high >= row * row_bits and part.bits.low < (row + 1) * row_bits
    )
    title = escape(f"{register.name}, {register.width} bits")
    return (
        f'<svg viewBox="-1 0 {width} {height}" style="max-width:{width}px" role="img" '
        f'aria-label="{title}" font-family="system-ui, sans-serif" text-anchor="middle" '
        f'fill="currentColor">{body}</svg>'
    )


def _reserved(high: int, low: int) -> Part:
    return Part(Bits(high, low), None, "", "")


def _size(part: Part) -> float:
    """Return the font size for a part's name; if the part spans two rows, that of the narrower
    box.
    """
    high, low = part.bits.high, part.bits.low
    split = high >= ROW_BITS > low
    bits = min(high - ROW_BITS + 1, ROW_BITS - low) if split else part.bits.count
    return min(SIZE, SIZE * (bits * BIT - 4) / (LETTER * max(len(part.name), 1)))


def _box(part: Part, row: int, row_bits: int, top: int) -> str:
    """Return the box of a part's bits in a row; row 0 is the lowest."""
    high = min(part.bits.high - row * row_bits, row_bits - 1)
    low = max(part.bits.low - row * row_bits, 0)
    left = (row_bits - 1 - high) * BIT
    width = (high - low + 1) * BIT
    look = 'fill="none"' if part.name else f'fill="{HATCH}" fill-opacity="0.45"'
    return (
        f'<rect x="{left}" y="{top}" width="{width}" height="34" stroke="currentColor" {look}/>'
        + "".join(_numbers(high, low, row * row_bits, left, top))
        + _label(part, left + width / 2, top)
    )


def _numbers(high: int, low: int, base: int, left: int, top: int) -> Iterator[str]:
    for bit in sorted({high, low}, reverse=True):
        x = left + (high - bit) * BIT + BIT / 2
        yield f'<text x="{x:g}" y="{top - 5}" font-size="11" fill-opacity=".7">{base + bit}</text>'


def _label(part: Part, x: float, top: int) -> str:
    """Return the texts of a part: the name in the box or, if the name is too long, below the box;
    and the access.
    """
    if not part.name:
        return ""
    size, name = _size(part), escape(part.name)
    soft = f'x="{x:g}" y="{top + 47}" font-size="10.5" fill-opacity=".7"'
    access = f"<text {soft}>{part.access}</text>"
    if size >= SIZE_MIN:
        return f'<text x="{x:g}" y="{top + 21}" font-size="{size:.1f}">{name}</text>{access}'
    turned = f'transform="translate({x + 4:g} {top + 54}) rotate(-90)" text-anchor="end"'
    return f'<text {turned} font-size="{SIZE - 1}">{name}</text>{access}'
