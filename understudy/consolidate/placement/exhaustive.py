# SPDX-License-Identifier: MIT
"""Tries all assignments if necessary: finds one or shows that there is none.

The search is depth first; the next VM is the one with the fewest possible devices.  Assignments
that differ only in equal VMs, or equal devices, count as one.
"""

from collections.abc import Iterator

from understudy.consolidate.placement.problem import Assignment, Members, Problem, each
from understudy.consolidate.placement.verdicts import OutOfBudget, Verdicts

LOOKS = 3_000_000  # limit of a search: tries of a VM on a device


def assign(verdicts: Verdicts, members: Members, looks: int = LOOKS) -> Assignment | None:
    """An assignment of these VMs; None if there is none, OutOfBudget if it took too long."""
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
    """A small subset of VMs that can't be placed, among VMs that can't be placed.

    Tries to leave out each VM, the smallest first, and keeps a VM if that takes too long.  Also
    returns True if the rest can be placed whenever one VM of the subset is left out.
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
    """Assignments with one more VM, the device with most room last; none if a VM has no device."""
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
    """The devices that are not known to be impossible for the VM."""
    return [
        d
        for d, device in enumerate(verdicts.problem.devices)
        if verdicts.known(device, found[d] | 1 << vm) is not False
    ]


def _signature(problem: Problem, found: Assignment) -> Assignment:
    """A key that is the same for equivalent assignments."""
    alike = [
        (device.servers, problem.canonical(on))
        for device, on in zip(problem.devices, found, strict=True)
    ]
    return tuple(value for pair in sorted(alike) for value in pair)
