# SPDX-License-Identifier: MIT
"""Windows Performance Analyzer's table Disk Usage as text, as wpaexporter or the clipboard has it.

A header names the columns; those of `NEEDED` must be there, in any order.  `Init Time` is the
arrival; `Disk Service Time`, if it is there, is the time since the disk began.  The header says the
units of times, such as (s) and (µs); sizes and offsets are bytes.

Numbers are in the language of the computer: 1,079943800 and 16.384 are 1.0799438 and 16384 in
German.  `Init Time` always has decimals, so its last mark is the decimal mark; other marks separate
thousands.  Offsets are hexadecimal (0x).  Each disk is a volume, each process an owner.
A row whose Count is not 1 is the sum of several requests, and refused.
"""

import csv
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO

import polars as pl

from understudy_devices.traces.reading import FLUSHES, NO_LENGTH, Reading
from understudy_devices.traces.text import first_line, lines, shown_line
from understudy_devices.traces.units import OFFSET_MAX_BYTES, SIZE_MAX_BYTES, touched

NAME = "Windows' WPA"
KIND, INIT, COMPLETE, SERVICE = "IO Type", "Init Time", "Complete Time", "Disk Service Time"
SIZE, OFFSET, DISK, COUNT = "Size", "Min Offset", "Disk", "Count"
NEEDED = (KIND, INIT, COMPLETE, SIZE, OFFSET)
PROCESS = "Process"
SEPARATORS = ";\t,"
TITLE = re.compile(r"^(?P<name>[^(]*?) *(?:\((?P<unit>[^)]*)\))?$")
UNITS = {"s": 9, "ms": 6, "µs": 3, "μs": 3, "us": 3, "ns": 0}  # digits of a ns
KINDS = {"Read": "read", "Write": "write"}
FLUSH = "Flush"
HEXADECIMAL = re.compile(r"^0x[0-9A-Fa-f]{1,16}$")
LARGEST_NS = 2**61
INTS = ("arrival_ns", "dispatch_ns", "completion_ns", "sector", "sectors")
COLUMNS = {**dict.fromkeys(INTS, pl.Int64), **dict.fromkeys(("op", "owner", "volume"), pl.String)}
PIECE_ROWS = 2**17

Row = tuple[int | str, ...]


@dataclass(frozen=True)
class _Header:
    separator: str
    at: dict[str, int]
    units: dict[str, str]
    width: int

    @classmethod
    def of(cls, line: bytes) -> "_Header | None":
        """Return the header that a line is; None if it is none."""
        text = line.decode(errors="replace").strip()
        for separator in SEPARATORS:
            try:
                titles = [TITLE.match(title.strip()) for title in _split(text, separator)]
            except ValueError:
                continue
            names = [title["name"] if title else "" for title in titles]
            if set(NEEDED) <= set(names):
                at = {name: place for place, name in reversed([*enumerate(names)])}
                units = {title["name"]: title["unit"] or "" for title in titles if title}
                return cls(separator, at, units, len(names))
        return None

    def check(self) -> None:
        """Raise ValueError if a unit is unknown."""
        for name in (INIT, COMPLETE, SERVICE):
            if name in self.at and self.units[name] not in UNITS:
                raise ValueError(
                    f"{name} is in {self.units[name] or 'no unit'}, not in s, ms or µs"
                )
        if self.units[SIZE] not in ("B", ""):
            raise ValueError(f"{SIZE} is in {self.units[SIZE]}; show it in bytes (B)")


def recognises(head: bytes) -> bool:
    """Return whether the first line names the columns."""
    return _Header.of(first_line(head)) is not None


