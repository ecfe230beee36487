# SPDX-License-Identifier: MIT
"""Thesios' traces of Google's disks: `filename,file_offset,application,...`, as in that header.

Requests arrive at start_time; simulated_latency is the response time, which Google's simulator of
the disk computed (start_time is recorded).  Both are seconds.  The size is request_io_size_bytes.
Offsets are those in files, so the trace does not say where on the disk requests were.  The owner
is the application.
Phothilimthana, Kadekodi, Ghodrati et al.: Thesios, ASPLOS 2024.
"""

from collections.abc import Iterator
from typing import BinaryIO

import numpy as np
import polars as pl

from understudy_devices.traces import text
from understudy_devices.traces.reading import Reading
from understudy_devices.traces.units import SECTOR_BYTES, SIZE_MAX_BYTES, timed

NAME = "Thesios'"
COLUMNS = (
    "filename",
    "file_offset",
    "application",
    "c_time",
    "io_zone",
    "redundancy_type",
    "op_type",
    "service_class",
    "from_flash_cache",
    "cache_hit",
    "request_io_size_bytes",
    "disk_io_size_bytes",
    "response_io_size_bytes",
    "start_time",
    "disk_time",
    "simulated_disk_start_time",
    "simulated_latency",
)
HEADER = ",".join(COLUMNS).encode()


def recognises(head: bytes) -> bool:
    """Return whether the file begins with this format's header."""
    return text.first_line(head) == HEADER


def read(file: BinaryIO) -> Iterator[Reading]:
    """Read the whole file."""
    return timed(text.read(file, COLUMNS, _requests, header=HEADER), 1)


def _requests(fields: text.Fields) -> Reading:
    sizes = fields.numbers("request_io_size_bytes", SIZE_MAX_BYTES)
    frame = pl.DataFrame(
        {
            "ticks": fields.seconds_ns("start_time"),
            "response_ns": fields.seconds_ns("simulated_latency"),
            "sectors": np.asarray(-(-sizes // SECTOR_BYTES)),
            "op": fields.ops("op_type", ("READ",), ("WRITE",)),
            "owner": fields.words("application"),
        }
    )
    return text.with_length(frame)
