# SPDX-License-Identifier: MIT
"""Guesses the highest device utilisation at which each kind of VM meets its target.

Guesses use earlier judgements.  Between a utilisation u at which a VM met its target and one at
which it did not, the 95th percentile is assumed to grow in proportion to u / (1 - u), as the mean
does in the simplest queue.  A guess only decides what to judge next.
"""

from math import isfinite

from understudy.consolidate.placement.problem import Device, Members, Problem, Verdict, over

SMALLER = 0.95  # the guess, as a fraction of a utilisation that was too high, if no other is known
FULL = 0.995  # as good as 1
INSIDE = 0.1  # least distance of a guess from the two utilisations around it, relative to their gap

Point = tuple[float, float]  # utilisation, 95th percentile in ms
Kind = tuple[str, float]


class Limits:
    """Learns from verdicts."""

    def __init__(self, problem: Problem) -> None:
        """At first only the VMs' figures alone are known."""
        self._problem = problem
        self._stood: dict[Kind, Point] = {}
        self._failed: dict[Kind, Point] = {}

    def learn(self, device: Device, members: Members, verdict: Verdict) -> None:
        """Learn from a judgement of VMs on a device."""
        load = min(1.0, self._problem.load(device, members))
        for vm, found in verdict.items():
            kind, point = self._kind(vm), (load, found.most_ms)
            if over(self._problem, vm, found) <= 0:
                self._stood[kind] = max(point, self._stood.get(kind, point))
            else:
                self._failed[kind] = min(point, self._failed.get(kind, point))

    def likely(self) -> list[float]:
        """The guess for each VM."""
        return [self._likely(vm) for vm in range(len(self._problem.vms))]

    def possible(self) -> list[float]:
        """For each VM, a utilisation just below the lowest one that was too high."""
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
    """The utilisation at which a line through both reaches the target; 1 if it never does."""
    growth = (other[1] - one[1]) / (_waits(other[0]) - _waits(one[0]))
    if growth <= 0:
        return 1.0
    waits = max(0.0, _waits(one[0]) + (target_ms - one[1]) / growth)
    return waits / (1 + waits)


def _waits(load: float) -> float:
    load = min(load, FULL)
    return load / (1 - load)
