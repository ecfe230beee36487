# SPDX-License-Identifier: MIT
"""Parses the kernel's trace from its ring buffer, page by page.

A page begins with the time of its first event and the number of bytes of its events. An event
begins with 32 bits. Of the 32 bits, 5 are the event's length or mark an event that only advances
the time. The other 27 are the ns since the previous event (tracing/events/header_page,
header_event). An event's format lists its fields (tracing/events/*/*/format).
"""

import re
import struct
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from understudy_devices.base.errors import RunFailed

PAGE_BYTES = 4096
PAGE = struct.Struct("<QQ")
WORD = struct.Struct("<I")
LOST = 3 << 30  # events were overwritten before they were read
LONG, PADDING, TIME_EXTEND, TIME_STAMP = 0, 29, 30, 31
TIME_LOW_BITS = 27
TIME_NS_MAX = 2**63 - 1
TYPE_BYTES = 2  # at the beginning of each event's data

NAME = re.compile(r"^name: (\S+)\nID: (\d+)\n", re.MULTILINE)
WHAT = re.compile(r"field:char (rwbs)\[(\d+)\];\s*offset:(\d+);")
NUMBER = re.compile(r"field:[^;\[]* (\w+);\s*offset:(\d+);\s*size:([1248]);\s*signed:([01]);")

Event = tuple[int, bytes]
"""Time, ns, and data."""

Field = tuple[str, int, np.dtype[Any]]
"""Name, offset in the data, type."""


def events(trace: bytes, formats: str) -> dict[str, pl.DataFrame]:
    """Return the events that the formats describe, by name, in order of time.

    The columns are "time_ns", all numeric fields, and "rwbs", the kind of request, as text.  Raises
    RunFailed if the trace is cut off, is not a trace, or has lost events.
    """
    by_type = defaultdict[int, list[Event]](list)
    described = iter(NAME.split(formats)[1:])
    try:
        for start in range(0, len(trace), PAGE_BYTES):
            for event in _of_page(trace[start : start + PAGE_BYTES]):
                by_type[int.from_bytes(event[1][:TYPE_BYTES], "little")].append(event)
        return {
            name: _table(by_type[int(number)], [*_numbers(fields), *_texts(fields)])
            for name, number, fields in zip(described, described, described, strict=True)
        }
    except (struct.error, ValueError) as error:
        raise RunFailed(f"the kernel's trace can't be read: {error}") from error


def _of_page(page: bytes) -> Iterator[Event]:
    time_ns, held = PAGE.unpack_from(page)
    if held & LOST:
        raise ValueError("events are lost: its buffer was too small")
    at, end = PAGE.size, PAGE.size + held
    if end > len(page):
        raise ValueError(f"a page of {len(page)} bytes says that it holds {held}")
    while at < end:
        (word,) = WORD.unpack_from(page, at)
        kind, delta = word & 31, word >> 5
        at += WORD.size
        if kind == PADDING and not delta:
            return
        if LONG < kind < PADDING:
            begin, at = at, at + kind * WORD.size
        else:
            (more,) = WORD.unpack_from(page, at)
            begin, at = at + WORD.size, at + (WORD.size if kind > PADDING else more)
        if not begin <= at <= end:
            raise ValueError(f"an event ends at byte {at} of a page that holds {held}")
        time_ns = (0 if kind == TIME_STAMP else time_ns) + delta
        if kind > PADDING:
            time_ns += more << TIME_LOW_BITS
        if time_ns > TIME_NS_MAX:
            raise ValueError(f"an event at {time_ns} ns")
        if kind < PADDING:
            yield time_ns, page[begin:at]


def _numbers(fields: str) -> Iterator[Field]:
    for name, offset, size, signed in NUMBER.findall(fields):
        yield name, int(offset), np.dtype("ui"[int(signed)] + size)


def _texts(fields: str) -> Iterator[Field]:
    for name, size, offset in WHAT.findall(fields):
        yield name, int(offset), np.dtype(f"S{size}")


def _table(entries: list[Event], fields: Sequence[Field]) -> pl.DataFrame:
    names, offsets, kinds = zip(*fields, strict=True)
    bytes_min = max(offset + kind.itemsize for _, offset, kind in fields)
    layout = np.dtype({"names": names, "formats": kinds, "offsets": offsets, "itemsize": bytes_min})
    if any(len(data) < bytes_min for _, data in entries):
        raise ValueError("an event is shorter than its fields")
    rows = np.frombuffer(b"".join(data[:bytes_min] for _, data in entries), layout)
    times = pl.Series("time_ns", [time_ns for time_ns, _ in entries], pl.Int64)
    columns = (pl.Series(name, _plain(rows[name])) for name in names)
    return pl.DataFrame([times, *columns]).sort("time_ns", maintain_order=True)


def _plain(column: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Cut each text at its first zero; the bytes after it are arbitrary."""
    if column.dtype.kind != "S":
        return column
    return np.array([text.partition(b"\0")[0].decode(errors="replace") for text in column], str)
