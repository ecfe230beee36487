# SPDX-License-Identifier: MIT
"""FFSB's requests, issued by fio, in several VMs at the same time (ICPE 2011 section 5.1).

A hundred threads read and write 400 files in ten folders; half of the operations are reads.
Table 2 of the paper lists the sizes of a read or write.  File sizes are powers of two; the smallest
file has the size of a read, and half as many files have each next larger size.  Each
thread has four private files, since a file shared by all threads would need a descriptor and
memory in each thread.

FFSB has no think time.  A hundred threads without think time would share the one emulated
processor in time slices of 4 ms.  The time slices would then determine the rate of requests,
which would change with the number of VMs.  Here each thread issues requests at a fixed mean rate
(Poisson arrivals), which is low enough for the processor to serve all threads.
"""

from dataclasses import dataclass
from typing import ClassVar

from understudy_devices.ask.parameters import parameter
from understudy_devices.ask.workloads.vms import MIB, Vms

KIB = 2**10
FOLDERS = 10
FILES_A_THREAD = 4
RATE = 10  # reads per second by each thread; it also makes as many writes
LARGEST_BYTES = 32 * MIB
BLOCK_KIB = {1: 4, 2: 32}  # the size of a read or write, by the number of the configuration
MODES = {"sequential": "rw", "random": "randrw"}


def file_sizes(smallest: int, count: int) -> list[int]:
    """Return the sizes of `count` files in bytes, in ascending order.

    Half of the files have the smallest size, half of the remaining files have the next size, and so
    on; each of the largest sizes has one file.
    """
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
        """Return all files, so that no file is created during the measurement."""
        count = self.processes * FILES_A_THREAD
        sizes = file_sizes(BLOCK_KIB[self.configuration] * KIB, count)
        return tuple((_path(index), size) for index, size in enumerate(sizes))

    def command(self, number: int) -> str:
        """Return the command that runs fio with a job file."""
        return f"exec fio /vms/{number}/input"

    def input(self, number: int, seed: int) -> str:
        """Return the job file: common options, then a job for each thread with its files."""
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
