# SPDX-License-Identifier: MIT
"""How long-running work reports its progress."""

from collections.abc import Callable

Report = Callable[[str, float], None]  # phase, fraction done from 0 to 1


def silent(phase: str, fraction: float) -> None:
    """A report that shows nothing."""
