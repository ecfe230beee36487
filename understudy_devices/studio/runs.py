# SPDX-License-Identifier: MIT
"""The run folders below the studio's folder: what each answers, and what is wrong with it."""

import json
from pathlib import Path
from typing import Any

from understudy_devices.studio.plain_text import plain
from understudy_devices.studio.run_files import changed_s, latest_first
from understudy_devices.studio.run_files import inside as file_inside

RESULT, REPORT = "result.json", "report.html"
RESULT_MOST = 50 * 2**20  # bytes
LISTED = 1000
COMMAND_LETTERS = 500


def every(folder: Path) -> tuple[list[dict[str, Any]], int]:
    """Return the runs, the last one first, and how many more there are than LISTED."""
    runs = latest_first(folder, lambda run: file_inside(run, RESULT))
    return [about(folder, run) for run in runs[:LISTED]], max(0, len(runs) - LISTED)


def inside(folder: Path, name: str) -> Path | None:
    """Return a run folder by its path below the folder; None if there is none."""
    try:
        run = (folder / name).resolve()
        is_below = run.is_relative_to(folder.resolve())
    except (OSError, ValueError, RuntimeError):  # too long, a zero byte, or links in a circle
        return None
    return run if is_below and file_inside(run, RESULT) else None


def about(folder: Path, run: Path) -> dict[str, Any]:
    """Return what a list shows of a run; `error` says why its result cannot be read."""
    shown: dict[str, Any] = {
        "name": str(run.relative_to(folder)),
        "changed_s": changed_s(run),
        "has_report": file_inside(run, REPORT) is not None,
    }
    try:
        result = read(run)
    except ValueError as error:
        return shown | {"error": str(error)}
    inputs = result.get("inputs")
    command = inputs.get("command") if isinstance(inputs, dict) else result.get("command")
    return shown | {
        "schema": plain(str(result.get("schema", ""))[:COMMAND_LETTERS]),
        "command": plain(str(command or "")[:COMMAND_LETTERS]),
        "trusted": result.get("trusted") if isinstance(result.get("trusted"), bool) else None,
    }


def read(run: Path) -> dict[str, Any]:
    """Return result.json; ValueError, with a line for people, if it cannot be read."""
    file = file_inside(run, RESULT)
    if file is None:
        raise ValueError(f"{RESULT}: no file of the run; was the run deleted?")
    try:
        if file.stat().st_size > RESULT_MOST:
            raise ValueError(f"{RESULT} has more than {RESULT_MOST:,} bytes; open it in a terminal")
        result = json.loads(file.read_bytes())
    except OSError as error:
        raise ValueError(f"{RESULT}: {error.strerror}; was the run deleted?") from error
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(f"{RESULT} is cut off or no JSON; run the command again") from error
    if not isinstance(result, dict):
        raise ValueError(f"{RESULT} is no object; run the command again")
    return result
