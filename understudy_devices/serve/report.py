# SPDX-License-Identifier: MIT
"""The lateness of a served disk's answers, as data and as lines of text."""

from collections.abc import Iterator
from math import ceil
from typing import Any

from understudy_devices.native.timed_disk import ENOUGH_NS, Lateness

SCHEMA = "understudy.served/1"
ENOUGH_MS = ENOUGH_NS / 1e6
ERROR_MOST = 0.03


def figures(lateness: Lateness) -> dict[str, Any]:
    """Return the figures for --json; a mean or percentile without requests is None.

    The service error is the mean lateness as a fraction of the mean service time.  It includes only
    requests that should take at least ENOUGH_NS.
    """
    any_at_all, any_timed = lateness.requests > 0, lateness.timed > 0
    lateness_us = {
        "mean": lateness.mean_ns,
        "p50": lateness.p50_ns,
        "p99": lateness.p99_ns,
        "max": lateness.max_ns,
    }
    return {
        "requests": lateness.requests,
        "late": lateness.late,
        "late_share": lateness.late / lateness.requests if any_at_all else None,
        "lateness_us": {name: ns / 1e3 if any_at_all else None for name, ns in lateness_us.items()},
        "timed_requests": lateness.timed,
        "mean_service_ms": lateness.service_ns / 1e6 if any_timed else None,
        "service_error": lateness.service_late_ns / lateness.service_ns if any_timed else None,
    }


def lines(lateness: Lateness, scale: float) -> Iterator[tuple[str, str]]:
    """Yield the figures for a terminal: labels and texts.  `scale` is the k of the served disk."""
    yield "requests", f"{lateness.requests:,}"
    if not lateness.requests:
        return
    us = (ns / 1e3 for ns in (lateness.mean_ns, lateness.p50_ns, lateness.p99_ns, lateness.max_ns))
    yield "lateness", "mean {:,.1f} us, p50 {:,.1f}, p99 {:,.1f}, at most {:,.1f}".format(*us)
    yield (
        "late",
        f"{lateness.late:,} ({lateness.late / lateness.requests:.2%}) whose data came after that",
    )
    if not lateness.timed:
        return
    error = lateness.service_late_ns / lateness.service_ns
    yield (
        "mean service",
        f"{lateness.service_ns / 1e6:,.3f} ms and {error:.2%} more, of the {lateness.timed:,} that "
        f"take {ENOUGH_MS:g} ms or longer",
    )
    if error > ERROR_MOST:
        slower = ceil(scale * error / ERROR_MOST)
        yield (
            "too late",
            f"by more than {ERROR_MOST:.0%}: this host is too busy for such a disk; "
            f"--scale {slower} makes it so much slower that it should be kept",
        )
