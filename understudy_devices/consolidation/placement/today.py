# SPDX-License-Identifier: MIT
"""Where VMs are today, and what it costs to move them.

The cost of a move is the VM's size in GB, or 1 if sizes are unknown.  A VM that is on no device
today is new; to place it is not a move.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

import numpy as np
from numpy.typing import NDArray

from understudy_devices.consolidation.placement.constraints import Members

Array = NDArray[np.float64]

NEW = -1
SLACK = 1e-9  # of a cost, for rounding errors


@dataclass(frozen=True)
class Today:
    """where: the device of each VM, or NEW.  sizes_gb: of each VM; empty if unknown.  most: the
    largest number of moves that is allowed, or None."""

    where: tuple[int, ...]
    sizes_gb: tuple[float, ...] = ()
    most: int | None = None

    def moved(self, assignment: Sequence[Members]) -> list[tuple[int, int]]:
        """Return each VM that moves, with its new device."""
        return [
            (vm, device)
            for vm, home in enumerate(self.where)
            for device, on in enumerate(assignment)
            if home not in (NEW, device) and on >> vm & 1
        ]

    def cost(self, assignment: Sequence[Members]) -> float:
        """Return the cost of all moves."""
        return sum(self._price(vm) for vm, _ in self.moved(assignment))

    def costs(self, units: Sequence[Members], devices: int) -> Array:
        """Return, (2, number of units, devices), the number of moves, and their cost, if a unit is
        on a device."""
        costs = np.zeros((2, len(units), devices))
        for rank, unit in enumerate(units):
            for vm, home in enumerate(self.where):
                if unit >> vm & 1 and home != NEW:
                    price = np.array([[1.0], [self._price(vm)]])
                    costs[:, rank] += price * (np.arange(devices) != home)
        return costs

    def _price(self, vm: int) -> float:
        return self.sizes_gb[vm] if self.sizes_gb else 1.0


@dataclass(frozen=True)
class Move:
    """A VM's move to another device.

    without: the highest ratio of a 95th percentile to its target (upper bounds) on the two devices
    if the VM stayed where it is and all others moved; infinite if requests would pile up, None if
    unknown.  worst: the VM with this ratio, or None.  forbidden: whether a constraint forbids that.
    """

    vm: int
    home: int
    device: int
    gb: float | None
    without: float | None = None
    worst: int | None = None
    forbidden: bool = False


@dataclass(frozen=True)
class Moves:
    """The moves of an assignment.

    fewest: whether every assignment with a lower cost was excluded.  today: the highest ratio of a
    95th percentile to its target today, with its VM; None if it is unknown.
    """

    each: tuple[Move, ...]
    fewest: bool = False
    today: tuple[float, int] | None = None

    @property
    def gb(self) -> float | None:
        """Return the size of all VMs that move, if sizes are known."""
        sizes = [move.gb for move in self.each]
        return None if None in sizes else sum(size or 0 for size in sizes)


@dataclass
class Limits:
    """What assignments may cost: the number of moves (at most), and the cost (at most)."""

    costs: Array
    most: Array

    @classmethod
    def of(cls, today: Today, units: Sequence[Members], devices: int) -> "Limits":
        """Return the limits that the problem has from the start."""
        moves = inf if today.most is None else float(today.most)
        return cls(today.costs(units, devices), np.array([moves, inf]))

    def spent(self, where: NDArray[np.int64]) -> Array:
        """Return, (2,), what it costs that units are on these devices, (number of units,)."""
        spent: Array = self.costs[:, np.arange(len(where)), where].sum(axis=1)
        return spent

    def allow_few(self, few: int) -> bool:
        """Return whether at most so many assignments are within the limits."""
        least = self.costs.min(axis=2)
        reached = np.zeros((1, 2))
        for rank in range(self.costs.shape[1]):
            left = least[:, rank + 1 :].sum(axis=1)
            reached = (reached[:, None] + self.costs[:, rank].T).reshape(-1, 2)
            reached = reached[(reached + left <= self.most + SLACK).all(axis=1)]
            if len(reached) > few:
                return False
        return True

    def allow(self, spent: Array) -> NDArray[np.bool_]:
        """Return, (N,), whether costs, (2, N), are allowed."""
        moves, cost = spent - self.most.reshape(2, *[1] * (spent.ndim - 1)) <= SLACK
        allowed: NDArray[np.bool_] = np.logical_and(moves, cost)
        return allowed
