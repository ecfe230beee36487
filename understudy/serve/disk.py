# SPDX-License-Identifier: MIT
"""The served disk: a profile at one size, in memory shared with the filter."""

from understudy.device.profile import DiskProfile
from understudy.native.drive import Drive
from understudy.native.simulation import Array
from understudy.native.timed_disk import TimedDisk
from understudy.serve.store import SECTOR


class ServedDisk:
    """The disk, with its whole queue in use.  `scale` is the papers' k."""

    def __init__(self, profile: DiskProfile, size: int, scale: float, seed: int) -> None:
        """`size` in bytes; `seed` for all draws."""
        self.profile, self.size, self.scale, self.seed = profile, size, scale, seed
        sectors = size // SECTOR
        self.timed = TimedDisk(self._device(sectors), sectors, round(1000 * scale), seed)

    @property
    def at_once(self) -> int:
        """The number of requests that it serves at once, or chooses among."""
        return self.profile.queue_depth or self.profile.servers

    def _device(self, sectors: int) -> Drive | Array:
        array = self.profile.array
        if array:
            return Array(array.servers, array.service_ns, array.distribution == "exponential")
        return Drive(self.profile.timing(sectors, self.at_once), self.seed)
