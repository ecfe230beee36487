# SPDX-License-Identifier: MIT
"""A throttled disk in a VM as a target of the profiler, in the guest's virtual time.

A program in the guest (guest/serve.c) performs one request after another on the virtual disk, with
direct I/O and without a scheduler. The program reports when each request was sent and when it
completed, by the guest's clock. Before that, the program does the same on a disk with a constant
service time. The times on that disk show how long the kernel and the program itself need for a
request; this time is then subtracted.
"""

import os
import struct
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from understudy_devices.base.errors import UserError
from understudy_devices.base.paths import ROOT
from understudy_devices.base.programs import compiled_for_guest
from understudy_devices.device.profile import DiskProfile
from understudy_devices.device.timing import Timing
from understudy_devices.platforms import guest_programs
from understudy_devices.platforms.vm import machine, qemu, scenario
from understudy_devices.platforms.vm.controllers import CONTROLLERS
from understudy_devices.platforms.vm.conversation import Conversation
from understudy_devices.platforms.vm.stages import Stage

REQUEST = struct.Struct("<4Q")  # op, sector, sectors, at_ns
ANSWER = struct.Struct("<3Q")  # sent_ns, completion_ns, errno
OPS = {"read": 0, "write": 1, "write through": 2, "flush": 3}
END = 4
LEAD_NS = 5_000  # time for the guest to wake up
LONGEST_SECTORS = 2560  # in one request of the block layer
LENGTHS = (1, 8, 64, 256, 1024, LONGEST_SECTORS)
TRIES = 5
CONSTANT_NS = 1_000_000  # longer than the virtual disk itself takes
PAGE_BYTES = 4096
SECONDS = 3600
MEMORY_MIB = 1024
DISK = CONTROLLERS["vdisk"]


@dataclass(frozen=True)
class Software:
    """The time that the kernel and the program need for a request: for each operation, ns for each
    of LENGTHS.
    """

    costs_ns: Mapping[str, Sequence[float]]

    def ns(self, op: str, sectors: int) -> int:
        """Return the software's time for one request, ns; 0 if it was not measured."""
        return round(np.interp(sectors, LENGTHS, self.costs_ns.get(op, NOTHING)))


NOTHING = [0.0] * len(LENGTHS)
NONE = Software({})


class VmTarget:
    """The disk as a target, from the moment when the guest asks for the first request."""

    writable = True
    longest_sectors = LONGEST_SECTORS

    def __init__(
        self, conversation: Conversation, capacity_sectors: int, software: Software = NONE
    ) -> None:
        """Make a disk of that size; the software's time is subtracted from each request."""
        self._conversation = conversation
        self.software = software
        self.capacity_sectors = capacity_sectors
        _, self._clock_ns, _ = conversation.asked(ANSWER)
        self.sent_ns = self._clock_ns

    def request(self, op: str, sector: int, sectors: int, at_ns: int) -> int:
        """Perform a request; return its completion time, ns. `op` is a key of OPS."""
        at_ns = max(at_ns, self._clock_ns + LEAD_NS)
        self._conversation.answer(REQUEST, OPS[op], sector, sectors, at_ns)
        self.sent_ns, completion_ns, error = self._conversation.asked(ANSWER)
        if error:
            raise OSError(error, os.strerror(error))
        self._clock_ns = completion_ns
        return max(self.sent_ns, completion_ns - self.software.ns(op, sectors))

    @property
    def out(self) -> Mapping[str, bytes]:
        """Return the files that the guest left when it ended."""
        return self._conversation.out

    def end(self) -> None:
        """Tell the guest that there are no further requests for this disk."""
        self._conversation.answer(REQUEST, END, 0, 0, 0)


def _software(target: VmTarget) -> Software:
    """Measure the software's time on a disk with a constant service time."""
    costs = {op: [_cost_ns(target, op, sectors) for sectors in LENGTHS] for op in ("read", "write")}
    return Software(costs)


def _cost_ns(target: VmTarget, op: str, sectors: int) -> float:
    times = []
    for _ in range(TRIES):
        completion_ns = target.request(op, 0, sectors, target.sent_ns + 2 * CONSTANT_NS)
        times.append(completion_ns - target.sent_ns)
    return float(np.median(times)) - CONSTANT_NS


@contextmanager
def in_vm(disk: DiskProfile, virtual_bytes: int, seed: int = 1) -> Iterator[VmTarget]:
    """Run a disk of that size in a separate VM, which ends with the `with` block; the seed
    determines the disk's random latencies.
    """
    if disk.array:
        raise UserError(f"{disk.name}: an array has no profile to find; take a disk")
    if virtual_bytes % PAGE_BYTES:
        raise UserError(f"{virtual_bytes} bytes: not a multiple of {PAGE_BYTES}")
    capacity_sectors = DISK.capacity_sectors(virtual_bytes)
    vm = _describe(disk.timing(capacity_sectors), virtual_bytes, seed)
    with machine.talk(vm) as conversation:
        constant = VmTarget(conversation, capacity_sectors)
        software = _software(constant)
        constant.end()
        target = VmTarget(conversation, capacity_sectors, software)
        yield target
        target.end()


def _describe(timing: Timing, virtual_bytes: int, seed: int) -> machine.Vm:
    end = timing.capacity_sectors
    constant = Timing(end, intercept_ns=CONSTANT_NS, seek=((0, 0), (end, 0)))
    return machine.Vm(
        scenario=f"DISK={DISK.disk}\n"
        + scenario.write_cache(timing, DISK)
        + scenario.profile(constant, 0, "constant")
        + scenario.profile(timing, seed)
        + (ROOT / "guest" / "attended").read_text(),
        files={"bin/serve": compiled_for_guest(guest_programs.program("serve"))},
        ahead=Stage(
            modules={
                **dict.fromkeys(scenario.CORE_MODULES, ""),
                **DISK.module_parameters(virtual_bytes),
            }
        ),
        machine=qemu.Machine(memory_mib=MEMORY_MIB),
        timeout_seconds=SECONDS,
    )
