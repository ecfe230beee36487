# SPDX-License-Identifier: MIT
"""Any text of one request a line, by a description of its columns: time_s,op,lba,bytes,latency_us.

| column | meaning |
| --- | --- |
| time_UNIT | arrival; UNIT is s, ms, us, ns or 100ns (Windows); decimals are allowed |
| latency_UNIT | response time |
| dispatch_UNIT, completion_UNIT | times on the same clock as the arrival |
| op | a word that begins with r or w, or 0 (read) and 1; others are counted and left out |
| op_1read | the same, but 1 is a read and 0 a write (DiskSim, FlashNet) |
| lba, lba_4k, offset | first sector of 512 bytes, first block of 4,096 bytes, or first byte |
| sectors, blocks_4k, bytes, kib | size |
| owner, volume | words |
| - | ignored |

Columns are separated by commas, tabs, semicolons, bars, or spaces, whichever the first line has.
Lines that begin with # are ignored, and so is a first line whose time is no number.  A time is
needed, a size, and a place or a response time.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np
import polars as pl

from understudy_devices.base.errors import UserError
from understudy_devices.traces import text
from understudy_devices.traces.reading import Reading
from understudy_devices.traces.units import (
    OFFSET_MAX_BYTES,
    SECTOR_BYTES,
    SIZE_MAX_BYTES,
    Ints,
    timed,
    touched,
)

UNITS = {"s": 9, "ms": 6, "us": 3, "ns": 0, "100ns": 0}  # decimals that are kept
TIMES = ("time", "latency", "dispatch", "completion")
PLACES = {"lba": SECTOR_BYTES, "lba_4k": 4096, "offset": 1}  # bytes
SIZES = {"sectors": SECTOR_BYTES, "blocks_4k": 4096, "bytes": 1, "kib": 1024}
READS = {"op": "0", "op_1read": "1"}
WORDS = (*READS, "owner", "volume")
SKIPPED = "-"
NAMES = (*(f"{time}_UNIT" for time in TIMES), *WORDS, *PLACES, *SIZES, SKIPPED)
SEPARATORS = (b",", b"\t", b";", b"|")
COLUMN = re.compile(rf"({'|'.join(TIMES)})_({'|'.join(UNITS)})")


@dataclass(frozen=True)
class Columns:
    """A checked description: the names of columns in the order of the file."""

    names: tuple[str, ...]

    @classmethod
    def of(cls, described: str) -> "Columns":
        """Return the description in a text, such as time_s,op,lba,bytes; UserError if it is
        wrong.
        """
        names = tuple(name.strip() for name in described.split(","))
        for name in names:
            if name not in (*WORDS, *PLACES, *SIZES, SKIPPED) and not COLUMN.fullmatch(name):
                units = ", ".join(UNITS)
                raise UserError(
                    f"--columns: {name or 'nothing'} is no column; known are "
                    f"{', '.join(NAMES)}; a UNIT is one of {units}"
                )
        columns = cls(names)
        columns._check()
        return columns

    def unit(self, time: str) -> str | None:
        """Return the unit of a time; None if there is no such column."""
        units = [name.split("_")[1] for name in self.names if name.startswith(f"{time}_")]
        return units[0] if units else None

    def one_of(self, names: Sequence[str]) -> str | None:
        """Return the column that is in the file; None if none is."""
        return next((name for name in self.names if name in names), None)

    def _check(self) -> None:
        groups: list[tuple[str, list[str]]] = [
            *((f"{time}_UNIT", [f"{time}_{unit}" for unit in UNITS]) for time in TIMES),
            *((" or ".join(group), list(group)) for group in (PLACES, SIZES, READS)),
            *((name, [name]) for name in ("owner", "volume")),
        ]
        for words, group in groups:
            if len([name for name in self.names if name in group]) > 1:
                raise UserError(f"--columns: {words} is there twice; write - for one of them")
        ends = self.unit("latency") or self.unit("completion")
        if self.unit("latency") and self.unit("completion"):
            raise UserError("--columns: latency and completion are there; write - for one of them")
        needed = {
            "a time, as time_s": self.unit("time"),
            "a size, as bytes": self.one_of([*SIZES]),
            "a place, as lba, or a response time, as latency_us": self.one_of([*PLACES]) or ends,
        }
        for what, there in needed.items():
            if not there:
                raise UserError(f"--columns: {what}, is needed; there are {','.join(self.names)}")


def read(file: BinaryIO, columns: Columns) -> Iterator[Reading]:
    """Read the whole file."""
    tick_ns = 100 if columns.unit("time") == "100ns" else 1
    named = [f"{rank}" if name == SKIPPED else name for rank, name in enumerate(columns.names)]
    rows = text.read(file, named, _converter(columns, tick_ns), tidy=_Tidy(columns))
    yield from timed(rows, tick_ns)


class _Tidy:
    """Replaces the separators of all lines by commas, and empties lines that are ignored."""

    def __init__(self, columns: Columns) -> None:
        self._time = columns.names.index(f"time_{columns.unit('time')}")
        self._separator: bytes | None = None
        self._begun = False

    def __call__(self, block: bytes) -> bytes:
        lines = block.split(b"\n")
        return b"\n".join(self._line(line) for line in lines)

    def _line(self, line: bytes) -> bytes:
        line = line.strip().removeprefix(b"\xef\xbb\xbf")
        if not line or line.startswith(b"#"):
            return b""
        first, self._begun = not self._begun, True
        if first:
            self._separator = next((one for one in SEPARATORS if one in line), None)
        fields = [field.strip().strip(b'"') for field in line.split(self._separator)]
        if first and self._is_header(fields):
            return b""
        return b",".join(field.replace(b",", b"") for field in fields)

    def _is_header(self, fields: Sequence[bytes]) -> bool:
        at = self._time
        return len(fields) <= at or not re.match(text.DECIMAL, fields[at].decode(errors="replace"))


def _converter(columns: Columns, tick_ns: int) -> Callable[[text.Fields], Reading]:
    """Return the conversion of fields; absolute times become times since the arrival."""

    def since(fields: text.Fields, name: str, ticks: Ints) -> Ints:
        at = _ticks(fields, columns, name)
        fields.refuse(pl.Series(at < ticks), f"{name}_{columns.unit(name)}", "is before time")
        return (at - ticks) * tick_ns

    def convert(fields: text.Fields) -> Reading:
        ticks = _ticks(fields, columns, "time")
        made: dict[str, Ints | pl.Series] = {"ticks": ticks, **_place(fields, columns)}
        if columns.unit("latency"):
            factor = 100 if columns.unit("latency") == "100ns" else 1
            made["response_ns"] = _ticks(fields, columns, "latency") * factor
        if columns.unit("completion"):
            made["response_ns"] = since(fields, "completion", ticks)
        if columns.unit("dispatch") and "response_ns" in made:
            made["wait_ns"] = since(fields, "dispatch", ticks)
        if op := columns.one_of([*READS]):
            made["op"] = _ops(fields, op)
        for name in ("owner", "volume"):
            if name in columns.names:
                made[name] = fields.words(name)
        return text.with_length(pl.DataFrame(made))

    return convert


def _ticks(fields: text.Fields, columns: Columns, time: str) -> Ints:
    """Return a time in ns, or in units of 100 ns."""
    unit = columns.unit(time) or ""
    return fields.decimals(f"{time}_{unit}", UNITS[unit])


def _place(fields: text.Fields, columns: Columns) -> dict[str, Ints]:
    size, place = columns.one_of([*SIZES]) or "", columns.one_of([*PLACES])
    sizes = fields.numbers(size, SIZE_MAX_BYTES // SIZES[size]) * SIZES[size]
    if place is None:
        return {"sectors": -(-sizes // SECTOR_BYTES)}
    offsets = fields.numbers(place, OFFSET_MAX_BYTES // PLACES[place]) * PLACES[place]
    sector, sectors = touched(offsets, sizes)
    return {"sector": sector, "sectors": np.where(sizes == 0, 0, sectors)}


def _ops(fields: text.Fields, name: str) -> pl.Series:
    """Return read, write and other."""
    first = fields.words(name).str.slice(0, 1).str.to_lowercase()
    known = first.is_in(["r", "w", "0", "1", "d", "t", "u", "f", "s", "n"])
    fields.refuse(~known, name, "is neither a read nor a write")
    digits = {"0": "write", "1": "write"} | {READS[name]: "read"}
    return first.replace_strict({"r": "read", "w": "write", **digits}, default="other")
