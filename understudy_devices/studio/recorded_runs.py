# SPDX-License-Identifier: MIT
"""The requests of a run folder for the page: which runs it has, and one of them as bytes.

Only one run is in memory at a time, and of a run at most MOST requests are sent.  What is wrong
with a folder is a UserError of one line.
"""

from pathlib import Path
from typing import Any

import polars as pl
from pydantic import ValidationError

from understudy_devices.api import recorded
from understudy_devices.ask.device import Device
from understudy_devices.base.errors import UserError
from understudy_devices.campaign import result, result_files
from understudy_devices.device.profile import DiskProfile
from understudy_devices.show import views
from understudy_devices.studio import run_files, runs
from understudy_devices.studio.plain_text import plain
from understudy_devices.traces.read import REQUESTS

MOST = 2_000_000
READ = 20_000_000  # requests: a run that has more is not read, a folder that has more not listed


def listed(run: Path) -> dict[str, Any]:
    """Return the runs of a folder: scheduler, seed, and number of requests."""
    _check(run)
    known = result_files.load(run)
    names = ("scheduler", "seed", "requests")
    each = [dict(zip(names, one, strict=True)) for one in recorded.runs(run, READ)]
    return {"platform": plain(str(known.platform)), "disk": plain(known.disk), "runs": each}


def packed(run: Path, scheduler: str, seed: int) -> bytes:
    """Return the requests of one run (show/views.py)."""
    _check(run)
    known = result_files.load(run)
    requests, _, slowdown = recorded.of(run, scheduler, str(seed), READ)
    try:
        rows = views.timed(requests, slowdown)
        responses = views.responses_ns(rows) if rows.height > MOST else None
        shown = views.Run(scheduler, rows.head(MOST), rows.height, responses)
        return views.packed([shown], int(known.runs[0].capacity_sectors), _device(known))
    except (ValueError, TypeError, OverflowError, pl.exceptions.PolarsError) as error:
        reason = str(error).splitlines()[0]
        raise UserError(f"{REQUESTS} has impossible numbers ({reason}); run it again") from error


def _check(run: Path) -> None:
    """Raise UserError for a folder of another kind, or of another version."""
    try:
        document = runs.read(run)
    except ValueError as error:
        raise UserError(str(error)) from error
    if not run_files.inside(run, REQUESTS):
        raise UserError(
            "no requests in it: predict and measure record them, sweep and consolidate do not"
        )
    schema = str(document.get("schema", ""))
    kind, _, _ = result.SCHEMA.partition("/")
    if schema.startswith(f"{kind}/") and schema != result.SCHEMA:
        raise UserError(
            f"its schema is {schema[:40]}, and this is made for {result.SCHEMA}: run the "
            "command in result.json again"
        )


def _device(known: result_files.Kept) -> Device | None:
    """Return the device; None if its profile has keys that are not known here, and for a real disk,
    which has no model."""
    inputs = known.inputs
    if known.platform == "real":
        return None
    try:
        disk = DiskProfile.model_validate(inputs["disk"])
        return Device(disk=disk, virtual_bytes=inputs["virtual_bytes"], queue_depth=inputs["depth"])
    except (ValidationError, UserError, LookupError, TypeError):
        return None
