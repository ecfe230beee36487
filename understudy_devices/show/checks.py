# SPDX-License-Identifier: MIT
"""The checks of a profile as a table.

The columns are the target's time, the model's time, and whether their difference is within the
limits.
"""

from collections.abc import Sequence

from understudy_devices.device.check import Check
from understudy_devices.show.grid import Grid

HEADINGS = ("target (ms)", "model (ms)", "off by (%)", "demerit (%)", "limits")


def grid(checks: Sequence[Check]) -> Grid:
    """Return a row for each check."""
    return Grid(
        HEADINGS, [[(check.workload, _cells(check)) for check in checks]], words=("limits",)
    )


def _cells(check: Check) -> list[str]:
    return [
        f"{check.target_ms:.3f}",
        f"{check.model_ms:.3f}",
        f"{check.difference_percent:+.1f}",
        f"{check.demerit_percent:.1f}",
        "within" if check.within else "off",
    ]
