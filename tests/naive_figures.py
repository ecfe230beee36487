# SPDX-License-Identifier: MIT
"""The measures of docs/method.md, calculated row by row in plain Python.

The code shares nothing with understudy_devices.measure.metrics; it is meant to be slow and plain.
"""

from collections import Counter
from fractions import Fraction
from statistics import fmean, pvariance
from typing import Any

Row = dict[str, Any]


def figures(
    rows: list[Row], scale: float, *, parallel: bool = False, queued: bool = False
) -> dict[str, Any]:
    """Return all figures in result.json that depend on a run's records."""
    requests = carried(rows)
    per_ms = 1e6 * scale
    services = services_ns(requests)
    if parallel:
        services = [scale * row["model_service_ns"] for row in requests]
    if queued:
        services = [
            row["completion_ns"] - (row["due_ns"] - scale * row["model_service_ns"])
            for row in requests
        ]
    devices = [row["completion_ns"] - row["dispatch_ns"] for row in requests]
    responses = [row["completion_ns"] - row["arrival_ns"] for row in rows]
    span_ns = max(row["completion_ns"] for row in rows) - min(row["arrival_ns"] for row in rows)
    late_ns = [
        row["completion_ns"] - row["due_ns"] for row in requests if row["due_ns"] is not None
    ]
    hits = [row for row in requests if row["hit"]]
    foreseen = [row for row in requests if row["reason"] == "hit"]
    both = [row for row in hits if row["reason"] == "hit"]
    return {
        "requests": len(rows),
        "dispatched": len(requests),
        "merged": len(rows) - len(requests),
        "metadata": sum(row["meta"] for row in rows),
        "mean_service_ms": fmean(services) / per_ms,
        "var_service_ms2": float(pvariance(services)) / per_ms**2,
        "mean_response_ms": fmean(responses) / per_ms,
        "var_response_ms2": float(pvariance(responses)) / per_ms**2,
        "p50_response_ms": nearest_rank(responses, 500) / per_ms,
        "p95_response_ms": nearest_rank(responses, 950) / per_ms,
        "p99_response_ms": nearest_rank(responses, 990) / per_ms,
        "p999_response_ms": nearest_rank(responses, 999) / per_ms,
        "max_response_ms": max(responses) / per_ms,
        "throughput_sectors_per_ms": sum(row["sectors"] for row in rows) * per_ms / span_ns,
        "mean_device_ms": fmean(devices) / per_ms,
        "var_device_ms2": float(pvariance(devices)) / per_ms**2,
        "mean_model_service_ms": fmean(row["model_service_ns"] for row in requests) / 1e6,
        "mean_lateness_ms": fmean(late_ns) / per_ms if late_ns else 0.0,
        "device_seconds": span_ns / scale / 1e9,
        "late": sum(row["late"] for row in requests),
        "stale": sum(row["stale"] for row in requests),
        "hits": len(hits),
        "predicted": len(foreseen),
        "predicted_hits": len(both),
        "predicted_hit_share": len(both) / len(hits) if hits else None,
        "reasons": dict(Counter(row["reason"] for row in requests)),
    }


def carried(rows: list[Row]) -> list[Row]:
    """Return a row for each request that went to the disk, in order of dispatch."""
    first: dict[int, Row] = {}
    for row in rows:
        first.setdefault(row["request_id"], row)
    return sorted(first.values(), key=lambda row: (row["dispatch_ns"], row["request_id"]))


def services_ns(requests: list[Row]) -> list[int]:
    """Return completion - max(dispatch, previous completion) of each request."""
    times_ns, previous = [], 0
    for number, row in enumerate(requests):
        begun = row["dispatch_ns"] if not number else max(row["dispatch_ns"], previous)
        times_ns.append(row["completion_ns"] - begun)
        previous = row["completion_ns"]
    return times_ns


def nearest_rank(values: list[int], permille: int) -> int:
    """Return the smallest value that at least permille/1000 of the values do not exceed."""
    enough = Fraction(permille * len(values), 1000)
    return min(value for value in values if sum(other <= value for other in values) >= enough)


def idle_ns(requests: list[Row]) -> list[int]:
    """Return how long the disk was idle before each dispatch; 0 for the first."""
    times_ns = []
    for number, row in enumerate(requests):
        earlier = [before["completion_ns"] for before in requests[:number]]
        times_ns.append(max(0, row["dispatch_ns"] - max(earlier)) if earlier else 0)
    return times_ns
