# SPDX-License-Identifier: MIT
"""Converts the units of trace formats: bytes to sectors of 512 bytes, and ticks to ns from the
first arrival.

Values that no trace of a disk can have are refused, so accepted values fit in 64 bits.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import polars as pl

from understudy_devices.traces.reading import Reading

Ints = npt.NDArray[np.int64]
Number = TypeVar("Number", int, Ints)

SECTOR_BYTES = 512
OFFSET_MAX_BYTES = 2**55 - 1
SIZE_MAX_BYTES = 2**40
SPAN_MAX_NS = 2**62


def touched(offset_bytes: Number, size_bytes: Number) -> tuple[Number, Number]:
    """Return the first sector and the number of sectors that each request touches."""
    first = offset_bytes // SECTOR_BYTES
    end = -(-(offset_bytes + size_bytes) // SECTOR_BYTES)
    return first, end - first


def bytes_doubt(frame: pl.DataFrame, time: str) -> str | None:
    """Return why the sectors of a text without names are probably bytes, or None: all places and
    sizes are multiples of 512.  `time` is the first column for --columns.
    """
    if ((frame["sector"] | frame["sectors"]) % SECTOR_BYTES != 0).any():
        return None
    return (
        "all places and sizes are multiples of 512, so they are probably bytes and not sectors: "
        f"describe them, as --columns {time},volume,offset,bytes,op_1read (op if 1 is a write)"
    )


def timed(pieces: Iterable[Reading], tick_ns: int) -> Iterator[Reading]:
    """Convert the column `ticks` (none negative) to arrival_ns, in ns after the earliest tick of
    the first block of rows.  If there is a column response_ns, convert it to completion_ns, and
    wait_ns to dispatch_ns.

    ValueError if two times are more than SPAN_MAX_NS apart.
    """
    origin: int | None = None
    earliest, latest = 0, 0
    for piece in pieces:
        if not piece.frame.height:
            yield piece
            continue
        since = piece.frame["ticks"].to_numpy()
        origin = int(since.min()) if origin is None else origin
        since = since - origin
        earliest, latest = min(earliest, int(since.min())), max(latest, int(since.max()))
        if (latest - earliest) * tick_ns > SPAN_MAX_NS:
            years = SPAN_MAX_NS // (365 * 24 * 3600 * 10**9)
            raise ValueError(f"its times are more than {years} years apart, so they can't be right")
        frame = _in_ns(piece.frame, since * tick_ns)
        yield replace(piece, frame=frame, relative=True, origin_ns=origin * tick_ns)


def _in_ns(frame: pl.DataFrame, arrival_ns: Ints) -> pl.DataFrame:
    in_ns = frame.with_columns(arrival_ns=arrival_ns).drop("ticks")
    for since, time in (("response_ns", "completion_ns"), ("wait_ns", "dispatch_ns")):
        if since in frame.columns:
            at = pl.col("arrival_ns") + pl.col(since)
            in_ns = in_ns.with_columns(at.alias(time)).drop(since)
    return in_ns
