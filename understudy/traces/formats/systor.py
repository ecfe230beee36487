# SPDX-License-Identifier: MIT
"""SNIA's SYSTOR '17: a header, `Timestamp,Response,IOType,LUN,Offset,Size`.

Times are decimal seconds, kept to the ns; offset and size are bytes; IOType is R or W; each LUN
is an owner.  Of some rows the response or the type is not known.  A row without a type can't be
used; nor one without a response where others have it, since nobody could say who waited for whom.
A file without any response has arrivals only.
Lee, Kumano, Matsuki, Endo, Fukumoto, Sugawara: Understanding Storage Traffic Characteristics on
Enterprise Virtual Desktop Infrastructure, SYSTOR 2017.
"""

from typing import BinaryIO

import polars as pl

from understudy.traces import text
from understudy.traces.reading import Reading
from understudy.traces.units import timed

NAME = "SYSTOR '17's"
COLUMNS = ("Timestamp", "Response", "IOType", "LUN", "Offset", "Size")
HEADER = ",".join(COLUMNS).encode()
NO_TYPE = "without a type"
NO_RESPONSE = "without a response time"


def recognises(head: bytes) -> bool:
    """Its header."""
    return text.first_line(head) == HEADER


def read(file: BinaryIO) -> Reading:
    """The whole file."""
    found = text.read(file, COLUMNS, _requests, header=HEADER)
    frame, left_out = found.frame, dict(found.left_out)
    known = frame["response_ns"].is_not_null()
    if known.any():
        left_out |= {NO_RESPONSE: int((~known).sum())} if not known.all() else {}
        frame = frame.filter(known)
    else:
        frame = frame.drop("response_ns")
    return Reading(timed(frame, 1), left_out, found.broken)


def _requests(fields: text.Fields) -> text.Part:
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
    kept, left_out = text.with_length(typed)
    return kept, {**left_out, NO_TYPE: frame.height - typed.height}
