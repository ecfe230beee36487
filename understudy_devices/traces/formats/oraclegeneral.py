# SPDX-License-Identifier: MIT
"""libCacheSim's oracleGeneral: records of 24 bytes, little endian: the time in seconds, the object
(8 bytes), its bytes, and the number of the record that asks for it next (8 bytes; -1 or the largest
number if none does).

Arrivals only, and in whole seconds.  In a trace of blocks the object is the first sector of 512
bytes; in a trace of a web cache it is a hash, which is refused as no place on a disk.  The file
does not say which requests are writes.  Each object has one size, so requests of several sizes that
begin at one sector all have the same (12 % of the requests of libCacheSim's cloudPhysicsIO).
"""

from collections.abc import Iterator
from typing import BinaryIO

import numpy as np
import numpy.typing as npt
import polars as pl

from understudy_devices.traces.reading import NO_LENGTH, Reading
from understudy_devices.traces.units import OFFSET_MAX_BYTES, SECTOR_BYTES, SIZE_MAX_BYTES, timed

NAME = "libCacheSim's oracleGeneral"
ASSUMES = (
    "each request is a read, since the file has no directions; objects are sectors of 512 bytes; "
    "a request's size is its object's; requests of one second arrive together"
)
RECORD = np.dtype([("time", "<u4"), ("object", "<u8"), ("size", "<u4"), ("next", "<i8")])
NEVER = (-1, 2**63 - 1)
TICK_NS = 10**9
MOST_RECORDS = 2**40
PIECE_RECORDS = 2**18

Records = npt.NDArray[np.void]


def recognises(head: bytes) -> bool:
    """Return whether there are two records or more, in order of time, and each names a later record
    of a file that may exist, or none."""
    records = _records(head)
    later = (records["next"] > np.arange(len(records))) & (records["next"] < MOST_RECORDS)
    ordered = np.diff(records["time"].astype(np.int64)) >= 0
    return len(records) > 1 and bool(ordered.all() and (later | _last(records)).all())


def read(file: BinaryIO) -> Iterator[Reading]:
    """Read the whole file."""
    return timed(_pieces(file), TICK_NS)


def _pieces(file: BinaryIO) -> Iterator[Reading]:
    first = 0
    while data := file.read(PIECE_RECORDS * RECORD.itemsize):
        records = _records(data)
        yield _requests(records, first)
        first += len(records)
        if len(data) % RECORD.itemsize:
            yield Reading(broken=f"breaks off in record {first + 1}")


def _records(data: bytes) -> Records:
    return np.frombuffer(data, RECORD, len(data) // RECORD.itemsize)


def _last(records: Records) -> npt.NDArray[np.bool_]:
    return np.isin(records["next"], NEVER)


def _requests(records: Records, first: int) -> Reading:
    """Return the requests of a block, before which the file has `first` records."""
    wrong = {
        "object": records["object"] > OFFSET_MAX_BYTES // SECTOR_BYTES,
        "size": records["size"] > SIZE_MAX_BYTES,
        "next": ~(_last(records) | (records["next"] > first + np.arange(len(records)))),
    }
    why = {
        "object": "is no sector of a disk: a hash, as traces of web caches have",
        "size": "is too large",
        "next": "is not after this record",
    }
    for name, where in wrong.items():
        if where.any():
            at = int(where.argmax())
            raise ValueError(f"record {first + at + 1}: {name} {records[name][at]:,} {why[name]}")
    asked = records[records["size"] > 0]
    size = asked["size"].astype(np.int64)
    frame = pl.DataFrame(
        {
            "ticks": asked["time"].astype(np.int64),
            "sector": asked["object"].astype(np.int64),
            "sectors": -(-size // SECTOR_BYTES),
        }
    ).with_columns(op=pl.lit("read"))
    return Reading(frame, {NO_LENGTH: len(records) - len(asked)})
