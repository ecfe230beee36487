# SPDX-License-Identifier: MIT
"""The device of an experiment: which disk or array, at which size, how many requests at once."""

from dataclasses import dataclass
from typing import Any

from understudy.ask.parameters import Parameters, parameter
from understudy.base import sizes
from understudy.base.cache import digest
from understudy.device.profile import DiskProfile

SMALLEST = 64 * 2**10
LARGEST = 16 * 2**40


def _size(text: str) -> int:
    return sizes.parse("--virtual-size", text, SMALLEST, LARGEST)


@dataclass(frozen=True, kw_only=True)
class Device(Parameters):
    """`depth` None: one request at a time on a disk, as many as it has servers on an array."""

    disk: DiskProfile
    virtual_bytes: int = parameter(
        1_499_463_680,
        option="--virtual-size",
        help="Size of the virtual disk, whatever its profile says: 512M, 1.5GiB, 2929687s "
        "(sectors; papers: 73.4G) [default: 1.5G].",
        metavar="SIZE",
        unit="bytes",
        low=SMALLEST,
        high=LARGEST,
        parse=_size,
    )
    depth: int | None = parameter(
        None,
        option="--depth",
        help="Requests on the device at once (sim) [default: 1; of an array, its servers].",
        low=1,
        high=4096,
        platforms=("sim",),
        column=None,
    )

    @property
    def at_once(self) -> int:
        """Requests on a simulated device at once: `depth`, or as many as it serves."""
        return self.depth or self.disk.servers

    def columns(self) -> dict[str, Any]:
        """The disk by its name and its content's."""
        content = digest([self.disk.model_dump_json().encode()])
        return {"disk": self.disk.name, "disk_digest": content, **super().columns()}
