# SPDX-License-Identifier: MIT
"""Find an assignment's neighbours: one VM of a given device is moved to another device, or swapped
with a VM of another device."""

from collections.abc import Iterator

from understudy_devices.consolidation.placement.problem import Assignment, each
from understudy_devices.consolidation.placement.verdicts import Verdicts


def neighbours(verdicts: Verdicts, assignment: Assignment, device: int) -> Iterator[Assignment]:
    """Yield the neighbours in which the set of VMs on `device` is changed.

    Neighbours are in ascending order of the utilisation of the fuller changed device.  A neighbour
    is left out if the second changed device is known not to bear its new set of VMs.
    """
    problem = verdicts.problem
    ranked = sorted(
        _changed(assignment, device), key=lambda one: _fuller(verdicts, one, assignment)
    )
    for changed in ranked:
        others = (d for d in range(len(assignment)) if d != device and changed[d] != assignment[d])
        if all(verdicts.known(problem.devices[d], changed[d]) is not False for d in others):
            yield changed


def _changed(assignment: Assignment, device: int) -> Iterator[Assignment]:
    for vm in each(assignment[device]):
        for other in range(len(assignment)):
            if other == device:
                continue
            yield _with(assignment, {device: -(1 << vm), other: 1 << vm})
            for partner in each(assignment[other]):
                change = (1 << vm) - (1 << partner)
                yield _with(assignment, {device: -change, other: change})


def _with(assignment: Assignment, change: dict[int, int]) -> Assignment:
    return tuple(on + change.get(d, 0) for d, on in enumerate(assignment))


def _fuller(verdicts: Verdicts, changed: Assignment, assignment: Assignment) -> float:
    """Return the utilisation of the fuller of the two changed devices after the change."""
    pairs = zip(verdicts.problem.devices, changed, assignment, strict=True)
    return max(verdicts.problem.load(device, on) for device, on, was in pairs if on != was)
