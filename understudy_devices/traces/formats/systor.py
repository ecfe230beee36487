# SPDX-License-Identifier: MIT
"""SNIA's SYSTOR '17: a header, `Timestamp,Response,IOType,LUN,Offset,Size`.

Times are decimal seconds, of which 9 decimals are used.  Offset and size are in bytes; IOType is
R or W; each LUN is an owner.  In some rows the response or the type is missing.  A row without a
type is left out.  If only some rows have a response time, rows without one are left out too,
since a closed replay needs the completion of each request.  A file without response times has
arrivals only.

Lee, Kumano, Matsuki, Endo, Fukumoto, Sugawara: Understanding Storage Traffic Characteristics on
Enterprise Virtual Desktop Infrastructure, SYSTOR 2017.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import BinaryIO

import polars as pl

from understudy_devices.traces import text
from understudy_devices.traces.reading import Reading
from understudy_devices.traces.units import timed

NAME = "SYSTOR '17's"
OWNERS_ARE_VOLUMES = True
COLUMNS = ("Timestamp", "Response", "IOType", "LUN", "Offset", "Size")
HEADER = ",".join(COLUMNS).encode()
NO_TYPE = "without a type"
NO_RESPONSE = "without a response time"


def recognises(head: bytes) -> bool:
    """Return whether the file begins with this format's header."""
    return text.first_line(head) == HEADER


def read(file: BinaryIO) -> Iterator[Reading]:
    """Read the whole file; blocks before the first response time are yielded after it was read."""
    return timed(_answered(text.read(file, COLUMNS, _requests, header=HEADER)), 1)


def _answered(pieces: Iterator[Reading]) -> Iterator[Reading]:
    """Remove rows without a response, or the column of responses if no row has one."""
    before: list[Reading] = []
    for piece in pieces:
        before.append(piece)
        if piece.frame.height and piece.frame["response_ns"].is_not_null().any():
            break
    else:
        yield from (
            replace(one, frame=one.frame.drop("response_ns", strict=False)) for one in before
        )
        return
    yield from map(_known, before)
    yield from map(_known, pieces)


def _known(piece: Reading) -> Reading:
    if not piece.frame.height:
        return piece
    frame = piece.frame.filter(pl.col("response_ns").is_not_null())
    unknown = {NO_RESPONSE: piece.frame.height - frame.height}
    return replace(piece, frame=frame, left_out={**piece.left_out, **unknown})


def _requests(fields: text.Fields) -> Reading:
    types, responses = fields.frame["IOType"], fields.frame["Response"]
    filled = text.Fields(
        fields.frame.with_columns(IOType=types.fill_null("R"), Response=responses.fill_null("0"))
    )
    frame = pl.DataFrame(
        {
            "ticks": fields.seconds_ns("Timestamp"),
            "response_ns": filled.seconds_ns("Response"),
            **text.places(fields, "Offset", "Size"),
            "op": filled.ops("IOType", ("R",), ("W",)),
            "owner": fields.words("LUN"),
        }
    )
    answered = pl.when(responses.is_not_null()).then(pl.col("response_ns"))
    typed = frame.with_columns(response_ns=answered).filter(types.is_not_null())
    reading = text.with_length(typed)
    return replace(reading, left_out={**reading.left_out, NO_TYPE: frame.height - typed.height})
