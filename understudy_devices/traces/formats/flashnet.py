# SPDX-License-Identifier: MIT
"""Logs of the replayers of LinnOS, IODA and FlashNet: `0.000,114,1,4096,7356416,0.172,4096`.

The fields are the time in the replayed trace (ms), the latency (us), 1 for a read and 0 for a
write, the size and the offset in bytes, the time when the request was sent (ms), and what the
system call returned (bytes).  Older replayers write only the first five, or six: without a time of
sending, requests arrived at the time in the trace.  A request whose call failed is left out.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import BinaryIO

import polars as pl

from understudy_devices.traces import text
from understudy_devices.traces.reading import Reading
from understudy_devices.traces.units import timed

NAME = "FlashNet's"
COLUMNS = ("trace time", "latency", "is read", "size", "offset", "time", "returned")
LINE = re.compile(rb"^\d+\.\d+,\d+,[01],\d+,\d+(?:,\d+\.\d+(?:,-?\d+)?)?$")
FAILED = "that failed"
US = 1000
LATENCY_MAX_US = 10**12


def recognises(head: bytes) -> bool:
    """Return whether the first line has five to seven numbers, the first and the sixth with
    decimals.
    """
    return bool(LINE.match(text.first_line(head).strip()))


def read(file: BinaryIO) -> Iterator[Reading]:
    """Read the whole file."""
    return timed(text.read(file, COLUMNS, _Convert()), 1)


class _Convert:
    """The first line decides which fields there are."""

    def __init__(self) -> None:
        self._width = 0

    def __call__(self, fields: text.Fields) -> Reading:
        frame = fields.frame
        if not self._width:
            self._width = sum(
                frame[name].len() > 0 and frame[name][0] is not None for name in COLUMNS
            )
        for name in COLUMNS[: self._width]:
            fields.words(name)
        for name in COLUMNS[self._width :]:
            fields.refuse(frame[name].is_not_null(), name, "is not in the first line")
        requests = pl.DataFrame(
            {
                "ticks": fields.decimals("time" if self._width > 5 else "trace time", 6),
                "response_ns": fields.numbers("latency", LATENCY_MAX_US) * US,
                **text.places(fields, "offset", "size"),
                "op": fields.ops("is read", ("1",), ("0",)),
            }
        )
        failed = frame["returned"].str.starts_with("-").fill_null(value=False)
        reading = text.with_length(requests.filter(~failed))
        return replace(reading, left_out={**reading.left_out, FAILED: int(failed.sum())})
