# SPDX-License-Identifier: MIT
"""Traces that are lines of text, read in pieces: a piece is all of the text that memory holds.

A format says how the columns of a piece become requests (`Convert`), and complains of a field with
`Fields`, whose row becomes the line of the file, from 1.  Blank lines are passed over.  A last
line that nobody ended and that can't be read is where the file breaks off; any other line that
can't be read is a mistake (ValueError), since nobody knows what else is one.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np
import polars as pl

from understudy.traces.compressed import damage
from understudy.traces.reading import NO_LENGTH, Reading
from understudy.traces.units import OFFSET_MAX_BYTES, SIZE_MAX_BYTES, Ints, touched

PIECE_BYTES = 2**24
LINE_MAX_BYTES = 2**16
LARGEST = 2**63 - 1
SHOWN = 60  # letters
MORE = "more"  # a column of ours: fields that should not be there
SECONDS = r"^(\d{1,10})(?:\.(\d*))?$"
SECONDS_MAX = 9 * 10**9  # whose ns are below 2^63


class FieldError(ValueError):
    """What is wrong with a field, and in which row of its piece, from 0."""

    def __init__(self, row: int, message: str) -> None:
        """The message without the line, which only the reader knows."""
        super().__init__(message)
        self.row = row


@dataclass(frozen=True)
class Fields:
    """The text in a piece, by column; a method gives one its meaning or raises FieldError."""

    frame: pl.DataFrame

    def numbers(self, name: str, largest: int = LARGEST) -> Ints:
        """Whole numbers from 0."""
        found = self.frame[name].cast(pl.Int64, strict=False)
        self.refuse(found.is_null(), name, "is no whole number below 2^63")
        self.refuse(found < 0, name, "is negative")
        self.refuse(found > largest, name, f"is more than {largest:,}")
        return found.to_numpy()

    def seconds_ns(self, name: str) -> Ints:
        """Decimal seconds in ns, without a float between; what is below a ns is cut off."""
        parts = self.frame[name].str.extract_groups(SECONDS).struct
        self.refuse(parts["1"].is_null(), name, "is no time in seconds")
        seconds = parts["1"].cast(pl.Int64)
        self.refuse(seconds > SECONDS_MAX, name, f"is more than {SECONDS_MAX:,} seconds")
        fraction = parts["2"].fill_null("").str.slice(0, 9).str.pad_end(9, "0")
        return (seconds * 10**9 + fraction.cast(pl.Int64)).to_numpy()

    def ops(self, name: str, reads: Sequence[str], writes: Sequence[str]) -> pl.Series:
        """The words read and write."""
        column = self.frame[name]
        wrong = ~column.is_in([*reads, *writes]).fill_null(value=False)
        self.refuse(wrong, name, f"is neither {reads[0]} nor {writes[0]}")
        return self.frame.select(
            op=pl.when(pl.col(name).is_in(reads)).then(pl.lit("read")).otherwise(pl.lit("write"))
        )["op"]

    def words(self, name: str) -> pl.Series:
        """Any text."""
        column = self.frame[name]
        self.refuse(column.is_null(), name, "is missing")
        return column

    def refuse(self, wrong: pl.Series, name: str, why: str) -> None:
        """Complain of the first row that is wrong, if any is."""
        row = wrong.arg_max() if wrong.any() else None
        if row is None:
            return
        value = self.frame[name][row]
        reason = "is missing" if value is None else f'"{shown(value)}" {why}'
        raise FieldError(row, f"{name} {reason}")


Convert = Callable[[Fields], Reading]


def places(fields: Fields, offset: str, size: str) -> dict[str, Ints]:
    """The columns sector and sectors of fields in bytes."""
    offsets, sizes = fields.numbers(offset, OFFSET_MAX_BYTES), fields.numbers(size, SIZE_MAX_BYTES)
    sector, sectors = touched(offsets, sizes)
    return {"sector": sector, "sectors": np.where(sizes == 0, 0, sectors)}


def with_length(frame: pl.DataFrame) -> Reading:
    """Leave requests out that ask for nothing."""
    kept = frame.filter(pl.col("sectors") > 0)
    return Reading(kept, {NO_LENGTH: frame.height - kept.height})


def first_line(head: bytes) -> bytes:
    """How a text begins."""
    return head.split(b"\n", 1)[0].rstrip(b"\r")


def shown(text: str) -> str:
    """How it begins, as a complaint quotes it: without what can't be printed."""
    return "".join(letter if letter.isprintable() else "?" for letter in text[:SHOWN])


def shown_line(line: bytes) -> str:
    """The same of a line, its columns a space apart."""
    return shown(" ".join(line.decode(errors="replace").split()))


def read(
    file: BinaryIO,
    columns: Sequence[str],
    convert: Convert,
    *,
    header: bytes | None = None,
    separator: str = ",",
    line: int = 1,
) -> Iterator[Reading]:
    """The rest of a file that stands at that line, as far as it can be read.

    If it begins with the header, that is not a record.
    """
    begin, some = line, False
    for text, ended in pieces(file):
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
    """Whole lines, and at last what stands behind the last end of a line, which is not ended.

    If the file is a damaged compressed one, that is left out: nobody knows how it went on.
    """
    rest = b""
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
    """Line by line, with its end."""
    for text, _ in pieces(file):
        yield from text.splitlines(keepends=True)


def _converted(text: bytes, columns: Sequence[str], convert: Convert, separator: str) -> Reading:
    fields = Fields(_split(text, columns, separator))
    fields.refuse(fields.frame[MORE].is_not_null(), MORE, f"stands behind {columns[-1]}")
    return convert(Fields(fields.frame.drop(MORE)))


def _split(text: bytes, columns: Sequence[str], separator: str) -> pl.DataFrame:
    """The fields as text; those that are missing or empty are null."""
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
    """How many lines of the piece stand before a row of its records."""
    before = text[: len(text) - len(records)].count(b"\n")
    filled = (at for at, line in enumerate(records.split(b"\n")) if line.strip())
    return before + next(at for rank, at in enumerate(filled) if rank == row)
