# SPDX-License-Identifier: MIT
"""Every assignment, if need be: finds one or shows that there is none.

Depth first, next the VM with the fewest devices left to it.  Assignments that differ only in alike
VMs, or alike devices, are one.
"""

from collections.abc import Iterator

from understudy.consolidate.placement.problem import Assignment, Members, Problem, each
from understudy.consolidate.placement.verdicts import OutOfBudget, Verdicts

LOOKS = 3_000_000  # at a VM beside those of a device, in one search


def assign(verdicts: Verdicts, members: Members, looks: int = LOOKS) -> Assignment | None:
    """Where these VMs may go; None if nowhere, OutOfBudget if that took too long to find out."""
    problem = verdicts.problem
    stack: list[Assignment] = [(0,) * len(problem.devices)]
    seen = set(stack)
    for _ in range(looks // (len(problem.vms) * len(problem.devices))):
        if not stack:
            return None
        found = stack.pop()
        left = members & ~_placed(found)
        if not all(map(verdicts.fits, problem.devices, found)):
            continue
        if not left:
            return found
        for child in _children(verdicts, found, left):
            signature = _signature(problem, child)
            if signature not in seen:
                seen.add(signature)
                stack.append(child)
    raise OutOfBudget


def conflict(verdicts: Verdicts, members: Members) -> tuple[Members, bool]:
    """Of VMs that can't be placed, few that can't either; True if without any of them all can.

    Tries to do without each VM, the smallest first, and keeps it if that takes too long.
    """
    problem, sure = verdicts.problem, True
    looks = LOOKS // members.bit_count()
    for vm in sorted(each(members), key=lambda vm: problem.vms[vm].erlangs):
        fewer = members & ~(1 << vm)
        try:
            if fewer and assign(verdicts, fewer, looks) is None:
                members = fewer
        except OutOfBudget:
            sure = False
    return members, sure


def _placed(found: Assignment) -> Members:
    placed = 0
    for on in found:
        placed |= on
    return placed


def _children(verdicts: Verdicts, found: Assignment, left: Members) -> Iterator[Assignment]:
    """With one VM more, the device with the most room last; none if some VM has no device left."""
    problem = verdicts.problem
    rooms = [
        device.servers - problem.erlangs(on)
        for device, on in zip(problem.devices, found, strict=True)
    ]
    if problem.erlangs(left) >= sum(rooms):
        return
    choices = {vm: _choices(verdicts, found, vm) for vm in each(left)}
    vm = min(choices, key=lambda vm: (len(choices[vm]), -problem.vms[vm].erlangs))
    for d in sorted(choices[vm], key=lambda d: rooms[d]):
        yield (*found[:d], found[d] | 1 << vm, *found[d + 1 :])


def _choices(verdicts: Verdicts, found: Assignment, vm: int) -> list[int]:
    """Devices that are not known to be wrong for it."""
    return [
        d
        for d, device in enumerate(verdicts.problem.devices)
        if verdicts.known(device, found[d] | 1 << vm) is not False
    ]


def _signature(problem: Problem, found: Assignment) -> Assignment:
    """The same for assignments that differ in nothing that matters."""
    alike = [
        (device.servers, problem.canonical(on))
        for device, on in zip(problem.devices, found, strict=True)
    ]
    return tuple(value for pair in sorted(alike) for value in pair)
