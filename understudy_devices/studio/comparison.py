# SPDX-License-Identifier: MIT
"""Run folders compared with the first of them, for the page."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from understudy_devices.api import agreed
from understudy_devices.base.errors import UserError
from understudy_devices.studio import runs
from understudy_devices.studio.plain_text import plain

MOST = 20  # folders
IMPOSSIBLE = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError)
"""What a result.json with values of other kinds raises: compare-runs is made for our own files."""


def compared(folder: Path, chosen: Sequence[Path]) -> dict[str, Any]:
    """Return the measures' names, and what compare-runs --json says of each run but the first.

    A run that can't be compared with the first has an `error`.
    """
    real, *others = chosen
    return {
        "measures": {each.key: f"{each.label} ({each.unit})" for each in agreed.MEASURES},
        "others": [_one(folder, real, other) for other in others],
    }


def _one(folder: Path, real: Path, other: Path) -> dict[str, Any]:
    name = str(other.relative_to(folder))
    try:
        for run in (real, other):
            runs.read(run)  # a large file is not read
        compared = agreed.compare(real, other)
        doubts = [line.replace(f"{folder}/", "") for line in compared.doubts]
        shown = {"name": name, "doubts": doubts, "alone": compared.alone, **compared.as_json()}
        json.dumps(shown, allow_nan=False, ensure_ascii=False).encode()
    except UserError as error:
        return {"name": name, "error": plain(str(error).replace(f"{folder}/", ""))}
    except IMPOSSIBLE as error:
        reason = plain(str(error).partition("\n")[0])
        first = real.relative_to(folder)
        return {"name": name, "error": f"it or {first} has impossible values ({reason})"}
    return shown