def read(file: BinaryIO) -> Iterator[Reading]:
    """Read the whole file."""
    rows: list[Row] = []
    left_out: Counter[str] = Counter()
    header: _Header | None = None
    for number, raw in enumerate(lines(file), start=1):
        if header is None:
            header = _Header.of(raw)
            if header is None:
                raise ValueError(f"line {number}: no header of {NAME}: {shown_line(raw)}")
            header.check()
            continue
        if not raw.strip():
            continue
        try:
            row = _row(header, raw)
        except ValueError as error:
            if raw.endswith(b"\n"):
                raise ValueError(f"line {number}: {error}: {shown_line(raw)}") from None
            yield Reading(broken=f"breaks off in line {number}: {error}")
            break
        if isinstance(row, str):
            left_out[row] += 1
            continue
        rows.append(row)
        if len(rows) == PIECE_ROWS:
            yield Reading(pl.DataFrame(rows, schema=COLUMNS, orient="row"), relative=True)
            rows = []
    yield Reading(pl.DataFrame(rows, schema=COLUMNS, orient="row"), left_out, relative=True)


def _split(text: str, separator: str) -> list[str]:
    try:
        return next(csv.reader([text], delimiter=separator), [])
    except csv.Error as error:
        raise ValueError(str(error)) from None


def _row(header: _Header, raw: bytes) -> Row | str:
    """Return the request, or the reason to leave it out."""
    fields = _split(raw.decode(errors="replace").strip("\r\n"), header.separator)
    if len(fields) != header.width:
        raise ValueError(f"{len(fields)} columns; the header has {header.width}")
    values = {name: fields[place].strip() for name, place in header.at.items()}
    if values.get(COUNT, "1") != "1":
        raise ValueError("a sum of several requests; move all columns to the left of the gold bar")
    if values[KIND] not in KINDS:
        if values[KIND] != FLUSH:
            raise ValueError(f"{KIND} is neither Read, Write nor Flush")
        return FLUSHES
    mark = _decimal_mark(values[INIT])
    begun_ns, end_ns = (_ns(header, values, name, mark) for name in (INIT, COMPLETE))
    if end_ns < begun_ns:
        raise ValueError(f"{COMPLETE} is before {INIT}")
    served_ns = _ns(header, values, SERVICE, mark) if SERVICE in values else end_ns - begun_ns
    size = _number(values, SIZE, mark, 0, SIZE_MAX_BYTES)
    if not size:
        return NO_LENGTH
    place = touched(_offset(values, mark), size)
    times = (begun_ns, max(end_ns - served_ns, begun_ns), end_ns)
    owner = values.get(PROCESS, "")
    return (*times, *place, KINDS[values[KIND]], owner, values.get(DISK, ""))


def _decimal_mark(time: str) -> str:
    marks: Sequence[str] = re.findall(r"[.,](?=\d+$)", time)
    if not marks:
        raise ValueError(f"{INIT} has no decimals")
    return marks[-1]


def _ns(header: _Header, values: dict[str, str], name: str, mark: str) -> int:
    return _number(values, name, mark, UNITS[header.units[name]], LARGEST_NS)


def _offset(values: dict[str, str], mark: str) -> int:
    if not HEXADECIMAL.match(values[OFFSET]):
        return _number(values, OFFSET, mark, 0, OFFSET_MAX_BYTES)
    offset = int(values[OFFSET], 16)
    if offset > OFFSET_MAX_BYTES:
        raise ValueError(f"{OFFSET} is too large")
    return offset


def _number(values: dict[str, str], name: str, mark: str, digits: int, largest: int) -> int:
    """Return a number in units of 10^-digits; the rest is cut off."""
    thousands = "," if mark == "." else "."
    text = re.sub(rf"[{thousands}'\u00a0\u202f ](?=\d{{3}}(?:\D|$))", "", values[name])
    whole, _, part = text.partition(mark)
    if not re.fullmatch(r"[0-9]{1,20}", whole) or not re.fullmatch(r"[0-9]*", part):
        raise ValueError(f"{name} is no number")
    value = int(whole + part[:digits].ljust(digits, "0"))
    if value > largest:
        raise ValueError(f"{name} is too large")
    return value
