# SPDX-License-Identifier: MIT
"""Guess an assignment from loads alone: each VM has a limit for its device's utilisation.

A device's fullness is its utilisation divided by the lowest limit of its VMs.  The search moves
VMs out of the fullest device, or exchanges them for VMs of other devices.  As a result, VMs with
low limits share devices.  VMs that must share a device are packed as one; the other constraints
are ignored.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from understudy_devices.consolidation.placement.problem import (
    Assignment,
    Members,
    Problem,
    each,
    together,
)
from understudy_devices.consolidation.placement.segments import cut

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

STEPS = 2000
BETTER = 1 - 1e-9


def pack(problem: Problem, limits: Sequence[float], before: Assignment | None = None) -> Assignment:
    """Return an assignment within every VM's limit or, if none is found, the best one found.

    limits: each VM's limit for its device's utilisation, above 0.  before: an assignment to change
    as little as possible.
    """
    units = problem.units
    if len(units) < len(problem.vms):
        lowest = [min(limits[vm] for vm in each(unit)) for unit in units]
        packed = pack(_of_units(problem), lowest, before and _by_unit(units, before))
        return tuple(sum(units[rank] for rank in each(on)) for on in packed)
    starts = [_spread(problem), cut(problem, limits)]
    if before is not None:
        starts.insert(0, _places(problem, before))
    packings = []
    for start in starts:
        packing = _Packing(problem, np.array(limits), start).improved()
        packings.append(packing)
        if before is not None and packing.fullest <= 1:
            break
    return min(packings, key=lambda packing: packing.fullest).assignment


def _of_units(problem: Problem) -> Problem:
    """Return the problem in which each unit is a VM, without constraints."""
    demands = [
        replace(problem.vms[min(each(unit))], erlangs=problem.erlangs(unit))
        for unit in problem.units
    ]
    return Problem(tuple(demands), problem.devices)


def _by_unit(units: Sequence[Members], assignment: Assignment) -> Assignment:
    return tuple(
        together(rank for rank, unit in enumerate(units) if on & unit & -unit) for on in assignment
    )


def _places(problem: Problem, assignment: Assignment) -> list[int]:
    where = {vm: device for device, on in enumerate(assignment) for vm in each(on)}
    return [where[vm] for vm in range(len(problem.vms))]


def _spread(problem: Problem) -> list[int]:
    """Return the device of each VM. VMs are placed in descending order of load, each on the device
    whose utilisation with this VM is lowest."""
    busy = [0.0] * len(problem.devices)
    where: dict[int, int] = {}
    for vm in sorted(range(len(problem.vms)), key=lambda vm: -problem.vms[vm].erlangs):
        after = [
            (busy[d] + problem.vms[vm].erlangs) / device.capacity
            for d, device in enumerate(problem.devices)
        ]
        where[vm] = after.index(min(after))
        busy[where[vm]] += problem.vms[vm].erlangs
    return [where[vm] for vm in range(len(problem.vms))]


class _Packing:
    """An assignment that is being improved."""

    def __init__(self, problem: Problem, limits: Array, where: Sequence[int]) -> None:
        self._erlangs = np.array([vm.erlangs for vm in problem.vms])
        self._capacities = np.array([device.capacity for device in problem.devices])
        self._limits = limits
        self._where = np.array(where, dtype=np.int64)

    @property
    def assignment(self) -> Assignment:
        """Return the VMs on each device."""
        return tuple(together(self._on(d).tolist()) for d in range(len(self._capacities)))

    @property
    def fullest(self) -> float:
        """Return the fullness of the fullest device."""
        return float(self._full().max())

    def improved(self) -> "_Packing":
        """Improve until no device is too full, or until no change relieves the fullest device."""
        for _ in range(STEPS):
            full = self._full()
            device = int(full.argmax())
            if full[device] <= 1 or not self._relieve(device, full[device] * BETTER):
                break
        return self

    def _on(self, device: int) -> Ints:
        return np.flatnonzero(self._where == device)

    def _full(self) -> Array:
        return self._busy() / (self._capacities * self._least(self._limits, np.inf))

    def _busy(self) -> Array:
        busy = np.zeros(len(self._capacities))
        np.add.at(busy, self._where, self._erlangs)
        return busy

    def _least(self, limits: Array, empty: float) -> Array:
        """Return the smallest limit of the VMs on each device."""
        least = np.full(len(self._capacities), empty)
        np.minimum.at(least, self._where, limits)
        return least

    def _without(self) -> Array:
        """Return, for each VM, the smallest limit of the other VMs on its device."""
        order = np.lexsort((self._limits, self._where))
        where, limits = self._where[order], self._limits[order]
        begins = np.flatnonzero(np.append(True, where[1:] != where[:-1]))
        others = np.empty(len(order))
        others[order] = self._least(self._limits, np.inf)[where]
        second = np.full(len(order), np.inf)
        second[:-1] = np.where(where[1:] == where[:-1], limits[1:], np.inf)
        others[order[begins]] = second[begins]
        return others

    def _relieve(self, device: int, below: float) -> bool:
        """Make the best move or swap of a VM out of the device; return whether one was made.

        Make none if the fullness of either device would then be above `below`.
        """
        inside, outside = self._on(device), np.flatnonzero(self._where != device)
        others = self._without()
        moved, target = self._best_move(inside, device, others)
        swapped = (
            self._best_swap(inside, outside, device, others) if len(outside) else (np.inf, 0, 0)
        )
        if min(moved, swapped[0]) > below:
            return False
        if moved <= swapped[0]:
            self._where[target[0]] = target[1]
        else:
            one, other = swapped[1:]
            self._where[one], self._where[other] = self._where[other], self._where[one]
        return True

    def _best_move(self, inside: Ints, device: int, others: Array) -> tuple[float, tuple[int, int]]:
        busy, least = self._busy(), self._least(self._limits, np.inf)
        erlangs, limits = self._erlangs[inside, None], self._limits[inside, None]
        left = (busy[device] - erlangs) / (self._capacities[device] * others[inside, None])
        joined = (busy + erlangs) / (self._capacities * np.minimum(least, limits))
        after = np.maximum(left, joined)
        after[:, device] = np.inf
        row, column = np.unravel_index(int(after.argmin()), after.shape)
        return float(after[row, column]), (int(inside[row]), int(column))

    def _best_swap(
        self, inside: Ints, outside: Ints, device: int, others: Array
    ) -> tuple[float, int, int]:
        busy, there = self._busy(), self._where[outside]
        change = self._erlangs[outside] - self._erlangs[inside, None]
        least_here = np.minimum(others[inside, None], self._limits[outside])
        least_there = np.minimum(others[outside], self._limits[inside, None])
        here = (busy[device] + change) / (self._capacities[device] * least_here)
        after = np.maximum(here, (busy[there] - change) / (self._capacities[there] * least_there))
        row, column = np.unravel_index(int(after.argmin()), after.shape)
        return float(after[row, column]), int(inside[row]), int(outside[column])
