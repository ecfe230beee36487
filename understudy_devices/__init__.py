# SPDX-License-Identifier: MIT
"""Virtual devices that stand in for hardware you don't have."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from understudy_devices.device.target import Target
    from understudy_devices.profiler.profile_fit import Fitted

__version__ = "0.2.0"


def profile(
    target: "Target", seed: int = 1, *, destroy_data: bool = False, method: str = "full"
) -> "Fitted":
    """Measure a drive and fit a profile to it, which `to_toml()` prints.

    `target` needs `capacity_sectors`, `writable` and `request(op, sector, sectors, at_ns)`.
    `request` sends a "read" or "write" at the time `at_ns` and returns the time of its
    completion, in ns.  Each request is sent after the previous request has completed.  The drive
    is written only if `destroy_data` is true.  `method` is "full", or the name of a paper's
    method (docs/profiler.md).
    """
    from understudy_devices.profiler import profile_fit

    return profile_fit.profile(target, seed, destroy_data=destroy_data, method=method)
