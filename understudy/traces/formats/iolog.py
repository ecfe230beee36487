# SPDX-License-Identifier: MIT
"""fio's iolog, version 2 or 3: what a job asks for, not how long it took.

Its first line says which it is.  A line of version 2 is `file action [offset length]`, and a wait's
offset is microseconds since the wait before; one of version 3 begins with microseconds since the
log began.  Offsets and lengths are bytes.  Arrivals only.  Each file is an owner; offsets are in
it.  fio's manual, "Trace file format v2" and "v3".
"""

import re
from typing import BinaryIO

import polars as pl

from understudy.traces import text
from understudy.traces.reading import NO_TRANSFER, Reading
from understudy.traces.units import timed

NAME = "fio's iolog"
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
    "has no waits, so it does not say when requests came; write it with a newer fio (version 3)"
)


def recognises(head: bytes) -> bool:
    """It says so itself."""
    return bool(FIRST.match(text.first_line(head)))


def read(file: BinaryIO) -> Reading:
    """The whole file."""
    first = FIRST.match(text.first_line(file.readline(text.LINE_MAX_BYTES)))
    if not first:
        raise ValueError(f"does not begin as {NAME} does")
    columns, times = (VERSION_3, _stamps) if first[1] == b"3" else (VERSION_2, _waits)
    found = text.read(file, columns, _lines, separator=" ", line=2)
    frame = found.frame.with_columns(ticks=times(found.frame)).filter(pl.col("op") != "wait")
    others = int((frame["op"] == "other").sum())
    frame, empty = text.with_length(frame.filter(pl.col("op") != "other"))
    left_out = {why: n for why, n in {NO_TRANSFER: others, **empty}.items() if n}
    return Reading(timed(frame, TICK_NS), left_out, found.broken)


def _lines(fields: text.Fields) -> text.Part:
    """What is asked of files, and the waits; nothing of what is only done to files."""
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
    return frame.filter(~pl.col("op").is_in(FILES)), {}


def _stamps(frame: pl.DataFrame) -> pl.Series:
    """Microseconds since the log began."""
    return frame["ticks"]


def _waits(frame: pl.DataFrame) -> pl.Series:
    """The same from version 2: all waits before."""
    is_wait = frame["op"] == "wait"
    if not is_wait.any() and frame.height:
        raise ValueError(NO_WAITS)
    waits = frame.select(pl.when(is_wait).then("ticks").otherwise(0)).to_series()
    if (waits.cast(pl.Float64).sum() or 0) > TICKS_MAX:
        raise ValueError("its waits are together longer than a century, so they can't be right")
    return waits.cum_sum()
