# SPDX-License-Identifier: MIT
"""The rows of the tables for VMs on a simulated disk; times in ms."""

from math import isfinite

from understudy_devices.consolidation.disk_prediction import DiskPrediction
from understudy_devices.show.directions import direction_rows, ms, pair
from understudy_devices.show.grid import Block

HEADINGS = (
    "requests",
    "recorded\n(ms)",
    "alone\n(ms)",
    "p95\n(ms)",
    "together\n(ms)",
    "95 %\n(ms)",
    "p95\n(ms)",
    "times",
)


def rows(prediction: DiskPrediction) -> Block:
    """Return a row for each VM, with a cell for each heading in HEADINGS."""
    return [
        (
            guest.name,
            (
                f"{guest.requests:,}",
                ms(guest.measured.mean_ms) if guest.measured else "-",
                *pair(alone.all),
                ms(beside.mean.mean),
                limits(beside.limits_ms),
                ms(beside.all.percentiles_ms[95]),
                f"{beside.mean.mean / alone.all.mean_ms:.2f}",
            ),
        )
        for guest, alone, beside in zip(
            prediction.guests, prediction.alone, prediction.together, strict=True
        )
    ]


def directions(prediction: DiskPrediction) -> Block:
    """Return a row for the reads and the writes of each VM that has both."""
    return [
        row
        for guest, alone, beside in zip(
            prediction.guests, prediction.alone, prediction.together, strict=True
        )
        for row in direction_rows(guest.name, alone.directions, beside.directions)
    ]


def limits(limits_ms: tuple[float, float] | None) -> str:
    """Return an interval as a cell."""
    if limits_ms is None:
        return "-"
    low, high = limits_ms
    return f"{ms(low)} to {ms(high)}" if isfinite(high) else f"from {ms(low)}"
