# SPDX-License-Identifier: MIT
"""Bytes and ticks of other people's traces in ours: sectors of 512 bytes, and ns from the first
arrival.

What these refuse can be no trace of a disk; so whatever passes stays whole in 64 bits.
"""

from typing import TypeVar

import numpy as np
import numpy.typing as npt
import polars as pl

Ints = npt.NDArray[np.int64]
Number = TypeVar("Number", int, Ints)

SECTOR_BYTES = 512
OFFSET_MAX_BYTES = 2**55 - 1
SIZE_MAX_BYTES = 2**40
SPAN_MAX_NS = 2**62


def touched(offset_bytes: Number, size_bytes: Number) -> tuple[Number, Number]:
    """First sector and number of sectors of a request, or of each, that has any byte in them."""
    first = offset_bytes // SECTOR_BYTES
    end = -(-(offset_bytes + size_bytes) // SECTOR_BYTES)
    return first, end - first


def timed(frame: pl.DataFrame, tick_ns: int) -> pl.DataFrame:
    """The column ticks (none negative) as arrival_ns, ns after the earliest of them, and
    response_ns, if it is there, as completion_ns; ValueError if they lie ages apart."""
    ticks = frame["ticks"]
    since = ticks - ticks.min() if frame.height else ticks
    if frame.height and int(since.to_numpy().max()) * tick_ns > SPAN_MAX_NS:
        years = SPAN_MAX_NS // (365 * 24 * 3600 * 10**9)
        raise ValueError(f"its times lie more than {years} years apart, so they can't be right")
    found = frame.with_columns(arrival_ns=since * tick_ns).drop("ticks")
    if "response_ns" not in frame.columns:
        return found
    completion_ns = pl.col("arrival_ns") + pl.col("response_ns")
    return found.with_columns(completion_ns=completion_ns).drop("response_ns")
