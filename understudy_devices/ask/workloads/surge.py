# SPDX-License-Identifier: MIT
"""SURGE, a web file server (PERFORM 2010 section 5): the workloads of the papers' Tables 2 and 3.

In both workloads 50 ON/OFF processes read whole files of the same file system; only surge-direct
uses O_DIRECT.  The papers' page cache for surge-buffered was 65 MB on a disk of 73.4 GB.  Here
the size of the page cache is in proportion to the disk, but at least as large as the read-ahead
of all processes together.
"""

from dataclasses import dataclass
from functools import cache
from typing import ClassVar

import numpy as np

from understudy_devices.ask.workloads.page_cache import ThroughPageCache
from understudy_devices.ask.workloads.workload import (
    KIB,
    SECTOR_BYTES,
    HostCache,
    InGuest,
    Simulated,
    Surroundings,
    Workload,
    processes,
)
from understudy_devices.base.progress import Report, silent
from understudy_devices.files import image
from understudy_devices.native.simulation import Layout

PROCESSES = 50
PAPER_CACHE_BYTES = 65_000_000
CACHE_BYTES_PER_PROCESS = 512 * KIB
LINUX_READ_AHEAD_KIB = 128
SECTORS_PER_BLOCK = image.BLOCK_BYTES // SECTOR_BYTES
# The measurement must read data, not inodes.  Up to this many files, all inodes and extents are
# read into memory before the run, and stay there.  With more files, each process first looks up
# the files that it will read.
KEPT_FILES_MAX = 40_000
LOOKED_UP_AHEAD = 4  # files looked up, per file that a process will read


def layout(virtual_bytes: int, report: Report) -> Layout:
    """Return the layout of the files in the VM's file system, in sectors."""
    image.build(virtual_bytes, report)
    return _layout(virtual_bytes)


@cache
def _layout(virtual_bytes: int) -> Layout:
    extents = image.build(virtual_bytes, silent).layout
    return Layout(
        bytes=extents.size.astype(np.uint64),
        first=extents.first.astype(np.uint64),
        start=(extents.start * SECTORS_PER_BLOCK).astype(np.uint64),
        length=(extents.length * SECTORS_PER_BLOCK).astype(np.uint64),
    )


@dataclass(frozen=True, kw_only=True)
class Surge(Workload):
    """The common base class of both workloads."""

    reads_files: ClassVar[bool] = True

    processes: int = processes(PROCESSES)

    def simulated(self, around: Surroundings, report: Report) -> Simulated:
        """Return the parameters of sim/workloads/surge.c."""
        return Simulated(
            "surge",
            self.processes,
            {"think_scale_milli": round(1000 * around.think_scale)},
            layout(around.virtual_bytes, report),
        )

    def guest_command(self, around: Surroundings) -> list[str]:
        """Return the common part of the command of guest/surge.c."""
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
        """Return the command of guest/surge.c with O_DIRECT."""
        return InGuest([*self.guest_command(around), "--direct"])


@dataclass(frozen=True, kw_only=True)
class SurgeBuffered(ThroughPageCache, Surge):
    """SURGE through a page cache of limited size, which answers most reads."""

    name: ClassVar[str] = "surge-buffered"
    on_real: ClassVar[bool] = True
    summary: ClassVar[str] = "the same through a bounded page cache (the papers' Table 3)"
    order: ClassVar[int] = 4

    def cache(self, virtual_bytes: int) -> HostCache:
        """Return a page cache of the given size, or of a size in proportion to the papers'."""
        share = PAPER_CACHE_BYTES * virtual_bytes // image.PAPER_DISK_BYTES
        own = max(share, CACHE_BYTES_PER_PROCESS * self.processes)
        ahead = LINUX_READ_AHEAD_KIB if self.read_ahead_kib is None else self.read_ahead_kib
        return HostCache(self.page_cache_bytes or own, ahead)

    def in_guest(self, around: Surroundings) -> InGuest:
        """Return the command of guest/surge.c, to run in a control group with limited memory."""
        command = [*self.guest_command(around), "--cgroup", around.group]
        return InGuest(command, reads_a_request=20)
