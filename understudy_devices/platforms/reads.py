# SPDX-License-Identifier: MIT
"""Reads the log that a guest workload wrote: each process's own record of its I/O.

This log is the second witness of the throttle's records. The log's format is in guest/reads.h; the
meaning of `offset` is in guest/surge.c and guest/random.c.
"""

import struct
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from understudy_devices.base.errors import RunFailed

MAGIC = b"USREADS1"
HEADER = struct.Struct("<8sII")
ENTRY = np.dtype(
    [
        ("start_ns", "<u8"),
        ("end_ns", "<u8"),
        ("offset", "<u8"),
        ("owner", "<u4"),
        ("result", "<i4"),
    ]
)


Entries = npt.NDArray[Any]


def parse_log(data: bytes, name: str) -> Entries:
    """Return all entries, in the order in which they were logged; `name` is for errors."""
    if len(data) < HEADER.size:
        raise RunFailed(f"{name}: cut off in its header")
    magic, entry_bytes, count = HEADER.unpack_from(data)
    if magic != MAGIC or entry_bytes != ENTRY.itemsize:
        raise RunFailed(f"{name}: not a log of reads")
    if len(data) != HEADER.size + count * ENTRY.itemsize:
        raise RunFailed(f"{name}: {count} entries announced, {len(data)} bytes found")
    return np.frombuffer(data, ENTRY, count, HEADER.size)


def read_log(path: Path) -> Entries:
    """Return the entries of the log in a file."""
    return parse_log(path.read_bytes(), str(path))
