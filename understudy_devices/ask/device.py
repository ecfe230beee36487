# SPDX-License-Identifier: MIT
"""The device of an experiment: the disk or array, its size, and its queue depth."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from understudy_devices.ask.parameters import Parameters, parameter
from understudy_devices.base import sizes
from understudy_devices.base.cache import digest
from understudy_devices.base.errors import UserError
from understudy_devices.device.profile import DiskProfile
from understudy_devices.device.timing import Timing

SMALLEST = 64 * 2**10
LARGEST = 16 * 2**40


@lru_cache(maxsize=32)
def _timing(disk: DiskProfile, capacity_sectors: int, at_once: int) -> Timing:
    """Return the disk's timing; cached, since computing it takes milliseconds in each run."""
    return disk.timing(capacity_sectors, at_once)


def _size(text: str) -> int:
    return sizes.parse("--virtual-size", text, SMALLEST, LARGEST)


@dataclass(frozen=True, kw_only=True)
class Device(Parameters):
    """The device.

    A `queue_depth` of None means 1 for a disk, and the number of servers for an array.
    """

    disk: DiskProfile
    virtual_bytes: int = parameter(
        1_499_463_680,
        option="--virtual-size",
        help="Size of the virtual disk, overriding its profile: 512M, 1.5GiB, 2929687s (sectors; "
        "papers: 73.4G). A size from 64M on is rounded down to a MiB, unless it is in sectors or "
        "bytes [default: 1.5G].",
        metavar="SIZE",
        unit="bytes",
        low=SMALLEST,
        high=LARGEST,
        parse=_size,
    )
    queue_depth: int | None = parameter(
        None,
        option="--queue-depth",
        help="Number of requests on the device at once, up to the depth of a disk's queue "
        "[default: 1; in the papers' tables, 2; on an array, its servers].",
        low=1,
        high=4096,
        column=None,
        told="{} on the device at once",
    )

    def __post_init__(self) -> None:
        """Refuse a queue depth that the disk does not support."""
        super().__post_init__()
        most = self.disk.queue_depth
        if most is None or self.at_once <= most:
            return
        over = f"--queue-depth: {self.at_once}: {self.disk.name}"
        if self.disk.queue:
            raise UserError(f"{over} takes up to {most} at a time")
        raise UserError(
            f"{over} has no [queue]: it takes one at a time; write depth = {self.at_once} into the "
            "[queue] of its profile, if the drive queues"
        )

    @property
    def at_once(self) -> int:
        """Return the largest number of requests on the device at once: `queue_depth` or its
        default."""
        return self.queue_depth or self.disk.servers

    def timing(self, capacity_sectors: int) -> Timing:
        """Return the disk's timing in the units of core/, for the size of the virtual disk."""
        return _timing(self.disk, capacity_sectors, self.at_once)

    def columns(self) -> dict[str, Any]:
        """Return the disk's name and the digest of its profile, as columns of a result."""
        content = digest([self.disk.model_dump_json().encode()])
        return {"disk": self.disk.name, "disk_digest": content, **super().columns()}
