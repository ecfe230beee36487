# SPDX-License-Identifier: MIT
"""Convert a search's outcome to result.json (schema understudy.placement/1), with times in ms."""

import platform as machine
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import isfinite, isnan
from typing import Any

from understudy_devices import __version__
from understudy_devices.consolidation.placement.problem import (
    P95,
    Demand,
    Device,
    Problem,
    Verdict,
    each,
)
from understudy_devices.consolidation.placement.search import Outcome
from understudy_devices.consolidation.placement.today import Moves
from understudy_devices.consolidation.trust import INTERVALS, SAMPLED
from understudy_devices.measure.trust import Trust

SCHEMA = "understudy.placement/1"


@dataclass(frozen=True)
class Placed:
    """A VM on its device, with its predicted times; limits_ms as in Outcome."""

    vm: Demand
    p95: P95
    limits_ms: tuple[float, float] | None = None

    @property
    def verified(self) -> bool:
        """Return whether there is an upper bound for the VM's 95th percentile, from several
        replications."""
        return not isnan(self.p95.most_ms)

    @property
    def meets(self) -> bool:
        """Return whether the upper bound for the VM's 95th percentile is at most its target."""
        return self.p95.most_ms <= self.vm.target_ms

    @property
    def uncertain(self) -> bool:
        """Return whether another trace of the same VM might show that it misses its target."""
        return self.meets and self.limits_ms is not None and self.limits_ms[1] > self.vm.target_ms


@dataclass(frozen=True)
class Occupied:
    """A device with its VMs."""

    device: Device
    load: float
    placed: tuple[Placed, ...]


def occupied(problem: Problem, outcome: Outcome) -> list[Occupied]:
    """Return the devices of the assignment; an empty list if there is no assignment."""
    if outcome.assignment is None:
        return []
    rows = zip(problem.devices, outcome.assignment, outcome.verdicts, strict=True)
    return [
        Occupied(device, problem.load(device, on), tuple(_placed(problem, outcome, verdict)))
        for device, on, verdict in rows
    ]


def document(
    command: str,
    inputs: Mapping[str, Any],
    problem: Problem,
    outcome: Outcome,
    trust: Trust,
) -> dict[str, Any]:
    """Return the content of result.json."""
    busy = problem.erlangs(problem.everyone)
    return {
        "schema": SCHEMA,
        "inputs": {"command": command, **inputs},
        "environment": {"understudy": __version__, "python": machine.python_version()},
        **trust.as_json(),
        "outcome": outcome.kind,
        "reason": outcome.reason,
        "interrupted": outcome.interrupted,
        "conflict": [problem.vms[vm].name for vm in each(outcome.conflict)],
        "ci95_covers": SAMPLED if outcome.limits_ms else INTERVALS,
        "simulated_devices": outcome.judged,
        "vms": len(problem.vms),
        "offered_load": busy / problem.capacity,
        "devices": [_device(one) for one in occupied(problem, outcome)],
        **({"moves": _moves(problem, outcome.moves)} if outcome.moves else {}),
    }


def _moves(problem: Problem, moves: Moves) -> dict[str, Any]:
    return {
        "vms": [
            {
                "name": problem.vms[move.vm].name,
                "from": problem.devices[move.home].name,
                "to": problem.devices[move.device].name,
                "gb": move.gb,
                "p95_of_target_without": None if move.without is None else _finite(move.without),
                "worst_without": None if move.worst is None else problem.vms[move.worst].name,
                "forbidden_without": move.forbidden,
            }
            for move in moves.each
        ],
        "gb": moves.gb,
        "fewest": moves.fewest,
        "p95_of_target_today": moves.today and _finite(moves.today[0]),
        "worst_today": moves.today and problem.vms[moves.today[1]].name,
    }


def _placed(problem: Problem, outcome: Outcome, verdict: Verdict) -> Iterator[Placed]:
    for vm, p95 in verdict.items():
        yield Placed(problem.vms[vm], p95, outcome.limits_ms.get(vm))


def _device(one: Occupied) -> dict[str, Any]:
    return {
        "name": one.device.name,
        "servers": one.device.servers,
        "speed": one.device.speed,
        "load": one.load,
        "vms": [
            {
                "name": placed.vm.name,
                "load": placed.vm.erlangs / one.device.capacity,
                "alone": {"p95_response_ms": placed.vm.alone_ms},
                "target_p95_ms": placed.vm.target_ms,
                "p95_response_ms": _finite(placed.p95.mean_ms),
                "p95_at_most_ms": _finite(placed.p95.most_ms),
                "p95_ci95_ms": placed.limits_ms and [*map(_finite, placed.limits_ms)],
                "meets_target": placed.meets if placed.verified else None,
                "uncertain": placed.uncertain,
            }
            for placed in one.placed
        ],
    }


def _finite(time_ms: float) -> float | None:
    """Return the time, or None if the queue grows without limit, or the time is unknown."""
    return time_ms if isfinite(time_ms) else None
