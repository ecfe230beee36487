# SPDX-License-Identifier: MIT
"""All black boxes by name. Each entry creates a different box for each seed."""

from collections.abc import Callable
from typing import Protocol

from oracle.adaptive import random_adaptive
from oracle.hybrid import random_hybrid
from oracle.idle_writes import random_idle_writes
from oracle.remapping import random_remapping
from oracle.scanning import random_scanning
from oracle.smr import random_smr
from oracle.ssd import random_ssd
from oracle.varying import random_varying
from understudy_devices.device.target import Target


class Box(Target, Protocol):
    """A target that can be reset."""

    def reset(self) -> None:
        """Reset to the initial state, at time 0."""


BOXES: dict[str, Callable[[int], Box]] = {
    "adaptive": random_adaptive,
    "hybrid": random_hybrid,
    "idle_writes": random_idle_writes,
    "remapping": random_remapping,
    "scanning": random_scanning,
    "smr": random_smr,
    "ssd": random_ssd,
    "varying": random_varying,
}
