# SPDX-License-Identifier: MIT
"""Windows' disk events as text: `xperf -i trace.etl -o trace.csv`, and Microsoft's traces at SNIA.

A header names the columns of each kind of event.  DiskRead and DiskWrite are requests that have
completed at TimeStamp.  TimeStamp, ElapsedTime (since the arrival) and DiskSvcTime (since the disk
began) are us; ByteOffset and IOSize are bytes, decimal or hexadecimal (0x).  Each DiskNum is a
volume, each process an owner.  Flushes are counted; other events are ignored.
Kavalanekar, Worthington, Zhang, Sharda: Characterization of Storage Workload Traces from
Production Windows Servers, IISWC 2008.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import BinaryIO

import polars as pl

from understudy_devices.traces.reading import FLUSHES, NO_LENGTH, Reading
from understudy_devices.traces.text import lines, shown_line
from understudy_devices.traces.units import OFFSET_MAX_BYTES, SIZE_MAX_BYTES, touched

NAME = "Windows' xperf"
HEADER = re.compile(rb"^ *Disk(?:Read|Write), *TimeStamp,", re.MULTILINE)
KINDS = {"DiskRead": "read", "DiskWrite": "write"}
FLUSH = "DiskFlush"
TIMES = ("TimeStamp", "ElapsedTime", "DiskSvcTime")
PROCESS = "Process Name ( PID)"
NEEDED = (*TIMES[:2], "ByteOffset", "IOSize", "DiskNum")
US = 1000
LARGEST_US = 2**51
INTS = ("arrival_ns", "dispatch_ns", "completion_ns", "sector", "sectors")
COLUMNS = {**dict.fromkeys(INTS, pl.Int64), "op": pl.String, "owner": pl.String}
COLUMNS |= {"volume": pl.String}
PIECE_ROWS = 2**17

Row = tuple[int | str, ...]


def recognises(head: bytes) -> bool:
    """Return whether the first lines name the columns of disk events."""
    return bool(HEADER.search(head))


def read(file: BinaryIO) -> Iterator[Reading]:
    """Read the whole file."""
    columns: dict[str, list[str]] = {}
    rows: list[Row] = []
    left_out: Counter[str] = Counter()
    for number, raw in enumerate(lines(file), start=1):
        kind = raw.partition(b",")[0].strip().decode(errors="replace")
        left_out[FLUSHES] += kind == FLUSH and kind in columns
        if kind not in KINDS and kind != FLUSH:
            continue
        fields = _fields(raw, columns.get(kind))
        if kind not in columns and fields[1:2] == ["TimeStamp"]:
            columns[kind] = _checked(number, kind, fields)
        elif kind in KINDS:
            row = _row_or_end(number, raw, dict(zip(columns.get(kind, []), fields, strict=False)))
            if isinstance(row, str):
                yield Reading(broken=row)
                break
            if row is None:
                left_out[NO_LENGTH] += 1
                continue
            rows.append(row)
            if len(rows) == PIECE_ROWS:
                yield Reading(pl.DataFrame(rows, schema=COLUMNS, orient="row"), relative=True)
                rows = []
    yield Reading(pl.DataFrame(rows, schema=COLUMNS, orient="row"), +left_out, relative=True)


def _fields(raw: bytes, columns: Sequence[str] | None) -> list[str]:
    """Return the fields; the last one, a file's name, may contain commas."""
    most = len(columns) - 1 if columns else -1
    return [field.strip() for field in raw.decode(errors="replace").split(",", most)]


def _checked(number: int, kind: str, names: list[str]) -> list[str]:
    if kind in KINDS and (missing := [name for name in NEEDED if name not in names]):
        raise ValueError(f"line {number}: {kind} has no {', '.join(missing)}")
    return names


def _row_or_end(number: int, raw: bytes, values: dict[str, str]) -> Row | str | None:
    """Return the request; None if it has no length; a text if the file breaks off here."""
    try:
        return _row(values)
    except ValueError as error:
        if raw.endswith(b"\n"):
            raise ValueError(f"line {number}: {error}: {shown_line(raw)}") from None
        return f"breaks off in line {number}: {error}"


def _row(values: dict[str, str]) -> Row | None:
    end_us, lasted_us = (_number(values, name, LARGEST_US) for name in TIMES[:2])
    served_us = _number(values, TIMES[2], LARGEST_US) if TIMES[2] in values else lasted_us
    offset = _number(values, "ByteOffset", OFFSET_MAX_BYTES)
    size = _number(values, "IOSize", SIZE_MAX_BYTES)
    if not values.get("DiskNum"):
        raise ValueError("DiskNum is missing")
    if not size:
        return None
    begun_us = end_us - lasted_us
    times = (begun_us * US, max(end_us - served_us, begun_us) * US, end_us * US)
    kind = next(iter(values.values()))
    op = KINDS[kind]
    return (*times, *touched(offset, size), op, values.get(PROCESS, ""), values["DiskNum"])


def _number(values: dict[str, str], name: str, largest: int) -> int:
    """Return a number from 0, decimal or hexadecimal."""
    if name not in values:
        raise ValueError(f"{name} is missing")
    text = values[name]
    if not re.fullmatch(r"\d{1,20}|0x[0-9a-fA-F]{1,16}", text):
        raise ValueError(f"{name} is no number")
    value = int(text, 16 if text.startswith("0x") else 10)
    if value > largest:
        raise ValueError(f"{name} is too large")
    return value
