# SPDX-License-Identifier: MIT
"""SURGE, a web file server (PERFORM 2010 section 5): the workloads of the papers' Tables 2 and 3.

Both read the same files, whole, in 50 ON/OFF processes, and differ only in O_DIRECT.  With
surge-buffered the papers' page cache was 65 MB on a disk of 73.4 GB.  Here the page cache is in
proportion to the disk, but has room for every process's read-ahead.
"""

from dataclasses import dataclass
from functools import cache
from typing import ClassVar

import numpy as np

from understudy.ask.workloads.page_cache import ThroughPageCache
from understudy.ask.workloads.workload import (
    KIB,
    SECTOR_BYTES,
    HostCache,
    InGuest,
    Simulated,
    Surroundings,
    Workload,
    processes,
)
from understudy.base.progress import Report, silent
from understudy.files import image
from understudy.native.simulation import Layout

PROCESSES = 50
PAPER_CACHE_BYTES = 65_000_000
CACHE_BYTES_PER_PROCESS = 512 * KIB
LINUX_READ_AHEAD_KIB = 128
SECTORS_PER_BLOCK = image.BLOCK_BYTES // SECTOR_BYTES
# The measurement reads data, not inodes.  The inodes and extents of this many files stay in
# memory from before the run; with more files, each process first looks up those it will read.
KEPT_FILES_MAX = 40_000
LOOKED_UP_AHEAD = 4  # times the number of files that a process will read


def layout(virtual_bytes: int, report: Report) -> Layout:
    """The files of the VM's file system, in sectors."""
    image.build(virtual_bytes, report)
    return _layout(virtual_bytes)


@cache
def _layout(virtual_bytes: int) -> Layout:
    found = image.build(virtual_bytes, silent).layout
    return Layout(
        bytes=found.size.astype(np.uint64),
        first=found.first.astype(np.uint64),
        start=(found.start * SECTORS_PER_BLOCK).astype(np.uint64),
        length=(found.length * SECTORS_PER_BLOCK).astype(np.uint64),
    )


@dataclass(frozen=True, kw_only=True)
class Surge(Workload):
    """The common part of both workloads."""

    reads_files: ClassVar[bool] = True

    processes: int = processes(PROCESSES)

    def simulated(self, around: Surroundings, report: Report) -> Simulated:
        """sim/workloads/surge.c."""
        return Simulated(
            "surge",
            self.processes,
            {"think_scale_milli": round(1000 * around.think_scale)},
            layout(around.virtual_bytes, report),
        )

    def guest_command(self, around: Surroundings) -> list[str]:
        """guest/surge.c."""
        files = image.file_count(around.virtual_bytes)
        ahead = LOOKED_UP_AHEAD * -(-around.requests // self.processes) + 64
        rehearsal = ["--rehearse", str(ahead)] if files > KEPT_FILES_MAX else []
        return [
            *["surge", "--dir", around.folder, "--files", str(files)],
            *["--think-scale-milli", str(round(1000 * around.think_scale))],
            *rehearsal,
        ]


@dataclass(frozen=True, kw_only=True)
class SurgeDirect(Surge):
    """SURGE with O_DIRECT, bypassing the page cache."""

    name: ClassVar[str] = "surge-direct"
    summary: ClassVar[str] = "web file server, 50 ON/OFF processes, O_DIRECT (the papers' Table 2)"
    order: ClassVar[int] = 3
    on_real: ClassVar[bool] = True

    def in_guest(self, around: Surroundings) -> InGuest:
        """guest/surge.c with O_DIRECT."""
        return InGuest([*self.guest_command(around), "--direct"])


@dataclass(frozen=True, kw_only=True)
class SurgeBuffered(ThroughPageCache, Surge):
    """SURGE through a bounded page cache, which answers most reads."""

    name: ClassVar[str] = "surge-buffered"
    on_real: ClassVar[bool] = True
    summary: ClassVar[str] = "the same through a bounded page cache (the papers' Table 3)"
    order: ClassVar[int] = 4

    def cache(self, virtual_bytes: int) -> HostCache:
        """A page cache of the given size, or in proportion to the papers'."""
        share = PAPER_CACHE_BYTES * virtual_bytes // image.PAPER_DISK_BYTES
        own = max(share, CACHE_BYTES_PER_PROCESS * self.processes)
        ahead = LINUX_READ_AHEAD_KIB if self.read_ahead_kib is None else self.read_ahead_kib
        return HostCache(self.page_cache_bytes or own, ahead)

    def in_guest(self, around: Surroundings) -> InGuest:
        """guest/surge.c in a control group with limited memory."""
        command = [*self.guest_command(around), "--cgroup", around.group]
        return InGuest(command, reads_a_request=20)
