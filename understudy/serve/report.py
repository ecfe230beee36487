# SPDX-License-Identifier: MIT
"""The lateness of a served disk's answers, as data and as lines of text."""

from collections.abc import Iterator
from math import ceil
from typing import Any

from understudy.native.timed_disk import ENOUGH_NS, Lateness

SCHEMA = "understudy.served/1"
ENOUGH_MS = ENOUGH_NS / 1e6
ERROR_MOST = 0.03


def figures(found: Lateness) -> dict[str, Any]:
    """Return the figures for --json; a mean or percentile without requests is None.

    The service error is the mean lateness as a fraction of the mean service time.  It includes only
    requests that should take at least ENOUGH_NS.
    """
    any_at_all, any_timed = found.requests > 0, found.timed > 0
    lateness_us = {
        "mean": found.mean_ns,
        "p50": found.p50_ns,
        "p99": found.p99_ns,
        "max": found.max_ns,
    }
    return {
        "requests": found.requests,
        "late": found.late,
        "late_share": found.late / found.requests if any_at_all else None,
        "lateness_us": {name: ns / 1e3 if any_at_all else None for name, ns in lateness_us.items()},
        "timed_requests": found.timed,
        "mean_service_ms": found.service_ns / 1e6 if any_timed else None,
        "service_error": found.service_late_ns / found.service_ns if any_timed else None,
    }


def lines(found: Lateness, scale: float) -> Iterator[tuple[str, str]]:
    """Yield the figures for a terminal: labels and texts.  `scale` is the k of the served disk."""
    yield "requests", f"{found.requests:,}"
    if not found.requests:
        return
    us = (ns / 1e3 for ns in (found.mean_ns, found.p50_ns, found.p99_ns, found.max_ns))
    yield "lateness", "mean {:,.1f} us, p50 {:,.1f}, p99 {:,.1f}, at most {:,.1f}".format(*us)
    yield "late", f"{found.late:,} ({found.late / found.requests:.2%}) whose data came after that"
    if not found.timed:
        return
    error = found.service_late_ns / found.service_ns
    yield (
        "mean service",
        f"{found.service_ns / 1e6:,.3f} ms and {error:.2%} more, of the {found.timed:,} that take "
        f"{ENOUGH_MS:g} ms or longer",
    )
    if error > ERROR_MOST:
        slower = ceil(scale * error / ERROR_MOST)
        yield (
            "too late",
            f"by more than {ERROR_MOST:.0%}: this host is too busy for such a disk; "
            f"--scale {slower} makes it so much slower that it should be kept",
        )
