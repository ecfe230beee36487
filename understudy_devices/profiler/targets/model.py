# SPDX-License-Identifier: MIT
"""The project's model of a drive as a target, on a simulated clock."""

from understudy_devices.device.profile import DiskProfile
from understudy_devices.native.drive import Drive
from understudy_devices.native.request import OPS

CODES = {name: code for code, name in enumerate(OPS)}


class ModelTarget:
    """A target that serves requests by a Drive, one at a time."""

    def __init__(self, drive: Drive, capacity_sectors: int, *, writable: bool = True) -> None:
        """Begin at time 0 on the drive's clock."""
        self._drive = drive
        self.capacity_sectors = capacity_sectors
        self.writable = writable
        self._free_ns = 0

    @classmethod
    def of(cls, disk: DiskProfile, capacity_sectors: int, seed: int = 0) -> "ModelTarget":
        """Return a target for the drive that a profile describes, with that capacity."""
        return cls(Drive(disk.timing(capacity_sectors), seed), capacity_sectors)

    def request(self, op: str, sector: int, sectors: int, at_ns: int) -> int:
        """Return when the request completes."""
        idle_ns = at_ns - self._free_ns
        self._free_ns = at_ns + self._drive.serve_one(CODES[op], sector, sectors, idle_ns)
        return self._free_ns
