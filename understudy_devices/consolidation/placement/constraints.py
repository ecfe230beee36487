# SPDX-License-Identifier: MIT
"""Constraints on an assignment, besides targets: capacities, and VMs that must or must not share a
device.

VMs that must share a device are one *unit*; each other VM is a unit of its own.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
Members = int  # a set of VMs, with a bit for each VM


@dataclass(frozen=True)
class Constraints:
    """Devices and VMs are indices of a problem's devices and VMs.

    capacities_gb: of each device; empty if there is no limit.  sizes_gb: of each VM; empty only if
    there are no capacities.  together: disjoint sets of VMs that must share a device.  apart: sets
    of VMs, no two of which may share a device.
    """

    capacities_gb: tuple[float, ...] = ()
    sizes_gb: tuple[float, ...] = ()
    together: tuple[Members, ...] = ()
    apart: tuple[Members, ...] = ()

    def __bool__(self) -> bool:
        """Return whether there is any constraint."""
        return bool(self.capacities_gb or self.together or self.apart)

    def units(self, vms: int) -> list[Members]:
        """Return the units of VMs 0 to vms - 1, in the order of their first VMs."""
        grouped = merged(self.together)
        alone = [1 << vm for vm in range(vms) if not any(unit >> vm & 1 for unit in grouped)]
        return sorted([*grouped, *alone], key=lambda unit: unit & -unit)

    def size_gb(self, members: Members) -> float:
        """Return the size of these VMs; 0 if sizes are unknown."""
        return sum(size for vm, size in enumerate(self.sizes_gb) if members >> vm & 1)

    def allow(self, device: int, members: Members) -> bool:
        """Return whether the device has room for the VMs, and no two of them must be apart."""
        if any((members & group).bit_count() > 1 for group in self.apart):
            return False
        return not self.capacities_gb or self.size_gb(members) <= self.capacities_gb[device]

    def allow_all(self, assignment: Sequence[Members]) -> bool:
        """Return whether the assignment meets every constraint."""
        return all(self.allow(d, on) for d, on in enumerate(assignment)) and all(
            any(on & unit == unit for on in assignment) for unit in self.together
        )

    def excess(self, on: Array, devices: Ints) -> Array:
        """Return, (N,), by how much sets of VMs, (N, number of VMs), exceed what devices, (N,),
        allow: 0 if they are allowed."""
        total = np.zeros(len(on))
        if self.capacities_gb:
            full = on @ np.array(self.sizes_gb) / np.array(self.capacities_gb)[devices]
            total += np.maximum(full - 1, 0)
        for group in self.apart:
            rows = [vm for vm in range(on.shape[1]) if group >> vm & 1]
            total += np.maximum(on[:, rows].sum(axis=1) - 1, 0)
        return total

    def distinguish(self, vm: int) -> tuple[float, int]:
        """Return a key in which VMs differ that are not interchangeable under the constraints."""
        named = any(group >> vm & 1 for group in (*self.together, *self.apart))
        return (self.sizes_gb[vm] if self.sizes_gb else 0.0, vm if named else -1)


def merged(groups: Iterable[Members]) -> tuple[Members, ...]:
    """Return disjoint sets: sets with a common VM become one."""
    disjoint: list[Members] = []
    for group in groups:
        for other in [one for one in disjoint if one & group]:
            disjoint.remove(other)
            group |= other
        disjoint.append(group)
    return tuple(sorted(disjoint, key=lambda group: group & -group))
