# SPDX-License-Identifier: MIT
"""Reads traces that consist of lines of text, block by block, to save memory.

A format's `Convert` turns the columns of a block into requests.  If a field is wrong, `Fields`
raises an error with the row in the block, and the reader computes the line number in the file.
Blank lines are ignored.  If the last line lacks a newline and can't be read, the file breaks off
there.  Any other unreadable line is a ValueError, since more lines may be wrong.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np
import polars as pl

from understudy_devices.traces.compression import damage
from understudy_devices.traces.reading import NO_LENGTH, Reading
from understudy_devices.traces.units import OFFSET_MAX_BYTES, SIZE_MAX_BYTES, Ints, touched

PIECE_BYTES = 2**24
LINE_MAX_BYTES = 2**16
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
LARGEST = 2**63 - 1
SHOWN = 60  # letters of a text in a message
MORE = "more"  # an additional column: surplus fields
DECIMAL = r"^(\d{1,19})(?:\.(\d*))?$"
SECONDS = r"^(\d{1,10})(?:\.(\d*))?$"
SECONDS_MAX = 9 * 10**9  # the ns of so many seconds are below 2^63


class FieldError(ValueError):
    """An error in a field, with its row in the block, from 0."""

    def __init__(self, row: int, message: str) -> None:
        """Make the error; the reader adds the line number to the message."""
        super().__init__(message)
        self.row = row


@dataclass(frozen=True)
class Fields:
    """The text of a block, by column; each method converts a column, or raises FieldError."""

    frame: pl.DataFrame

    def numbers(self, name: str, largest: int = LARGEST) -> Ints:
        """Convert whole numbers from 0."""
        values = self.frame[name].cast(pl.Int64, strict=False)
        self.refuse(values.is_null(), name, "is no whole number below 2^63")
        self.refuse(values < 0, name, "is negative")
        self.refuse(values > largest, name, f"is more than {largest:,}")
        return values.to_numpy()

    def seconds_ns(self, name: str) -> Ints:
        """Convert decimal seconds to ns, without floats; truncate fractions of a ns."""
        parts = self.frame[name].str.extract_groups(SECONDS).struct
        self.refuse(parts["1"].is_null(), name, "is no time in seconds")
        seconds = parts["1"].cast(pl.Int64)
        self.refuse(seconds > SECONDS_MAX, name, f"is more than {SECONDS_MAX:,} seconds")
        fraction = parts["2"].fill_null("").str.slice(0, 9).str.pad_end(9, "0")
        return (seconds * 10**9 + fraction.cast(pl.Int64)).to_numpy()

    def decimals(self, name: str, digits: int) -> Ints:
        """Convert decimal numbers to whole units of 10^-digits, without floats; truncate the rest.

        The result is at most 2^62.
        """
        parts = self.frame[name].str.extract_groups(DECIMAL).struct
        whole = parts["1"].cast(pl.Int64, strict=False)
        self.refuse(whole.is_null(), name, "is no number from 0")
        self.refuse(whole > 2**62 // 10**digits, name, "is too large; is the unit right?")
        fraction = parts["2"].fill_null("").str.slice(0, digits).str.pad_end(digits, "0")
        values: Ints = (whole * 10**digits + (fraction.cast(pl.Int64) if digits else 0)).to_numpy()
        return values

    def ops(self, name: str, reads: Sequence[str], writes: Sequence[str]) -> pl.Series:
        """ "read" and "write"."""
        column = self.frame[name]
        wrong = ~column.is_in([*reads, *writes]).fill_null(value=False)
        self.refuse(wrong, name, f"is neither {reads[0]} nor {writes[0]}")
        return self.frame.select(
            op=pl.when(pl.col(name).is_in(reads)).then(pl.lit("read")).otherwise(pl.lit("write"))
        )["op"]

    def words(self, name: str) -> pl.Series:
        """Return a column of text without missing values."""
        column = self.frame[name]
        self.refuse(column.is_null(), name, "is missing")
        return column

    def refuse(self, wrong: pl.Series, name: str, why: str) -> None:
        """Raise FieldError for the first wrong row, if there is one."""
        row = wrong.arg_max() if wrong.any() else None
        if row is None:
            return
        value = self.frame[name][row]
        reason = "is missing" if value is None else f'"{shown(value)}" {why}'
        raise FieldError(row, f"{name} {reason}")


Convert = Callable[[Fields], Reading]


def places(fields: Fields, offset: str, size: str) -> dict[str, Ints]:
    """Return the columns sector and sectors, from fields in bytes."""
    offsets, sizes = fields.numbers(offset, OFFSET_MAX_BYTES), fields.numbers(size, SIZE_MAX_BYTES)
    sector, sectors = touched(offsets, sizes)
    return {"sector": sector, "sectors": np.where(sizes == 0, 0, sectors)}


def with_length(frame: pl.DataFrame) -> Reading:
    """Remove requests of length 0, and count them."""
    rows = frame.filter(pl.col("sectors") > 0)
    return Reading(rows, {NO_LENGTH: frame.height - rows.height})


def with_commas(block: bytes) -> bytes:
    """Return lines whose fields are separated by blanks, with commas instead."""
    return b"\n".join(b",".join(line.split()) for line in block.split(b"\n"))


def first_line(head: bytes) -> bytes:
    """Return the first line of a text."""
    return head.split(b"\n", 1)[0].rstrip(b"\r")


def shown(text: str) -> str:
    """Return the beginning of a text for a message, with unprintable letters replaced."""
    return "".join(letter if letter.isprintable() else "?" for letter in text[:SHOWN])


def shown_line(line: bytes) -> str:
    """Return the beginning of a line for a message, its columns separated by spaces."""
    return shown(" ".join(line.decode(errors="replace").split()))


def read(
    file: BinaryIO,
    columns: Sequence[str],
    convert: Convert,
    *,
    header: bytes | None = None,
    separator: str = ",",
    line: int = 1,
    tidy: Callable[[bytes], bytes] = bytes,
) -> Iterator[Reading]:
    """Read a file's lines up to its end, or to an incomplete last line.  The first line has
    number `line`.

    If the first line equals `header`, it is skipped.  `tidy` may change lines, but not their
    number.
    """
    begin, some = line, False
    for text, ended in pieces(file):
        text = tidy(text)
        headed = line == begin and first_line(text) == header
        records = text.partition(b"\n")[2] if headed else text
        try:
            yield _converted(records, columns, convert, separator)
        except FieldError as error:
            reason = f"line {line + _line_of(text, records, error.row)}: {error}"
            if ended or not some:
                raise ValueError(reason) from None
            yield Reading(broken=f"breaks off in {reason}")
        line += text.count(b"\n")
        some = True
    if not some:
        raise ValueError("is empty")


def pieces(file: BinaryIO) -> Iterator[tuple[bytes, bool]]:
    """Yield blocks of whole lines, and at the end the text after the last newline.

    A byte order mark at the beginning is ignored.  If the file is a damaged compressed file, the
    text after the last newline is dropped.
    """
    rest = file.read(len(BYTE_ORDER_MARK))
    rest = b"" if rest == BYTE_ORDER_MARK else rest
    line = 1
    while more := file.read(PIECE_BYTES):
        text, newline, rest = (rest + more).rpartition(b"\n")
        if newline:
            yield text + newline, True
            line += text.count(b"\n") + 1
        if len(rest) > LINE_MAX_BYTES:
            raise ValueError(f"line {line} is longer than {LINE_MAX_BYTES:,} bytes")
    if rest and not damage(file):
        yield rest, False


def lines(file: BinaryIO) -> Iterator[bytes]:
    """Yield each line with its newline."""
    for text, _ in pieces(file):
        yield from text.splitlines(keepends=True)


def _converted(text: bytes, columns: Sequence[str], convert: Convert, separator: str) -> Reading:
    fields = Fields(_split(text, columns, separator))
    fields.refuse(
        fields.frame[MORE].is_not_null(), MORE, f"is behind the last column, {columns[-1]}"
    )
    return convert(Fields(fields.frame.drop(MORE)))


def _split(text: bytes, columns: Sequence[str], separator: str) -> pl.DataFrame:
    """Return the fields as text; missing or empty fields are null."""
    names = separator.join([*columns, MORE]).encode()
    try:
        return pl.read_csv(
            b"\n".join([names, *_filled(text)]),
            infer_schema=False,
            separator=separator,
            quote_char=None,
            encoding="utf8-lossy",
            truncate_ragged_lines=True,
        )
    except pl.exceptions.PolarsError as error:
        raise ValueError(str(error).splitlines()[0]) from None


def _filled(text: bytes) -> Iterator[bytes]:
    return (line for line in text.replace(b"\r\n", b"\n").split(b"\n") if line.strip())


def _line_of(text: bytes, records: bytes, row: int) -> int:
    """Return the number of lines in the block before the given row of its records."""
    before = text[: len(text) - len(records)].count(b"\n")
    filled = (at for at, line in enumerate(records.split(b"\n")) if line.strip())
    return before + next(at for rank, at in enumerate(filled) if rank == row)
