# SPDX-License-Identifier: MIT
"""What a lab's VMs are like."""

from dataclasses import asdict, dataclass
from typing import Any

MIB = 2**20
MEMORY_MIN, MEMORY_MAX = 32 * MIB, 1024 * 1024 * MIB


@dataclass(frozen=True)
class Settings:
    """memory_mib: the guest's memory.  quota_bytes: the largest size of a clone's file; None: it
    may have the size of the whole disk.  pin: whether a VM stays on processors that share a cache
    (pinning.py).  bandwidth_bytes: the most that a VM reads from its disk and writes to it in a
    second; None: no limit."""

    memory_mib: int = 512
    cpus: int = 1
    quota_bytes: int | None = None
    pin: bool = False
    bandwidth_bytes: int | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the settings as lab.json has them."""
        return asdict(self)
