# SPDX-License-Identifier: MIT
"""Virtual devices that stand in for hardware you don't have."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from understudy.device.target import Target
    from understudy.profiler.profile_fit import Fitted

__version__ = "0.2.0"


def profile(
    target: "Target", seed: int = 1, *, destroy_data: bool = False, method: str = "full"
) -> "Fitted":
    """Measure a drive and fit a profile to it, which `to_toml()` prints.

    A target has `capacity_sectors`, `writable` and `request(op, sector, sectors, at_ns)`,
    which returns when the "read" or "write" that is sent at `at_ns` completes, in ns; requests
    come one at a time, none before the last one has completed.  It is written only with
    `destroy_data`.  `method` is "full", or one of a paper's (docs/profiler.md).
    """
    from understudy.profiler import profile_fit

    return profile_fit.profile(target, seed, destroy_data=destroy_data, method=method)
