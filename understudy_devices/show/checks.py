# SPDX-License-Identifier: MIT
"""The checks of a profile as a table.

The columns are the target's time, the model's time, and whether their difference is within the
limits.
"""

from collections.abc import Sequence

from rich.console import Console

from understudy_devices.device.check import Check, standing
from understudy_devices.profiler.profile_fit import Fitted
from understudy_devices.show.grid import Grid

HEADINGS = ("target (ms)", "model (ms)", "off by (%)", "demerit (%)", "limits")


def show(profile: Fitted, console: Console) -> None:
    """Print how well the profile predicts, and which values were not seen."""
    grid(profile.checks).show(console)
    for sentence in sentences(profile):
        console.print(sentence, soft_wrap=True, markup=False, emoji=False)


def sentences(profile: Fitted) -> list[str]:
    """Return how many checks are within their limits, and which values were not seen."""
    lines = [standing(profile.checks)]
    for why in dict.fromkeys(each.confidence for each in profile.findings if each.value is None):
        keys = (each.key for each in profile.findings if each.confidence == why)
        lines.append(f"{', '.join(keys)}: {why}")
    return lines


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
