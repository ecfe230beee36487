# SPDX-License-Identifier: MIT
"""Guess the highest device utilisation at which each kind of VM meets its target.

Guesses use earlier judgements.  Each guess lies between a utilisation at which a VM met its target
and a utilisation at which it did not.  Between these two, the 95th percentile is assumed to be
linear in u / (1 - u), where u is the utilisation; in an M/M/1 queue the mean response time is.  A
guess only decides which assignment is judged next.
"""

from math import isfinite

from understudy_devices.consolidation.placement.problem import (
    Device,
    Members,
    Problem,
    Verdict,
    over,
)

SMALLER = 0.95  # guess, as a fraction of the only known utilisation, if this was too high
FULL = 0.995  # a utilisation that counts as 1
INSIDE = 0.1  # least distance of a guess from its two bounds, as a fraction of their difference

Point = tuple[float, float]  # utilisation, 95th percentile in ms
Kind = tuple[str, float]


class Limits:
    """Guesses of the highest utilisation at which each VM meets its target, learnt from
    verdicts."""

    def __init__(self, problem: Problem) -> None:
        """Start from the 95th percentiles of VMs that run alone."""
        self._problem = problem
        self._stood: dict[Kind, Point] = {}
        self._failed: dict[Kind, Point] = {}

    def learn(self, device: Device, members: Members, verdict: Verdict) -> None:
        """Learn from the verdict on VMs that share a device."""
        load = min(1.0, self._problem.load(device, members))
        for vm, p95 in verdict.items():
            kind, point = self._kind(vm), (load, p95.most_ms)
            if over(self._problem, vm, p95) <= 0:
                self._stood[kind] = max(point, self._stood.get(kind, point))
            else:
                self._failed[kind] = min(point, self._failed.get(kind, point))

    def likely(self) -> list[float]:
        """Return the guessed utilisation for each VM."""
        return [self._likely(vm) for vm in range(len(self._problem.vms))]

    def possible(self) -> list[float]:
        """Return, for each VM, a utilisation just below the lowest one at which the VM is known to
        miss its target, or 1 if none is known."""
        kinds = map(self._kind, range(len(self._problem.vms)))
        return [FULL * self._failed[kind][0] if kind in self._failed else 1.0 for kind in kinds]

    def _likely(self, vm: int) -> float:
        kind, alone = self._kind(vm), (0.0, self._problem.vms[vm].alone_ms)
        stood, failed = self._stood.get(kind), self._failed.get(kind)
        if failed is None:
            return 1.0 if stood is None else _between(alone, stood, self._problem.vms[vm].target_ms)
        low = stood or alone
        if low[0] >= failed[0] or not isfinite(failed[1]):
            return SMALLER * failed[0]
        guess = _between(low, failed, self._problem.vms[vm].target_ms)
        edge = INSIDE * (failed[0] - low[0])
        return min(max(guess, low[0] + edge), failed[0] - edge)

    def _kind(self, vm: int) -> Kind:
        return (self._problem.vms[vm].kind, self._problem.vms[vm].target_ms)


def _between(one: Point, other: Point, target_ms: float) -> float:
    """Return the utilisation at which a line through both points reaches the target.

    Return 1 if the line never reaches the target.
    """
    growth = (other[1] - one[1]) / (_waits(other[0]) - _waits(one[0]))
    if growth <= 0:
        return 1.0
    waits = max(0.0, _waits(one[0]) + (target_ms - one[1]) / growth)
    return waits / (1 + waits)


def _waits(load: float) -> float:
    load = min(load, FULL)
    return load / (1 - load)
