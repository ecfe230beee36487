# SPDX-License-Identifier: MIT
"""The rows of a table of the reads and the writes of VMs; times in ms."""

from collections.abc import Mapping

from understudy_devices.consolidation.directions import Times
from understudy_devices.show.grid import Block

DIRECTIONS = ("requests", "alone\n(ms)", "p95\n(ms)", "together\n(ms)", "p95\n(ms)")


def direction_rows(name: str, alone: Mapping[str, Times], beside: Mapping[str, Times]) -> Block:
    """Return a row for each direction of a VM, with a cell for each heading in DIRECTIONS; none if
    the VM has only one direction."""
    if len(alone) < 2:
        return []
    return [
        (
            f"{name}, {direction}",
            (
                f"{times.requests:,}",
                *pair(times),
                *(pair(beside[direction]) if direction in beside else ("-", "-")),
            ),
        )
        for direction, times in alone.items()
    ]


def pair(times: Times) -> tuple[str, str]:
    """Return the mean and the 95th percentile as cells."""
    return ms(times.mean_ms), ms(times.percentiles_ms[95])


def ms(time: float) -> str:
    """Return a time as a cell."""
    return f"{time:,.3f}"
