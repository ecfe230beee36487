# SPDX-License-Identifier: MIT
"""The program of the Vesper assignments (SIGCSE 2006 section 3.1): threads make small reads.

By default the program has no page cache.  If it has a page cache, a page has the size of a sector,
since the disks of the assignments are small.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from understudy_devices.ask.workloads.page_cache import ThroughPageCache
from understudy_devices.ask.workloads.workload import (
    KIB,
    SECTOR_BYTES,
    HostCache,
    Simulated,
    Surroundings,
    Thinks,
    Workload,
    processes,
)
from understudy_devices.base.errors import UserError
from understudy_devices.base.progress import Report
from understudy_devices.native.simulation import Layout

FILE_BYTES = 10 * 1000
CACHE_PER_READ_AHEAD = 4


def layout(capacity_sectors: int, files: int) -> Layout:
    """Return files of 10 KB, evenly spread over the disk; ten such files nearly fill 128 KB."""
    length = -(-FILE_BYTES // SECTOR_BYTES)
    stride = capacity_sectors // files
    if stride < length:
        raise UserError(f"--virtual-size: {files} files of 10 KB do not fit")
    return Layout(
        bytes=np.full(files, FILE_BYTES, np.uint64),
        first=np.arange(files + 1, dtype=np.uint64),
        start=np.arange(files, dtype=np.uint64) * np.uint64(stride),
        length=np.full(files, length, np.uint64),
    )


@dataclass(frozen=True, kw_only=True)
class ConcurrentRead(ThroughPageCache, Thinks, Workload):
    """Each process is a thread with its own file."""

    name: ClassVar[str] = "concurrent-read"
    summary: ClassVar[str] = "threads read files of 10 KB, 10 bytes at a time (Vesper assignments)"
    order: ClassVar[int] = 5
    processes: int = processes(10)

    def check_fits(self, virtual_bytes: int) -> None:
        """Refuse a disk that is too small for all files."""
        layout(virtual_bytes // SECTOR_BYTES, self.processes)

    def cache(self, virtual_bytes: int) -> HostCache | None:
        """Return the page cache: of the given size, or large enough for the given read-ahead."""
        ahead = self.read_ahead_kib or 0
        size = self.page_cache_bytes or CACHE_PER_READ_AHEAD * ahead * KIB * self.processes
        return HostCache(size, ahead, SECTOR_BYTES) if size else None

    def simulated(self, around: Surroundings, report: Report) -> Simulated:
        """Return the parameters of sim/workloads/concurrent_read.c."""
        return Simulated(
            "concurrent-read",
            self.processes,
            {"think_ns": self.think_ns()},
            layout(around.virtual_bytes // SECTOR_BYTES, self.processes),
        )
