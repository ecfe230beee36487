# SPDX-License-Identifier: MIT
"""How long work says how far it is."""

from collections.abc import Callable

Report = Callable[[str, float], None]  # phase, fraction done from 0 to 1


def silent(phase: str, fraction: float) -> None:
    """Nobody wants to know."""
