# SPDX-License-Identifier: MIT
"""The kernel's binary records of blktrace, versions 7 and 8, in either byte order.

There is a row for each request that was issued (D) and wholly completed (C).  Arrivals are
determined as in blkparse.py, but more exactly: a part of a split request (X) arrived with the
whole request, a requeued request (R) was issued once, and parts that complete separately count as
one request.

A file is read together with the files of other CPUs in its folder (traces/per_cpu.py).
A file that `blktrace -o -` has written contains the records of all CPUs.  The parser's contract
is in host/traces/blktrace.h.

Without any completion, the arrivals of all issued requests are known.

Requests that move no data (flushes, discards, passthrough) are counted when issued.  In version
7, a command that makes the device itself write zeroes looks like a write.  A file breaks off at
the first impossible record; the records before it are used.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import polars as pl

from understudy_devices.native.blktrace import MAGIC, Blktrace, LeftOut
from understudy_devices.traces.compression import damage, unpacked
from understudy_devices.traces.per_cpu import files_of, missing
from understudy_devices.traces.reading import (
    DISCARDS,
    FLUSHES,
    NO_LENGTH,
    NO_REQUEST,
    NO_TRANSFER,
    PASSTHROUGH,
    REISSUED,
    UNCOMPLETED,
    UNISSUED,
    UNISSUED_QUEUES,
    Reading,
)
from understudy_devices.traces.runs import listed

NAME = "blktrace's binary records"
MAGICS = ((MAGIC >> 8).to_bytes(3, "big"), (MAGIC >> 8).to_bytes(3, "little"))
OP = pl.when(pl.col("op") == 0).then(pl.lit("read")).otherwise(pl.lit("write"))
VERSIONS_END = 32
ENDS = ("dispatch_ns", "completion_ns")
MISSING = "files of other CPUs are missing (make an empty file for a CPU that was idle)"
LEFT_OUT = {
    LeftOut.UNISSUED: UNISSUED,
    LeftOut.UNCOMPLETED: UNCOMPLETED,
    LeftOut.REISSUED: REISSUED,
    LeftOut.UNISSUED_QUEUES: UNISSUED_QUEUES,
    LeftOut.FLUSHES: FLUSHES,
    LeftOut.DISCARDS: DISCARDS,
    LeftOut.PASSTHROUGH: PASSTHROUGH,
    LeftOut.WITHOUT_TRANSFER: NO_TRANSFER,
    LeftOut.EMPTY: NO_LENGTH,
    LeftOut.REPEATED: "records with a sequence number seen before on their CPU",
    LeftOut.BACKWARDS: "records earlier than the one before on their CPU",
    LeftOut.LOST: "records lost: gaps in a CPU's sequence numbers",
}


def recognises(head: bytes) -> bool:
    """Return whether the file begins with the magic number, in either byte order, and a version
    that is not a letter.
    """
    big, little = head[:3] == MAGICS[0], head[1:4] == MAGICS[1]
    return len(head) > 4 and (big or little) and head[3 if big else 0] < VERSIONS_END


def read(file: BinaryIO) -> Iterator[Reading]:
    """Read the whole file, and the files of other CPUs in the same folder."""
    trace = Blktrace()
    breaks = _read_all(trace, file)
    some = False
    for columns in trace.rows():
        some = True
        frame = pl.DataFrame(columns).with_columns(op=OP)
        yield Reading(frame if trace.completed else frame.drop(ENDS))
    left_out = {LEFT_OUT[why]: count for why, count in trace.left_out().items()}
    if not some:
        what = [f"{count:,} {why}" for why, count in left_out.items()]
        raise ValueError("; ".join([NO_REQUEST, *what, *breaks]))
    yield Reading(left_out=left_out, broken="; ".join(breaks) or None)


def _read_all(trace: Blktrace, file: BinaryIO) -> list[str]:
    """Read the files of all CPUs; return where they break off."""
    named = getattr(file, "name", None)
    paths = files_of(Path(named)) if isinstance(named, str) else []
    gone = [f"{MISSING}: {listed(missing(paths))}"] if missing(paths) else []
    if len(paths) < 2:
        return [*(why for why in [trace.read(file)] if why), *gone]
    breaks = [(path, _read_one(trace, path)) for path in paths]
    return [*(f"{path.name}: {why}" for path, why in breaks if why), *gone]


def _read_one(trace: Blktrace, path: Path) -> str | None:
    try:
        with path.open("rb") as file:
            content = unpacked(file)
            broken = trace.read(content)
            return damage(content) or broken
    except OSError as error:
        raise ValueError(f"{path.name}: {error.strerror or error}") from error
    except ValueError as error:
        raise ValueError(f"{path.name} {error}") from error
