# SPDX-License-Identifier: MIT
"""HP's SRT traces, record version 1 to 4: cello, snake, hplajw.

A text that begins with `$$TR_IOREC` describes the machine and its disks, up to a form feed.  Then
come big-endian records of 32-bit numbers: the record's bytes; version and type; seconds and us of
the arrival; us from then to the begin and to the end of the service; bytes; the first sector; the
device; the driver; the cylinder; flags, of which the lowest says a read; and information, in
version 4 with the length of the queue.

Sectors have the disk's `sectorsize`, and count from its beginning.  The second byte of the device
is the disk, which is a volume.  Records that the tracer itself suspects are counted.
Ruemmler, Wilkes: UNIX Disk Access Patterns, USENIX Winter 1993.
"""

import re
import struct
from collections import Counter
from collections.abc import Iterator
from typing import BinaryIO

import polars as pl

from understudy_devices.traces.reading import NO_LENGTH, Reading
from understudy_devices.traces.units import OFFSET_MAX_BYTES, SIZE_MAX_BYTES, touched

NAME = "HP's SRT"
MAGIC = b"$$TR_IOREC"
FORM_FEED = b"\x0c"
HEADER_MAX_BYTES = 2**20
DISK = re.compile(rb"(?P<disk>\d+)\s*->\s*\{\s*disktype\b|sectorsize\s*=\s*(?P<bytes>\d+)\b")
SECTORS_BYTES = (256, 512, 1024, 2048, 4096)
HEAD = struct.Struct(">IHH10I")
FEWEST_BYTES = 13 * 4
MOST_BYTES = 64
VERSIONS = range(1, 5)
SHORT, SUSPECT = 1, 4
READ = 1
SUSPECTED = "that the tracer suspects"
PIECE_BYTES = 2**22
US = 1000
INTS = ("arrival_ns", "dispatch_ns", "completion_ns", "sector", "sectors")
COLUMNS = {**dict.fromkeys(INTS, pl.Int64), "op": pl.String, "volume": pl.String}

Row = tuple[int, int, int, int, int, str, str]


def recognises(head: bytes) -> bool:
    """Return whether the file begins as its text does."""
    return head.startswith(MAGIC)


def read(file: BinaryIO) -> Iterator[Reading]:
    """Read the whole file."""
    text, feed, rest = file.read(HEADER_MAX_BYTES).partition(FORM_FEED)
    if not feed:
        raise ValueError(f"has no form feed after the text of {NAME}")
    sector_bytes = _sector_bytes(text)
    left_out: Counter[str] = Counter()
    number = 1
    while True:
        rows, rest, number = _rows(rest, number, sector_bytes, left_out)
        yield Reading(pl.DataFrame(rows, schema=COLUMNS, orient="row"), relative=True)
        more = file.read(PIECE_BYTES)
        if not more:
            break
        rest += more
    broken = f"breaks off in record {number}" if rest else None
    yield Reading(left_out=left_out, broken=broken)


def _sector_bytes(text: bytes) -> dict[int, int]:
    """Return the size of each disk's sectors."""
    sizes: dict[int, int] = {}
    disk = None
    for part in DISK.finditer(text):
        if part["disk"]:
            disk = int(part["disk"])
        elif disk is not None:
            sizes[disk] = int(part["bytes"])
            if sizes[disk] not in SECTORS_BYTES:
                raise ValueError(f"disk {disk} has sectors of {sizes[disk]:,} bytes")
    return sizes


def _rows(
    data: bytes, number: int, sector_bytes: dict[int, int], left_out: Counter[str]
) -> tuple[list[Row], bytes, int]:
    """Return the requests, the bytes behind the last whole record, and the next one's number."""
    rows: list[Row] = []
    at = 0
    while at + FEWEST_BYTES <= len(data):
        fields = HEAD.unpack_from(data, at)
        size, version, kind = fields[:3]
        if version not in VERSIONS or kind not in (SHORT, SUSPECT):
            raise ValueError(f"record {number}: version {version}, type {kind} is unknown")
        if size < FEWEST_BYTES or size > MOST_BYTES:
            raise ValueError(f"record {number}: {size:,} bytes is no length of a record")
        if at + size > len(data):
            break
        row = SUSPECTED if kind == SUSPECT else _row(number, fields, sector_bytes)
        if isinstance(row, str):
            left_out[row] += 1
        else:
            rows.append(row)
        at, number = at + size, number + 1
    return rows, data[at:], number


def _row(number: int, fields: tuple[int, ...], sector_bytes: dict[int, int]) -> Row | str:
    """Return the request, or the reason to leave it out."""
    seconds, us, begun_us, end_us, size, sector, device, _, _, flags = fields[3:]
    disk = device >> 8 & 0xFF
    if disk not in sector_bytes:
        raise ValueError(f"record {number}: disk {disk} is not in the text at the beginning")
    if us >= 10**6 or begun_us > end_us:
        raise ValueError(f"record {number}: its times are impossible")
    offset = sector * sector_bytes[disk]
    if offset > OFFSET_MAX_BYTES or size > SIZE_MAX_BYTES:
        raise ValueError(f"record {number}: a number in it is too large")
    if not size:
        return NO_LENGTH
    arrival_us = seconds * 10**6 + us
    times = (arrival_us * US, (arrival_us + begun_us) * US, (arrival_us + end_us) * US)
    return (*times, *touched(offset, size), "read" if flags & READ else "write", str(disk))
