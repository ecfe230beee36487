# SPDX-License-Identifier: MIT
"""python -m bench fidelity --target: profiles a black box, and compares predictions with it."""

import json
from collections.abc import Callable
from typing import Any

import click

import understudy_devices as us
from bench.black_box import LOADS, BlackBox, Predicted, summed_up
from bench.page import table
from bench.part import Column, Row
from bench.predictions import RESPONSE_LIMIT, SERVICE_LIMIT
from understudy_devices.base.errors import RunFailed
from understudy_devices.device.target import Target
from understudy_devices.profiler.profile_fit import Fitted
from understudy_devices.profiler.targets import factory

COLUMNS = (
    Column("workload", "{workload}"),
    Column(f"service within {SERVICE_LIMIT:g} %, half", "{service_half:.1f}"),
    Column("all", "{service_all:.1f}"),
    Column(f"response within {RESPONSE_LIMIT:g} %, half", "{response_half:.1f}"),
    Column("all", "{response_all:.1f}"),
    Column("within", "{within} of {cases}"),
    Column("or no difference", "{excused}"),
    Column("without an end", "{overloaded}"),
    Column("pairs ranked right", "{ranked_right} of {pairs}"),
    Column("pick", "{pick}"),
    Column("best", "{best}"),
    Column("the pick costs (%)", "{choice_percent:.1f}"),
    Column("trusted", "{trusted}"),
)


def measure(name: str, seed: int, seeds: int, requests: int, *, as_json: bool) -> None:
    """Profile the target, which destroys its data, and print predictions next to measured figures.

    Before each run the target's reset() is called, or a new target is created if the target has no
    reset().
    """
    target = factory.target(name)
    fit = us.profile(target, seed, destroy_data=True)
    box = BlackBox(name, _fresh(name, target), fit)
    rows: list[Row] = []
    if not as_json:
        click.echo(_profiled(name, fit))
    for workload in filter(box.takes, LOADS):
        predicted = box.predicted(workload, requests, seeds)
        if not predicted.rows:
            raise RunFailed(f"{name}: {workload}: no scheduler came to an end")
        rows.append(_row(predicted))
    if as_json:
        click.echo(json.dumps(_as_json(name, fit, rows), indent=1, allow_nan=False))
        return
    click.echo(table(COLUMNS, rows))
    for row in rows:
        click.echo("".join(f"{row['workload']}: {why}\n" for why in row["because"]), nl=False)


def _fresh(name: str, target: Target) -> Callable[[], Target]:
    def fresh() -> Target:
        if not hasattr(target, "reset"):
            return factory.target(name)
        target.reset()
        return target

    return fresh


def _profiled(name: str, fit: Fitted) -> str:
    off = ", ".join(f"{check.workload} {check.said()}" for check in fit.checks if not check.within)
    within = sum(check.within for check in fit.checks)
    return (
        f"{name}: {fit.capacity_sectors:,} sectors, profiled with {fit.requests:,} requests, "
        f"{within} of {len(fit.checks)} checks within their limits{': ' + off if off else ''}"
    )


def _row(predicted: Predicted) -> Row:
    ranks, verdict = predicted.ranks, predicted.verdict
    return {
        **summed_up([predicted]),
        "pick": ranks["best_by_profile"],
        "best": ranks["best"],
        "trusted": json.dumps(verdict.trusted),
        "because": list(verdict.because),
        "schedulers": predicted.rows,
    }


def _as_json(name: str, fit: Fitted, rows: list[Row]) -> dict[str, Any]:
    return {
        "target": name,
        "capacity_sectors": fit.capacity_sectors,
        "seed": fit.seed,
        "requests": fit.requests,
        "checks": [check.as_json() for check in fit.checks],
        "workloads": [{**row, "trusted": json.loads(row["trusted"])} for row in rows],
    }
