# SPDX-License-Identifier: MIT
"""The disk that `understudy serve-disk` serves: its model, and how late its completions were.

nbdkit's filter maps the same memory (host/serve/timed_disk.h).
"""

import os
from dataclasses import dataclass

from understudy_devices._core import ffi, lib
from understudy_devices.native.drive import Drive
from understudy_devices.native.shared_memory import Shared
from understudy_devices.native.simulation import Array

PLACE = "device.drive"
ENOUGH_NS: int = lib.TIMED_ENOUGH_NS


@dataclass(frozen=True)
class Lateness:
    """Lateness of completions: the time of the reply minus the due time, ns.

    `timed` counts the requests with a service of ENOUGH_NS or more: `service_ns` is the mean of
    their service times, multiplied by k, and `service_late_ns` is their mean lateness. `late`
    counts the requests whose data arrived only after they were due. Percentiles are too low by at
    most 1/256.
    """

    requests: int
    late: int
    mean_ns: float
    p50_ns: int
    p99_ns: int
    max_ns: int
    timed: int
    service_ns: float
    service_late_ns: float


class TimedDisk(Shared):
    """A struct timed_disk, and everything that its drive points to."""

    def __init__(
        self, device: Drive | Array, capacity_sectors: int, scale_milli: int, seed: int
    ) -> None:
        """Make the disk; `seed` is for an array's random times; a drive has its own seed."""
        placed = device.placed(PLACE) if isinstance(device, Drive) else {}
        super().__init__("struct timed_disk", placed)
        self.structure.bytes = ffi.sizeof("struct timed_disk")
        if isinstance(device, Drive):
            device.copy_to(self, PLACE)
        else:
            array = self.structure.device.array
            array.servers, array.mean_service_ns = device.servers, device.mean_service_ns
            array.exponential = device.exponential
        self.structure.device.array_seed = seed
        self.structure.device.scale_milli = scale_milli
        self.structure.capacity_sectors = capacity_sectors

    @property
    def path(self) -> str:
        """Return a path by which other processes of this user can open the memory."""
        return f"/proc/{os.getpid()}/fd/{self.file}"

    @property
    def serves(self) -> bool:
        """Return whether the filter accepts connections."""
        return bool(self.structure.serves)

    @property
    def record_error(self) -> int:
        """Return the errno of a record that could not be written, or 0."""
        return int(self.structure.record_error)

    def lateness(self) -> Lateness:
        """Return the lateness; call this only after the server has ended. The server may have been
        killed during an update of the histogram, so the histogram's cells are added up again.
        """
        lateness = self.structure.lateness
        histogram = ffi.addressof(lateness, "distribution")
        histogram.count = sum(histogram.cell)
        return Lateness(
            requests=histogram.count,
            late=lateness.late,
            mean_ns=lib.moments_mean(ffi.addressof(lateness, "all")),
            p50_ns=lib.histogram_permille(histogram, 500),
            p99_ns=lib.histogram_permille(histogram, 990),
            max_ns=histogram.max,
            timed=lateness.service.count,
            service_ns=lib.moments_mean(ffi.addressof(lateness, "service")),
            service_late_ns=lib.moments_mean(ffi.addressof(lateness, "service_late")),
        )
