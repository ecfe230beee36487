# SPDX-License-Identifier: MIT
"""Writes: not yet."""

from understudy.profiler.found import Finding, not_seen

KEYS = ("buffer.write_us", "buffer.write_settle_ms", "buffer.write_back")


def is_seen(found: Finding) -> bool:
    """A figure of writes."""
    return found.key in KEYS and found.value is not None


def findings(found: None) -> list[Finding]:
    """In the profile's words."""
    return [not_seen(key, "nothing was written") for key in KEYS]
