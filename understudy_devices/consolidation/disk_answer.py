# SPDX-License-Identifier: MIT
"""result.json and the table of replications for VMs on a simulated disk.

The schema is understudy.consolidation/1, with the keys of answer.py that have a meaning here.  The
answer is for the first scheduler; `what_if` has those for the others.
"""

import math
import platform as machine
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from understudy_devices import __version__
from understudy_devices.consolidation.answer import SCHEMA
from understudy_devices.consolidation.directions import Times
from understudy_devices.consolidation.disk_prediction import DiskPrediction
from understudy_devices.consolidation.shared_disk import begins
from understudy_devices.consolidation.trust import ALIGNED_ON_DISK, SAMPLED_ON_DISK, of_disk

MOST_OF_A_RUN = 0.95


def document(inputs: Mapping[str, Any], predictions: Sequence[DiskPrediction]) -> dict[str, Any]:
    """Return the content of result.json; `inputs` has the command and its values."""
    disk = str(inputs["disk"])
    return {
        "schema": SCHEMA,
        "inputs": dict(inputs),
        "environment": {"understudy": __version__, "python": machine.python_version()},
        **_answer(disk, predictions[0]),
        "what_if": [
            {"change": f"scheduler={one.scheduler}", **_answer(disk, one)}
            for one in predictions[1:]
        ],
    }


def _answer(disk: str, prediction: DiskPrediction) -> dict[str, Any]:
    return {
        **of_disk(disk).as_json(),
        "vms": [_vm(prediction, k) for k in range(len(prediction.guests))],
        "device": {
            "disk": disk,
            "scheduler": prediction.scheduler,
            "offered_load": prediction.offered_load,
        },
        "replications": len(prediction.replications),
        "converged": prediction.converged,
        "ci95_covers": ALIGNED_ON_DISK if prediction.guests[0].aligned else SAMPLED_ON_DISK,
    }


def _vm(prediction: DiskPrediction, k: int) -> dict[str, Any]:
    guest, beside = prediction.guests[k], prediction.together[k]
    limits = beside.limits_ms
    return {
        "name": guest.name,
        "runs": [run.name for run in guest.runs],
        "requests": guest.requests,
        "weight": guest.weight,
        "part": {"first_sector": begins(prediction.guests)[k], "sectors": guest.sectors},
        "recorded": {
            "requests_per_s": guest.rate_per_s,
            **_times(guest.measured, guest.measured_directions),
        },
        "alone": _times(prediction.alone[k].all, prediction.alone[k].directions),
        "together": {
            **_times(beside.all, beside.directions),
            "mean_response_ms": beside.mean.mean,
            "ci95_ms": [one if math.isfinite(one) else None for one in limits] if limits else None,
        },
    }


def _times(every: Times | None, directions: Mapping[str, Times]) -> dict[str, Any]:
    whole = every.as_json() if every else {}
    return whole | {name: one.as_json() for name, one in directions.items()}


def replications(predictions: Sequence[DiskPrediction]) -> pl.DataFrame:
    """Return a table with a row for each scheduler, replication and VM."""
    return pl.DataFrame(
        [
            {
                "scheduler": prediction.scheduler,
                "replication": number,
                "vm": guest.name,
                **figures.all.as_json(),
            }
            for prediction in predictions
            for number, each in enumerate(prediction.replications)
            for guest, figures in zip(prediction.guests, each, strict=True)
        ]
    )


def doubts(predictions: Sequence[DiskPrediction]) -> Iterator[str]:
    """Yield reasons to trust the predictions less, one line each."""
    first = predictions[0]
    for k, guest in enumerate(first.guests):
        share = first.together[k].all.requests * len(guest.runs) / guest.requests
        if share < MOST_OF_A_RUN:
            yield (
                f"{guest.name}: {share:.0%} of a run's requests are simulated, since all end where "
                "the shortest run does"
            )
    for one in predictions:
        if one.offered_load > 1:
            yield (
                f"{one.scheduler}: overloaded: requests arrive {one.offered_load:,.2f} times as "
                "fast as the disk can serve them, so response times depend on the length of the "
                "runs; move a VM elsewhere, or take another disk"
            )
        if not one.converged and len(one.replications) > 1:
            yield (
                f"{one.scheduler}: {len(one.replications)} replications leave a mean less certain "
                f"than {one.effort.precision:.1%}; take more (--replications), or longer traces"
            )
