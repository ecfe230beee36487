# SPDX-License-Identifier: MIT
"""The views of the studio's page inside a report: script, style, and the requests of some runs.

The views show one run of each scheduler, the one with the first seed, and at most REQUESTS requests
in all: the first ones of each run.  The distributions are of all requests of all seeds.
"""

import gzip
import json
from base64 import b64encode

import numpy as np

from understudy_devices.ask.experiment import Outcome
from understudy_devices.base.paths import views_file
from understudy_devices.campaign.result import Result
from understudy_devices.measure.metrics import NS_PER_MS, Summary, response_times_ms
from understudy_devices.show import views as packing

REQUESTS = 200_000  # in the views of a report, which is then shorter than 6 MB
NOT_BUILT = (
    "This report has no pictures, since the views are not built here: run make setup in the "
    "checkout, and the command again."
)


NOT_SENT = (
    "This report has no pictures, since of no request it is known when it was sent to the disk, "
    "and when it was completed."
)


def missing() -> str:
    """Return why there are no views, when there are none."""
    return NOT_SENT if views_file().exists() else NOT_BUILT


def views(answer: Result) -> dict[str, str] | None:
    """Return what the template needs; None if the views are not built, or have nothing to show."""
    try:
        built: dict[str, str] = json.loads(views_file().read_bytes())
    except FileNotFoundError:
        return None
    seeds = answer.comparison.seeds
    most = max(1, REQUESTS // len(answer.comparison.schedulers))
    runs = [run for run in _runs(answer, most) if run.rows.height]
    if not runs:
        return None
    first = answer.summaries[0]
    device = None if answer.platform == "real" else answer.experiment.device  # it has no model
    packed = packing.packed(runs, first.capacity_sectors, device)
    left_out = [run for run in runs if run.rows.height < run.requests]
    return {
        **built,
        "runs": b64encode(gzip.compress(packed, mtime=0)).decode(),
        "note": _note(seeds, most if left_out else None),
    }


def _runs(answer: Result, most: int) -> list[packing.Run]:
    """Return a run of each scheduler."""
    by_scheduler: dict[str, list[tuple[Outcome, Summary]]] = {}
    for outcome, summary in zip(answer.outcomes, answer.summaries, strict=True):
        by_scheduler.setdefault(outcome.experiment.scheduler.name, []).append((outcome, summary))
    return [_run(name, some, most) for name, some in by_scheduler.items()]


def _run(name: str, some: list[tuple[Outcome, Summary]], most: int) -> packing.Run:
    outcome, summary = some[0]
    first = packing.timed(outcome.requests, summary.scale)
    responses = None
    if len(some) > 1 or first.height > most:
        times_ms = np.concatenate([response_times_ms(outcome) for outcome, _ in some])
        responses = np.rint(times_ms * NS_PER_MS).astype(np.int64)
    return packing.Run(name, first.head(most), first.height, responses)


def _note(seeds: tuple[int, ...], most: int | None) -> str:
    which = f"Runs with seed {seeds[0]}" if len(seeds) > 1 else "Runs"
    cut = f", the first {most:,} requests of each" if most else ""
    whole = "; distributions of response times are of all seeds" if len(seeds) > 1 else ""
    return f"{which}{cut}{whole}. requests.parquet has every request."
