# SPDX-License-Identifier: MIT
"""Make the two outputs of a prediction: result.json, and a table of the replications.

The schema of result.json is understudy.consolidation/1; times are in ms.
"""

import platform as machine
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from understudy_devices import __version__
from understudy_devices.consolidation.fit import Fitted
from understudy_devices.consolidation.fit_report import Figures
from understudy_devices.consolidation.prediction import Prediction, Together
from understudy_devices.consolidation.scenario import Tenant
from understudy_devices.consolidation.trust import ALIGNED, SAMPLED, of_prediction
from understudy_devices.consolidation.vm import NS_PER_MS
from understudy_devices.consolidation.what_if import Change
from understudy_devices.native.open_queue import ClassFigures

SCHEMA = "understudy.consolidation/1"


def document(
    command: str,
    seed: int,
    depth_from: str,
    predictions: Sequence[Prediction],
    changes: Sequence[Change],
) -> dict[str, Any]:
    """Return the content of result.json: an answer for the given scenario and for each changed
    one."""
    others = zip(changes, predictions[1:], strict=True)
    ends = [replace(predictions[0], other_end=None), predictions[0].other_end]
    return {
        "schema": SCHEMA,
        "inputs": {
            "command": command,
            "seed": seed,
            "depth": predictions[0].scenario.servers,
            "depth_from": depth_from,
            "depth_overloaded": predictions[0].overloaded,
            "depth_most": ends[1].scenario.servers if ends[1] else None,
            "merge": predictions[0].effort.merge,
            "precision": predictions[0].effort.precision,
        },
        "environment": {"understudy": __version__, "python": machine.python_version()},
        **as_json(predictions[0]),
        "depths": [as_json(end) for end in ends if end] if ends[1] else [],
        "what_if": [{"change": str(change), **as_json(other)} for change, other in others],
    }


def as_json(prediction: Prediction) -> dict[str, Any]:
    """Return the answer for one scenario."""
    scenario = prediction.scenario
    rows = zip(scenario.tenants, prediction.together, scenario.product_form_ms(), strict=True)
    return {
        **of_prediction(prediction).as_json(),
        "vms": [_vm(prediction, *row) for row in rows],
        "device": {
            "servers": scenario.servers,
            "offered_load": scenario.offered_load,
            "load_with_merging": prediction.load,
            "fewest_servers": scenario.fewest_servers,
        },
        "expected_in_system": prediction.expected,
        "searches": [
            {
                "expected": search.expected,
                "within": search.within,
                "tried": [
                    {"merge_value": one.merge, "in_system": _finite(one.queue_length)}
                    for one in search.tried
                ],
            }
            for search in prediction.searches
        ],
        "replications": len(prediction.replications),
        "converged": prediction.converged,
        "ci95_covers": ALIGNED if prediction.scenario.aligned else SAMPLED,
    }


def _vm(prediction: Prediction, tenant: Tenant, beside: Together, product_form_ms: float) -> Any:
    vm = tenant.vm
    return {
        "name": vm.name,
        "runs": [run.name for run in vm.runs],
        "notes": {run.name: list(run.notes) for run in vm.runs if run.notes},
        "requests": vm.requests,
        "weight": tenant.weight,
        "cap": tenant.cap and {"limits": str(tenant.cap), "mean_wait_ms": vm.waited_ms},
        "utilisation": tenant.erlangs / prediction.scenario.servers,
        "alone": {
            "mean_response_ms": vm.mean_response_ms,
            **_percentiles(vm.percentiles_ms),
            "requests_per_s": 1000 * vm.rate_per_ms,
            "in_system": vm.in_system,
            **{name: one.as_json() for name, one in vm.directions.items()},
        },
        "together": {
            "mean_response_ms": beside.mean.mean,
            "ci95_ms": _interval(beside.limits_ms),
            **_percentiles(beside.percentiles),
            "in_system": beside.in_system,
            "requests": beside.requests,
            "merge_value": beside.merge,
            "split_ratio": vm.splitting_ratio,
            "product_form_ms": product_form_ms,
            **{name: one.as_json() for name, one in beside.directions.items()},
        },
        "service_times": _fitted(tenant.fitted),
    }


def replications(prediction: Prediction) -> pl.DataFrame:
    """Return a table with a row for each VM in each replication."""
    return pl.DataFrame(
        [
            {"replication": number, "vm": tenant.vm.name, **_row(figures)}
            for number, run in enumerate(prediction.replications)
            for tenant, figures in zip(prediction.scenario.tenants, run.each, strict=True)
        ]
    )


def _row(figures: ClassFigures) -> dict[str, Any]:
    times = {percent: ns / NS_PER_MS for percent, ns in figures.response_percentiles.items()}
    return {
        "requests": figures.requests,
        "pieces": figures.pieces,
        "mean_response_ms": figures.response.mean / NS_PER_MS,
        **_percentiles(times),
        "longest_response_ms": figures.longest_response_ns / NS_PER_MS,
        "in_system": figures.in_system,
    }


def _fitted(fitted: Fitted) -> dict[str, Any]:
    report = fitted.report
    return {
        "phases": fitted.process.order,
        "d0": fitted.process.d0.tolist(),
        "d1": fitted.process.d1.tolist(),
        "measured": _figures(report.given),
        "fitted": _figures(report.fitted),
        "distance": report.distance,
        "poor": list(report.poor),
        "from": "trace" if fitted.recorded else "process",
        "because": fitted.recorded,
    }


def _figures(figures: Figures) -> dict[str, Any]:
    return {
        "mean_ms": figures.moments[0] / NS_PER_MS,
        "cv": figures.cv,
        "autocorrelation": figures.autocorrelation.tolist(),
    }


def _percentiles(times: dict[float, float] | dict[int, float]) -> dict[str, float]:
    return {f"p{percent:g}_response_ms": time for percent, time in times.items()}


def _interval(limits_ms: tuple[float, float] | None) -> list[float | None] | None:
    """Return the limits; the upper one is None if it is infinite."""
    return None if limits_ms is None else [_finite(limit) for limit in limits_ms]


def _finite(value: float) -> float | None:
    """Return the value, or None if the queue grew without limit."""
    return value if value != float("inf") else None
