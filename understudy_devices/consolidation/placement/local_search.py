# SPDX-License-Identifier: MIT
"""Iterated local search (Lourenço, Martin and Stützle 2003) for an assignment with a low worst
ratio of a 95th percentile to its target, by ratios that a function estimates in microseconds.

A step moves a VM out of the worst device, or swaps it for a VM of another device, so that the worse
of both changed devices becomes as good as possible.  Where no step helps, a few random swaps lead
to another start.  VMs that must share a device (a unit) move as one.
"""

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from understudy_devices.consolidation.placement.problem import (
    Assignment,
    Members,
    Problem,
    each,
    together,
)
from understudy_devices.consolidation.placement.today import Limits

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

STEPS = 300  # most steps from a start
CHANGES = 2000  # most changes that a step compares; of more, a random sample
TRIED = 20  # most changes of a step for which a measured ratio is looked up
BETTER = 1 - 1e-6
SWAPS = (1, 2, 3, 5)  # random swaps that lead to another start, in turn

Ratios = Callable[[Array, Ints], Array]
"""(N,), estimated ratios for N sets of VMs, (N, number of VMs), each on a device, (N,)."""

Measured = Callable[[int, Members], float | None]
"""The measured ratio of a set of VMs on a device, or None."""


class LocalSearch:
    """The search; the caller may change what both functions return between two calls."""

    def __init__(self, problem: Problem, ratios: Ratios, measured: Measured, seed: int = 1) -> None:
        """Search with random numbers from the seed."""
        self._problem = problem
        self._ratios = ratios
        self._measured = measured
        self.limits: Limits | None = None
        self._random = np.random.default_rng(seed)
        units = problem.units
        self._units = np.array(
            [[unit >> vm & 1 for vm in range(len(problem.vms))] for unit in units]
        )
        self._first = self._units.argmax(axis=1)

    def improved(self, start: Assignment) -> tuple[Assignment, tuple[float, ...]]:
        """Return the assignment after all steps that help, and its devices' ratios."""
        on = self._matrix(start)
        now = self._of(on)
        for _ in range(STEPS):
            step = self._step(on, now)
            if step is None:
                break
            for device, members, ratio in step:
                on[device], now[device] = members, ratio
        return _assignment(on), tuple(now.tolist())

    def starts(self, near: Assignment, count: int) -> Iterator[Assignment]:
        """Yield the assignment itself, and `count` others near to it."""
        yield near
        for number in range(count):
            of_units = self._where(near)[self._first]
            for _ in range(SWAPS[number % len(SWAPS)]):
                one, other = self._random.integers(len(of_units), size=2)
                of_units[one], of_units[other] = of_units[other], of_units[one]
            if self.limits:
                of_units = self._homewards(of_units, self.limits)
            where = of_units[self._units.argmax(axis=0)]
            yield tuple(together(np.flatnonzero(where == d).tolist()) for d in range(len(near)))

    def _homewards(self, where: Ints, limits: Limits) -> Ints:
        """Return where units are after some that moved, chosen at random, have stayed at home:
        one, and then as many as the limits demand."""
        homes = limits.costs[1].argmin(axis=1)
        rows = np.arange(len(where))
        moved = np.flatnonzero(limits.costs[1, rows, where] > limits.costs[1, rows, homes])
        for unit in self._random.permutation(moved):
            where[unit] = homes[unit]
            if limits.allow(limits.spent(where)):
                break
        return where

    def spread(self) -> Assignment:
        """Return an assignment of equal utilisations: units in descending order of load, each on
        the device whose utilisation with it is lowest, of those that allow it."""
        problem = self._problem
        busy = [0.0] * len(problem.devices)
        members = [0] * len(problem.devices)
        for unit in sorted(problem.units, key=lambda unit: -problem.erlangs(unit)):
            after = [
                (
                    not problem.constraints.allow(d, members[d] | unit),
                    (busy[d] + problem.erlangs(unit)) / device.capacity,
                )
                for d, device in enumerate(problem.devices)
            ]
            best = after.index(min(after))
            busy[best] += problem.erlangs(unit)
            members[best] |= unit
        return tuple(members)

    def _where(self, assignment: Assignment) -> Ints:
        where = np.zeros(len(self._problem.vms), np.int64)
        for device, members in enumerate(assignment):
            where[list(each(members))] = device
        return where

    def _matrix(self, assignment: Assignment) -> Array:
        where = self._where(assignment)
        matrix: Array = (where == np.arange(len(assignment))[:, None]).astype(np.float64)
        return matrix

    def _of(self, on: Array) -> Array:
        ratios = self._ratios(on, np.arange(len(on)))
        known = [self._measured(d, _members(row)) for d, row in enumerate(on)]
        pairs = zip(known, ratios.tolist(), strict=True)
        return np.array([ratio if one is None else one for one, ratio in pairs])

    def _step(self, on: Array, now: Array) -> list[tuple[int, Array, float]] | None:
        """Return the changed devices, each with its VMs and ratio; None if no change helps."""
        worst = int(now.argmax())
        out, into, target = self._changes(on, worst)
        if not len(out):
            return None
        swaps = into >= 0
        leave = self._units[out]
        enter = np.where(swaps[:, None], self._units[into], 0)
        here = on[worst] - leave + enter
        there = on[target] + leave - enter
        left = self._ratios(here, np.full(len(out), worst))
        joined = self._ratios(there, target)
        worse = np.maximum(left, joined)
        for row in np.argsort(worse, kind="stable")[:TRIED].tolist():
            if worse[row] >= now[worst] * BETTER:
                break
            device = int(target[row])
            one = self._measured(worst, _members(here[row]))
            other = self._measured(device, _members(there[row]))
            after = (
                float(left[row]) if one is None else one,
                float(joined[row]) if other is None else other,
            )
            if max(after) < now[worst] * BETTER:
                return [(worst, here[row], after[0]), (device, there[row], after[1])]
        return None

    def _changes(self, on: Array, worst: int) -> tuple[Ints, Ints, Ints]:
        """Return each change: the unit that leaves the device, the unit that replaces it or -1, and
        the other device."""
        on = on[:, self._first]
        inside = np.flatnonzero(on[worst])
        outside = np.flatnonzero(1 - on[worst])
        others = np.array([d for d in range(len(on)) if d != worst], np.int64)
        where = on.argmax(axis=0)
        out = np.concatenate([np.repeat(inside, len(others)), np.repeat(inside, len(outside))])
        into = np.concatenate(
            [np.full(len(inside) * len(others), -1), np.tile(outside, len(inside))]
        )
        target = np.concatenate([np.tile(others, len(inside)), where[into[into >= 0]]])
        if self.limits:
            costs = self.limits.costs
            more = costs[:, out, target] - costs[:, out, worst]
            more += np.where(into >= 0, costs[:, into, worst] - costs[:, into, target], 0)
            allowed = self.limits.allow(self.limits.spent(where)[:, None] + more)
            out, into, target = out[allowed], into[allowed], target[allowed]
        if len(out) > CHANGES:
            chosen = np.sort(self._random.choice(len(out), CHANGES, replace=False))
            return out[chosen], into[chosen], target[chosen]
        return out, into, target


def _members(row: Array) -> Members:
    return together(np.flatnonzero(row).tolist())


def _assignment(on: Array) -> Assignment:
    return tuple(_members(row) for row in on)
