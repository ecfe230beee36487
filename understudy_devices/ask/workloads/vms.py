# SPDX-License-Identifier: MIT
"""VMs that share a storage device (ICPE 2011 section 5.1), modelled as control groups of a kernel.

A VM is a control group with limited memory, which also limits its page cache.  Each VM has its
own partition of the device, with its own file system.  The device always has three partitions,
whichever VMs run.  So a VM accesses the same sectors whether it runs alone or with others.  Each
VM runs a benchmark from a Debian package.

The guest has a single processor, while a real host would have a processor for each VM.  So each VM
gets a fixed share of the processor, even when it runs alone.  The shares of three VMs leave some
processor time to the kernel, which writes back the VMs' data.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from understudy_devices.ask.parameters import parameter
from understudy_devices.ask.workloads.workload import InGuest, Surroundings, Workload
from understudy_devices.base.errors import UserError
from understudy_devices.files.partitions import Partitioning, places

MIB = 2**20
VMS = 3  # ICPE 2011 section 5.3
ROOM_MIB = 192  # least size of a partition: the largest set of files, a journal, and new files
SECTOR_BYTES = 512
PROCESSOR_PERIOD_US = 10_000
SETTLING_SECONDS = 3  # after which the VMs have done the work that was delayed at the start
WARM_SECONDS = 2  # each VM first runs this long on an infinitely fast disk, to fill its page cache


@dataclass(frozen=True, kw_only=True)
class Vms(Workload):
    """The common base class of these workloads; `vms` lists which of the three VMs run."""

    configuration: int = parameter(
        1,
        option="--configuration",
        help="Column of Table 2 in ICPE 2011 (postmark, ffsb) [default: 1].",
        low=1,
        high=2,
        told="configuration {}",
    )
    vms: tuple[int, ...] = parameter(
        (1,),
        option="--vms",
        help="Which of the three VMs run (postmark, ffsb) [default: 1].",
        metavar="1,2,3",
        kind=str,
        parse=lambda text: _numbers(text),
        low=1,
        high=VMS,
        told="VMs {}",
    )

    package: ClassVar[str] = ""
    warm: ClassVar[str] = ""  # what the program prints when its files exist
    memory_mib: ClassVar[int] = 0  # memory of each VM, including its page cache
    processor_share: ClassVar[float] = 0.0  # of the guest's one processor, for each VM
    processes: int = 1

    def __post_init__(self) -> None:
        """Refuse an empty list of VMs, and a VM that is named twice."""
        super().__post_init__()
        if not self.vms or len(set(self.vms)) != len(self.vms):
            raise UserError(f"--vms: {','.join(map(str, self.vms))}: name each VM once, as in 1,2")

    @property
    def sharers(self) -> int:
        """Return the number of VMs that run."""
        return len(self.vms)

    @property
    def shared_among(self) -> str:
        """Return the number of VMs in words, for messages."""
        return f"{len(self.vms)} VMs"

    def check_fits(self, virtual_bytes: int) -> None:
        """Refuse partitions that are too small for the files."""
        _, sectors = places(virtual_bytes, VMS)[0]
        if sectors * SECTOR_BYTES < ROOM_MIB * MIB:
            raise UserError(
                f"--virtual-size: {virtual_bytes} bytes: each of {VMS} VMs needs {ROOM_MIB} MiB; "
                f"take {VMS * ROOM_MIB + 1}MiB"
            )

    def partitioned(self, virtual_bytes: int) -> Partitioning:
        """Return a partition for each VM, even for those that do not run."""
        return Partitioning(VMS, self.files_at_first())

    def files_at_first(self) -> tuple[tuple[str, int], ...]:
        """Return the files that each VM's partition contains at the start."""
        return ()

    def in_guest(self, around: Surroundings) -> InGuest:
        """Return the command of guest/vms."""
        quota_us = round(self.processor_share * PROCESSOR_PERIOD_US)
        files = {"vms/warm": f"{self.warm}\n"}
        for number in self.vms:
            draws = np.random.SeedSequence([around.seed, number]).generate_state(1)
            files[f"vms/{number}/program"] = self.command(number)
            files[f"vms/{number}/input"] = self.input(number, int(draws[0] >> 1))
        return InGuest(
            [
                *[
                    "vms",
                    str(self.memory_mib * MIB),
                    str(quota_us),
                    str(PROCESSOR_PERIOD_US),
                    str(WARM_SECONDS),
                ],
                *map(str, self.vms),
            ],
            reads_a_request=0,
            packages=(self.package,),
            files=files,
            memory_bytes=VMS * (self.memory_mib + ROOM_MIB) * MIB,
            settling_seconds=SETTLING_SECONDS,
        )

    def command(self, number: int) -> str:
        """Return the shell command of a VM's program; its standard input is `input`."""
        raise NotImplementedError

    def input(self, number: int, seed: int) -> str:
        """Return the program's standard input; the seed has 31 bits."""
        raise NotImplementedError

    def columns(self) -> dict[str, Any]:
        """Return the VMs that run, as a column of a result."""
        return {**super().columns(), "vms": ",".join(map(str, self.vms))}


def _numbers(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(word) for word in text.split(","))
    except ValueError:
        raise UserError(f"--vms: {text} is not of the form 1,2") from None
