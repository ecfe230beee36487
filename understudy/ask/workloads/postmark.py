# SPDX-License-Identifier: MIT
"""Postmark, a mail server's many small files, in VMs side by side (ICPE 2011 section 5.1).

Sizes are those of Table 2; reads and appends, and creations and deletions, are equally likely,
and one thread does them.  How many files there are the paper does not say: here they take half of
a VM's memory, as mail does that was just written, so that the device is asked by write-back and the
one thread goes on at the processor's pace.
"""

from dataclasses import dataclass
from typing import ClassVar

from understudy.ask.workloads.vms import Vms

FOREVER = 2_000_000_000  # transactions; the measurement ends before
FOLDERS = 10


@dataclass(frozen=True)
class Sizes:
    """Bytes: of files, of a read or write; and how many files."""

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
        """It asks for its settings."""
        return "exec postmark"

    def input(self, number: int, seed: int) -> str:
        """Settings, and then it runs."""
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
