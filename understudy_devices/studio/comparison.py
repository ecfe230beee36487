# SPDX-License-Identifier: MIT
"""Run folders compared with the first of them, for the page."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from understudy_devices.api import agreed
from understudy_devices.base.errors import UserError

MOST = 20  # folders


def compared(folder: Path, runs: Sequence[Path]) -> dict[str, Any]:
    """Return the measures' names, and what compare-runs --json says of each run but the first.

    A run that can't be compared with the first has an `error`.
    """
    real, *others = runs
    return {
        "measures": {each.key: f"{each.label} ({each.unit})" for each in agreed.MEASURES},
        "others": [_one(folder, real, other) for other in others],
    }


def _one(folder: Path, real: Path, other: Path) -> dict[str, Any]:
    name = str(other.relative_to(folder))
    try:
        found = agreed.compare(real, other)
    except UserError as error:
        return {"name": name, "error": str(error).replace(f"{folder}/", "")}
    doubts = [line.replace(f"{folder}/", "") for line in found.doubts]
    return {"name": name, "doubts": doubts, "alone": found.alone, **found.as_json()}
