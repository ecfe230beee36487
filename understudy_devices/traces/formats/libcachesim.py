# SPDX-License-Identifier: MIT
"""libCacheSim's CSV of CloudPhysics' traces: `version,time,op,size,lbn`, as in that header.

The time is in seconds, the size in bytes, lbn in sectors of 512 bytes; op is a SCSI opcode in
hexadecimal.  Arrivals only.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import BinaryIO

import numpy as np
import polars as pl

from understudy_devices.traces import text
from understudy_devices.traces.formats.vscsi import READS, WRITES
from understudy_devices.traces.reading import NO_TRANSFER, Reading
from understudy_devices.traces.units import OFFSET_MAX_BYTES, SECTOR_BYTES, SIZE_MAX_BYTES, timed

NAME = "libCacheSim's"
COLUMNS = ("version", "time", "op", "size", "lbn")
HEADER = ",".join(COLUMNS).encode()


def recognises(head: bytes) -> bool:
    """Return whether the file begins with this format's header."""
    return text.first_line(head) == HEADER


def read(file: BinaryIO) -> Iterator[Reading]:
    """Read the whole file."""
    return timed(text.read(file, COLUMNS, _requests, header=HEADER), 1)


def _requests(fields: text.Fields) -> Reading:
    opcodes = fields.words("op").str.to_lowercase().str.to_integer(base=16, strict=False)
    fields.refuse(opcodes.is_null(), "op", "is no hexadecimal number")
    sizes = fields.numbers("size", SIZE_MAX_BYTES)
    frame = pl.DataFrame(
        {
            "ticks": fields.seconds_ns("time"),
            "sector": fields.numbers("lbn", OFFSET_MAX_BYTES // SECTOR_BYTES),
            "sectors": np.asarray(-(-sizes // SECTOR_BYTES)),
            "opcode": opcodes,
        }
    )
    moves = frame.filter(pl.col("opcode").is_in([*READS, *WRITES]))
    write = pl.col("opcode").is_in(WRITES)
    op = pl.when(write).then(pl.lit("write")).otherwise(pl.lit("read"))
    reading = text.with_length(moves.with_columns(op=op).drop("opcode"))
    others = {NO_TRANSFER: frame.height - moves.height}
    return replace(reading, left_out={**reading.left_out, **others})
