# SPDX-License-Identifier: MIT
"""Compares a profile's predictions with the drive itself, by means over seeds and by ranks."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bench.part import Row
from understudy_devices.measure.comparison import estimate

REALLY_DIFFERENT = 0.03
SERVICE_LIMIT, RESPONSE_LIMIT = 3.0, 5.0  # per cent


@dataclass(frozen=True)
class Means:
    """The means of one run, in ms."""

    service: float
    response: float


def compared(
    drive: str, workload: str, scheduler: str, ours: Sequence[Means], theirs: Sequence[Means]
) -> Row:
    """Compare one scheduler, seed by seed.  Return the differences in per cent, and the confidence
    interval of the paired differences.
    """
    service = float(np.mean([run.service for run in theirs]))
    response = float(np.mean([run.response for run in theirs]))
    gaps = [one.response - other.response for one, other in zip(ours, theirs, strict=True)]
    half_width = estimate(gaps).half_width
    return {
        "drive": drive,
        "workload": workload,
        "scheduler": scheduler,
        "service_ms": service,
        "service_percent": 100 * (float(np.mean([run.service for run in ours])) / service - 1),
        "response_ms": response,
        "response_percent": 100 * float(np.mean(gaps)) / response,
        "interval_percent": None if half_width is None else 100 * half_width / response,
    }


def is_within(row: Row) -> bool:
    """Return whether the service time is within 3 % and the response time within 5 %."""
    service, response = abs(row["service_percent"]), abs(row["response_percent"])
    return bool(service <= SERVICE_LIMIT and response <= RESPONSE_LIMIT)


def may_be_none(row: Row) -> bool:
    """Return whether the confidence interval of the difference in response time includes zero."""
    return bool(abs(row["response_percent"]) <= (row["interval_percent"] or 0.0))


def ranked(drive: str, workload: str, rows: Sequence[Row]) -> Row:
    """Return the worst prediction over all schedulers.  Also count the pairs of schedulers that
    really differ, and how many of these pairs are ranked right.
    """
    theirs = {row["scheduler"]: row["response_ms"] for row in rows}
    ours = {
        row["scheduler"]: row["response_ms"] * (1 + row["response_percent"] / 100) for row in rows
    }
    pairs = [
        (a, b) for a in theirs for b in theirs if theirs[b] > theirs[a] * (1 + REALLY_DIFFERENT)
    ]
    worst = max(rows, key=lambda row: abs(row["response_percent"]))
    best, chosen = (min(means, key=means.__getitem__) for means in (theirs, ours))
    return {
        "drive": drive,
        "workload": workload,
        "worst": worst["scheduler"],
        "worst_percent": worst["response_percent"],
        "pairs": len(pairs),
        "ranked_right": sum(ours[a] < ours[b] for a, b in pairs),
        "best": best,
        "best_by_profile": chosen,
        "chosen_costs_percent": 100 * (theirs[chosen] / theirs[best] - 1),
    }
