# SPDX-License-Identifier: MIT
"""CloudPhysics' vscsi traces: binary records of SCSI commands, in two versions.

The records are little endian.  A record of version 1 has 32 bytes and an arrival only; a record of
version 2 has 40 bytes and also a response time.  The high byte of `ver` is the version.  `len` is
in bytes, `lbn` in sectors of 512 bytes, `ts` and `rt` in microseconds.  Commands that neither read
nor write are left out.

Waldspurger, Park, Garthwaite, Ahmad: SHARDS, FAST 2015.
"""

from collections.abc import Iterator
from typing import BinaryIO

import numpy as np
import numpy.typing as npt
import polars as pl

from understudy_devices.traces.reading import NO_LENGTH, NO_TRANSFER, Reading
from understudy_devices.traces.units import (
    OFFSET_MAX_BYTES,
    SECTOR_BYTES,
    SIZE_MAX_BYTES,
    timed,
    touched,
)

NAME = "vscsi"
PLACE_AND_TIME = [("lbn", "<u8"), ("ts", "<u8")]
HEAD_1 = [("sn", "<u4"), ("len", "<u4"), ("nsg", "<u4"), ("cmd", "<u2"), ("ver", "<u2")]
HEAD_2 = [("cmd", "<u2"), ("ver", "<u2"), ("sn", "<u4"), ("len", "<u4"), ("nsg", "<u4")]
LAYOUTS = {
    1: np.dtype([*HEAD_1, *PLACE_AND_TIME]),
    2: np.dtype([*HEAD_2, *PLACE_AND_TIME, ("rt", "<u8")]),
}
READS = (0x08, 0x28, 0xA8, 0x88)
WRITES = (0x0A, 0x2A, 0xAA, 0x8A)
OPCODE_MAX = 0xFF
TICK_NS = 1000
TICKS_MAX = 2**52  # 142 years
PIECE_RECORDS = 2**18

Records = npt.NDArray[np.void]


def recognises(head: bytes) -> bool:
    """Return whether the first record has a known version and a SCSI opcode."""
    return _version(head) is not None


def read(file: BinaryIO) -> Iterator[Reading]:
    """Read the whole file."""
    head = file.read(max(layout.itemsize for layout in LAYOUTS.values()))
    version = _version(head)
    if version is None:
        raise ValueError(f"has no record of {NAME}")
    yield from timed(_pieces(file, head, version), TICK_NS)


def _pieces(file: BinaryIO, head: bytes, version: int) -> Iterator[Reading]:
    """Yield blocks of the records in `head` and then in the file."""
    layout, rest, first = LAYOUTS[version], head, 1
    while True:
        more = file.read(PIECE_RECORDS * layout.itemsize)
        data = rest + more
        whole = len(data) - len(data) % layout.itemsize
        records, rest = _records(data, layout), data[whole:]
        yield _requests(records, version, first)
        first += len(records)
        if not more:
            break
    if rest:
        yield Reading(broken=f"breaks off in record {first}")


def _version(head: bytes) -> int | None:
    for version, layout in LAYOUTS.items():
        first = _records(head[: layout.itemsize], layout)
        if ((first["ver"] >> 8 == version) & (first["cmd"] <= OPCODE_MAX)).any():
            return version
    return None


def _records(data: bytes, layout: np.dtype[np.void]) -> Records:
    """Return all complete records."""
    count = len(data) // layout.itemsize
    return np.frombuffer(data, layout, count) if count else np.empty(0, layout)


def _requests(records: Records, version: int, first: int) -> Reading:
    """Return the requests of a block, whose first record has the number `first` in the file."""
    _refuse(records["ver"] >> 8 != version, records["ver"], first, f"version is not {version}")
    writes = np.isin(records["cmd"], WRITES)
    transfers = writes | np.isin(records["cmd"], READS)
    for name, largest in _limits(version).items():
        _refuse(transfers & (records[name] > largest), records[name], first, f"{name} is too large")
    mask = transfers & (records["len"] > 0)
    left_out = {
        NO_TRANSFER: int((~transfers).sum()),
        NO_LENGTH: int((transfers & ~mask).sum()),
    }
    rows = records[mask]
    sector, sectors = touched(
        rows["lbn"].astype(np.int64) * SECTOR_BYTES, rows["len"].astype(np.int64)
    )
    columns = {"ticks": rows["ts"].astype(np.int64), "sector": sector, "sectors": sectors}
    if version == 2:
        columns["response_ns"] = rows["rt"].astype(np.int64) * TICK_NS
    op = pl.when(pl.lit(pl.Series(writes[mask]))).then(pl.lit("write")).otherwise(pl.lit("read"))
    return Reading(pl.DataFrame(columns).with_columns(op=op), left_out)


def _limits(version: int) -> dict[str, int]:
    """Return the largest value of each field."""
    limits = {"lbn": OFFSET_MAX_BYTES // SECTOR_BYTES, "len": SIZE_MAX_BYTES, "ts": TICKS_MAX}
    return limits | ({"rt": TICKS_MAX} if version == 2 else {})


def _refuse(
    wrong: npt.NDArray[np.bool_], values: npt.NDArray[np.integer], first: int, why: str
) -> None:
    if wrong.any():
        at = int(wrong.argmax())
        raise ValueError(f"record {first + at}: {why} ({int(values[at]):,})")
