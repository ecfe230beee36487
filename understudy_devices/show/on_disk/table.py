# SPDX-License-Identifier: MIT
"""The rows of the tables for VMs on a simulated disk; times in ms."""

from collections.abc import Mapping
from math import isfinite

from understudy_devices.consolidation.directions import Times
from understudy_devices.consolidation.disk_prediction import DiskPrediction
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
DIRECTIONS = ("requests", "alone\n(ms)", "p95\n(ms)", "together\n(ms)", "p95\n(ms)")


def rows(prediction: DiskPrediction) -> Block:
    """Return a row for each VM, with a cell for each heading in HEADINGS."""
    return [
        (
            guest.name,
            (
                f"{guest.requests:,}",
                _ms(guest.measured.mean_ms) if guest.measured else "-",
                *_pair(alone.all),
                _ms(beside.mean.mean),
                limits(beside.limits_ms),
                _ms(beside.all.percentiles_ms[95]),
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
                *_pair(times),
                *(_pair(beside[direction]) if direction in beside else ("-", "-")),
            ),
        )
        for direction, times in alone.items()
    ]


def limits(limits_ms: tuple[float, float] | None) -> str:
    """Return an interval as a cell."""
    if limits_ms is None:
        return "-"
    low, high = limits_ms
    return f"{_ms(low)} to {_ms(high)}" if isfinite(high) else f"from {_ms(low)}"


def _pair(times: Times) -> tuple[str, str]:
    return _ms(times.mean_ms), _ms(times.percentiles_ms[95])


def _ms(time: float) -> str:
    return f"{time:,.3f}"
