# SPDX-License-Identifier: MIT
"""What FFSB does, played by fio, in VMs side by side (ICPE 2011 section 5.1).

A hundred threads read and write, equally often, 400 files in ten folders.
Table 2 has the size of a read or write.  Sizes of files are powers of two, half as many files of
each as of the one below, and the smallest is as large as a read.  Each thread has four files: one
file of a hundred threads would take each of them a descriptor and its memory.

FFSB has no think time.  On one emulated processor that would leave the pace to the kernel's slices
of time, which are others when more VMs run: a hundred busy threads take turns of 4 ms.  So each has
a rate, in Poisson's manner, which all of them together can keep.
"""

from dataclasses import dataclass
from typing import ClassVar

from understudy.ask.parameters import parameter
from understudy.ask.workloads.vms import MIB, Vms

KIB = 2**10
FOLDERS = 10
FILES_A_THREAD = 4
RATE = 10  # reads, and as many writes, a second of a thread
LARGEST_BYTES = 32 * MIB
BLOCK_KIB = {1: 4, 2: 32}  # by configuration
MODES = {"sequential": "rw", "random": "randrw"}


def file_sizes(smallest: int, count: int) -> list[int]:
    """Bytes of so many files, the small ones first: half of all have the smallest size, half of
    the rest the next one, and of the large ones there is one of each."""
    sizes, left, size = [], count, smallest
    while size <= LARGEST_BYTES:
        larger = (LARGEST_BYTES // size).bit_length() - 1
        share = max(1, min(left // 2, left - larger)) if larger else left
        sizes += [size] * share
        left -= share
        size *= 2
    return sizes


@dataclass(frozen=True, kw_only=True)
class Ffsb(Vms):
    """Debian's fio."""

    name: ClassVar[str] = "ffsb"
    summary: ClassVar[str] = (
        "VMs that share the device, 100 threads on 400 files in each (ICPE 2011)"
    )
    order: ClassVar[int] = 9
    package: ClassVar[str] = "fio"
    warm: ClassVar[str] = "Starting"
    memory_mib: ClassVar[int] = 128
    processor_share: ClassVar[float] = 0.3

    processes: int = 100
    access: str = parameter(
        "sequential",
        option="--access",
        help="sequential or random, in a file (ffsb) [default: sequential].",
        kind=str,
        choices=tuple(MODES),
        told="{}",
    )

    def files_at_first(self) -> tuple[tuple[str, int], ...]:
        """All of them, so that none is made while it measures."""
        count = self.processes * FILES_A_THREAD
        sizes = file_sizes(BLOCK_KIB[self.configuration] * KIB, count)
        return tuple((_path(index), size) for index, size in enumerate(sizes))

    def command(self, number: int) -> str:
        """Its job is a file."""
        return f"exec fio /vms/{number}/input"

    def input(self, number: int, seed: int) -> str:
        """What all threads have in common, and the files of each."""
        block = f"{BLOCK_KIB[self.configuration]}k"
        common = (
            "[global]\n"
            f"rw={MODES[self.access]}\nrwmixread=50\nbs={block}\n"
            f"randseed={seed}\ndirectory=/vm{number}\n"
            "ioengine=psync\nthread\ntime_based\nruntime=1d\nnorandommap\n"
            f"rate_iops={RATE},{RATE}\nrate_process=poisson\n"
            "file_service_type=random:8\n"
            "fallocate=none\nfadvise_hint=0\ninvalidate=0\nallow_file_create=0\n"
            "zero_buffers\ngtod_reduce=1\ndisk_util=0\nclocksource=clock_gettime\n"
        )
        count = self.processes * FILES_A_THREAD
        threads = [
            f"[t{thread}]\nfilename="
            + ":".join(_path(index) for index in range(thread, count, self.processes))
            + "\n"
            for thread in range(self.processes)
        ]
        return common + "".join(threads)


def _path(index: int) -> str:
    return f"d{index % FOLDERS}/f{index:03d}"
