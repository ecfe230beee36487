# SPDX-License-Identifier: MIT
"""Find an assignment's neighbours: one VM of a given device is moved to another device, or swapped
with a VM of another device."""

from collections.abc import Iterator

from understudy.consolidate.placement.problem import Assignment, each
from understudy.consolidate.placement.verdicts import Verdicts


def neighbours(verdicts: Verdicts, found: Assignment, device: int) -> Iterator[Assignment]:
    """Yield the neighbours in which the set of VMs on `device` is changed.

    Neighbours are in ascending order of the utilisation of the fuller changed device.  A neighbour
    is left out if the second changed device is known not to bear its new set of VMs.
    """
    problem = verdicts.problem
    ranked = sorted(_changed(found, device), key=lambda one: _fuller(verdicts, one, found))
    for changed in ranked:
        others = (d for d in range(len(found)) if d != device and changed[d] != found[d])
        if all(verdicts.known(problem.devices[d], changed[d]) is not False for d in others):
            yield changed


def _changed(found: Assignment, device: int) -> Iterator[Assignment]:
    for vm in each(found[device]):
        for other in range(len(found)):
            if other == device:
                continue
            yield _with(found, {device: -(1 << vm), other: 1 << vm})
            for taken in each(found[other]):
                change = (1 << vm) - (1 << taken)
                yield _with(found, {device: -change, other: change})


def _with(found: Assignment, change: dict[int, int]) -> Assignment:
    return tuple(on + change.get(d, 0) for d, on in enumerate(found))


def _fuller(verdicts: Verdicts, changed: Assignment, found: Assignment) -> float:
    """Return the utilisation of the fuller of the two changed devices after the change."""
    pairs = zip(verdicts.problem.devices, changed, found, strict=True)
    return max(verdicts.problem.load(device, on) for device, on, was in pairs if on != was)
