# SPDX-License-Identifier: MIT
"""fio's iolog, version 2 or 3: a job's requests, without their durations.

The first line has the version.  A line of version 2 is `file action [offset length]`; in the line
of a wait, the field `offset` is the time since the previous wait, in microseconds.  A line of
version 3 begins with the number of microseconds since the beginning of the log.  Offsets and
lengths are bytes.  There are arrivals only.  Each file is an owner; offsets count from the file's
beginning.  Source: fio's manual, "Trace file format v2" and "v3".
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import BinaryIO

import polars as pl

from understudy_devices.traces import text
from understudy_devices.traces.reading import NO_TRANSFER, Reading
from understudy_devices.traces.units import timed

NAME = "fio's iolog"
OWNERS_ARE_VOLUMES = True
FIRST = re.compile(rb"^fio version ([23]) iolog$")
VERSION_2 = ("file", "action", "offset", "length")
VERSION_3 = ("timestamp", *VERSION_2)
TRANSFERS = ("read", "write")
PLACED = (*TRANSFERS, "wait")
OTHERS = ("trim", "sync", "datasync")
FILES = ("add", "open", "close")
ACTIONS = (*PLACED, *OTHERS, *FILES)
TICK_NS = 1000
TICKS_MAX = 2**52  # 142 years
NO_WAITS = (
    "has no waits, so the times of requests are unknown; write it with a newer fio (version 3)"
)


def recognises(head: bytes) -> bool:
    """Return whether the first line is that of an iolog."""
    return bool(FIRST.match(text.first_line(head)))


def read(file: BinaryIO) -> Iterator[Reading]:
    """Read the whole file."""
    first = FIRST.match(text.first_line(file.readline(text.LINE_MAX_BYTES)))
    if not first:
        raise ValueError(f"does not begin as {NAME} does")
    if first[1] == b"3":
        lines = text.read(file, VERSION_3, _lines, separator=" ", line=2)
    else:
        lines = _waited(text.read(file, VERSION_2, _lines, separator=" ", line=2))
    yield from timed(map(_transfers, lines), TICK_NS)


def _transfers(piece: Reading) -> Reading:
    """Remove requests that move no data."""
    if not piece.frame.height:
        return piece
    frame = piece.frame.filter(pl.col("op") != "wait")
    others = int((frame["op"] == "other").sum())
    reading = text.with_length(frame.filter(pl.col("op") != "other"))
    return replace(piece, frame=reading.frame, left_out={NO_TRANSFER: others, **reading.left_out})


def _lines(fields: text.Fields) -> Reading:
    """Return requests and waits, without actions that only open or close files."""
    fields.refuse(~fields.frame["action"].is_in(ACTIONS).fill_null(False), "action", "is unknown")
    action = pl.col("action")
    needed = text.Fields(
        fields.frame.with_columns(
            offset=pl.when(action.is_in(PLACED)).then("offset").otherwise(pl.lit("0")),
            length=pl.when(action.is_in(TRANSFERS)).then("length").otherwise(pl.lit("0")),
        )
    )
    stamped = "timestamp" in fields.frame.columns
    ticks = fields.numbers("timestamp", TICKS_MAX) if stamped else needed.numbers("offset")
    frame = pl.DataFrame(
        {
            "ticks": ticks,
            **text.places(needed, "offset", "length"),
            "op": fields.frame["action"].replace(dict.fromkeys(OTHERS, "other")),
            "owner": fields.words("file"),
        }
    )
    return Reading(frame.filter(~pl.col("op").is_in(FILES)))


def _waited(pieces: Iterator[Reading]) -> Iterator[Reading]:
    """Add the ticks of version 3 to version 2: microseconds since the beginning of the log, the
    sum of all earlier waits.
    """
    waited, some, waits = 0, False, False
    for piece in pieces:
        if not piece.frame.height:
            yield piece
            continue
        is_wait = piece.frame["op"] == "wait"
        some, waits = True, waits or is_wait.any()
        each = piece.frame.select(pl.when(is_wait).then("ticks").otherwise(0)).to_series()
        if waited + each.cast(pl.Float64).sum() > TICKS_MAX:
            raise ValueError("its waits add up to more than a century, so they can't be right")
        ticks = waited + each.cum_sum()
        waited = int(ticks[-1])
        yield replace(piece, frame=piece.frame.with_columns(ticks=ticks))
    if some and not waits:
        raise ValueError(NO_WAITS)
