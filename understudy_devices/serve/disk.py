# SPDX-License-Identifier: MIT
"""The served disk: a profile at one size, in memory that is shared with nbdkit's filter."""

from understudy_devices.device.profile import DiskProfile
from understudy_devices.native.drive import Drive
from understudy_devices.native.simulation import Array
from understudy_devices.native.timed_disk import TimedDisk
from understudy_devices.serve.store import SECTOR


class ServedDisk:
    """The disk, with all entries of its queue in use.  `scale` is the papers' k."""

    def __init__(self, profile: DiskProfile, size: int, scale: float, seed: int) -> None:
        """Set up the disk; `size` is in bytes, and `seed` determines all random numbers."""
        self.profile, self.size, self.scale, self.seed = profile, size, scale, seed
        sectors = size // SECTOR
        self.timed = TimedDisk(self._device(sectors), sectors, round(1000 * scale), seed)

    @property
    def at_once(self) -> int:
        """Return the queue depth of the disk or, for an array, its number of servers."""
        return self.profile.queue_depth or self.profile.servers

    def _device(self, sectors: int) -> Drive | Array:
        array = self.profile.array
        if array:
            return Array(array.servers, array.service_ns, array.distribution == "exponential")
        return Drive(self.profile.timing(sectors, self.at_once), self.seed)
