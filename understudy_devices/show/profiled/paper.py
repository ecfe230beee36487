# SPDX-License-Identifier: MIT
"""The common part of the papers' figures: axes in millions of sectors, and a line of text with
the profile's errors, as in Table 1 of SIGCSE 2006."""

from typing import Any

from understudy_devices.profiler.checks import SEEK, TRANSFER
from understudy_devices.profiler.profile_fit import Fitted

MILLION = 1e6
DOTS: dict[str, Any] = {"linestyle": "none", "marker": ".", "markersize": 4, "markeredgewidth": 0}


def title(fit: Fitted, name: str, of: str) -> str:
    """Return a title of two lines."""
    facts = f"{name}, {fit.requests:,} requests, seed {fit.seed}"
    errors = ", ".join(
        f"{check.workload} {check.difference_percent:+.1f} %"
        for check in fit.checks
        if check.workload in (SEEK, TRANSFER)
    )
    return f"{of}: {facts}\nthe model's error: {errors}"
