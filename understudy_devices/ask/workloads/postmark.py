# SPDX-License-Identifier: MIT
"""Postmark, a mail server's many small files, in several VMs at the same time (ICPE 2011 section
5.1).

Sizes are those of Table 2.  One thread reads or appends with equal probability, and creates or
deletes with equal probability.  The number of files is not in the paper.  Here the files fill
half of a VM's memory, and stay in the page cache.  So the kernel's write-back issues
the requests to the device, and the thread does not wait for the device.
"""

from dataclasses import dataclass
from typing import ClassVar

from understudy_devices.ask.workloads.vms import Vms

FOREVER = 2_000_000_000  # transactions; the measurement ends earlier
FOLDERS = 10


@dataclass(frozen=True)
class Sizes:
    """Sizes of files and of a read or write, in bytes; and the number of files."""

    low: int
    high: int
    block: int
    files: int


CONFIGURATIONS = {1: Sizes(500, 9_770, 512, 2000), 2: Sizes(9_770, 19_530, 2048, 1000)}


@dataclass(frozen=True, kw_only=True)
class Postmark(Vms):
    """Debian's postmark."""

    name: ClassVar[str] = "postmark"
    summary: ClassVar[str] = "VMs that share the device, a mail server's files in each (ICPE 2011)"
    order: ClassVar[int] = 8
    package: ClassVar[str] = "postmark"
    warm: ClassVar[str] = "Performing transactions"
    memory_mib: ClassVar[int] = 32
    processor_share: ClassVar[float] = 0.2

    def command(self, number: int) -> str:
        """Return the command of postmark, which reads its settings from standard input."""
        return "exec postmark"

    def input(self, number: int, seed: int) -> str:
        """Return the settings, followed by postmark's own command to run."""
        sizes = CONFIGURATIONS[self.configuration]
        return (
            f"set location /vm{number}\n"
            f"set size {sizes.low} {sizes.high}\n"
            f"set read {sizes.block}\n"
            f"set write {sizes.block}\n"
            f"set number {sizes.files}\n"
            f"set subdirectories {FOLDERS}\n"
            f"set transactions {FOREVER}\n"
            f"set seed {seed}\n"
            "run\nquit\n"
        )
