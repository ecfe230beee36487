# SPDX-License-Identifier: MIT
"""A run's figures, which the simulator sums up as requests complete.

Times are nanoseconds. sim/moments.h documents the precision of each figure.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from understudy_devices._core import ffi, lib
from understudy_devices.native import demand
from understudy_devices.native.request import REASONS

PERCENTILES = (50, 95, 99, 99.9)


@dataclass(frozen=True)
class Moments:
    """Mean and population variance, ns and ns²."""

    mean: float
    variance: float


@dataclass(frozen=True)
class Figures:
    """Figures of the measured requests."""

    completed: int
    dispatched: int  # fewer than completed, if some were merged
    first_arrival_ns: int
    last_arrival_ns: int
    last_completion_ns: int
    sectors: int
    hits: int
    predicted: int
    predicted_hits: int
    page_hits: int
    page_misses: int
    reasons: dict[str, int]
    service: Moments
    device: Moments
    response: Moments
    model: Moments
    response_percentiles: dict[float, int]  # the lower end of a cell 1/256 wide
    longest_response_ns: int
    demand: dict[str, int]  # work for the device, sim/demand.h
    counters: dict[str, int]
    policies: dict[str, dict[str, int]]  # counters of the page cache's policies


def figures_of(
    summary: Any, counters: Mapping[str, int], policies: Mapping[str, dict[str, int]] | None = None
) -> Figures:
    """Return the figures in a struct sim_summary."""
    names = {entry.name for entry in fields(Figures)}
    plain: dict[str, Any] = {
        name: int(getattr(summary, name))
        for name in names & set(dir(summary))
        if isinstance(getattr(summary, name), int)
    }
    moments: dict[str, Any] = {
        name: moments_of(ffi.addressof(summary, name))
        for name in ("service", "device", "response", "model")
    }
    responses = ffi.addressof(summary, "responses")
    plain["dispatched"] = int(summary.model.count)
    reasons = zip(REASONS, summary.reason, strict=True)
    return Figures(
        **plain,
        **moments,
        reasons={name: int(count) for name, count in reasons if count},
        response_percentiles=percentiles_of(responses),
        longest_response_ns=int(responses.max),
        demand={name: int(getattr(summary.demand, name)) for name in demand.NAMES},
        counters=dict(counters),
        policies=dict(policies or {}),
    )


def percentiles_of(responses: Any) -> dict[float, int]:
    """Return percentiles of a struct histogram."""
    return {
        percent: int(lib.histogram_permille(responses, round(10 * percent)))
        for percent in PERCENTILES
    }


def moments_of(sums: Any) -> Moments:
    """Return the moments in a struct moments."""
    return Moments(lib.moments_mean(sums), lib.moments_variance(sums))
