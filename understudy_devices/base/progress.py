# SPDX-License-Identifier: MIT
"""The type of the functions that long-running work calls to report its progress."""

from collections.abc import Callable

Report = Callable[[str, float], None]  # phase, fraction done from 0 to 1


def silent(phase: str, fraction: float) -> None:
    """Ignore the report."""
