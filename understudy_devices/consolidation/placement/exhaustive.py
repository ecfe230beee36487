# SPDX-License-Identifier: MIT
"""Search all assignments, if necessary, for one in which every device can bear its VMs, and that
meets the problem's constraints.

The search is depth-first.  At each step it places the VM with the fewest possible devices, and the
VMs that must share a device with it.  Of assignments that differ only by exchanging equal VMs or
equal devices, the search tries only one.
"""

from collections.abc import Callable, Iterator

from understudy_devices.consolidation.placement.problem import Assignment, Members, Problem, each
from understudy_devices.consolidation.placement.verdicts import OutOfBudget, Verdicts

LOOKS = 3_000_000  # most pairs of a VM and a device that a search tries


def assign(
    verdicts: Verdicts,
    members: Members,
    looks: int = LOOKS,
    within: Callable[[Assignment], bool] | None = None,
) -> Assignment | None:
    """Return an assignment of these VMs, or None if there is none.

    Raise OutOfBudget if the search takes too long.  within: what an assignment has to meet, also
    one of only some of the VMs.  Then all VMs and devices are different.
    """
    problem = verdicts.problem
    stack: list[Assignment] = [(0,) * len(problem.devices)]
    seen: set[tuple[float, ...]] = set()
    for _ in range(looks // (len(problem.vms) * len(problem.devices))):
        if not stack:
            return None
        assignment = stack.pop()
        left = members & ~_placed(assignment)
        if not all(map(verdicts.fits, problem.devices, assignment)):
            continue
        if not left:
            return assignment
        for child in _children(verdicts, assignment, left):
            if within and not within(child):
                continue
            signature = child if within else _signature(problem, child)
            if signature not in seen:
                seen.add(signature)
                stack.append(child)
    raise OutOfBudget


def conflict(verdicts: Verdicts, members: Members) -> tuple[Members, bool]:
    """Return a small subset that can't be placed; the set `members` itself must not be placeable.

    The function tries to leave out each VM, the smallest VM first.  If a trial takes too long, the
    VM stays in the subset.  The second result is true if no trial took too long; then the subset
    becomes placeable when any one of its VMs is left out.
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


def _placed(assignment: Assignment) -> Members:
    placed = 0
    for on in assignment:
        placed |= on
    return placed


def _children(verdicts: Verdicts, assignment: Assignment, left: Members) -> Iterator[Assignment]:
    """Yield each assignment that places one more VM; yield nothing if a VM has no possible device.

    The device with the most room comes last, so that it is tried first.
    """
    problem = verdicts.problem
    rooms = [
        device.capacity - problem.erlangs(on)
        for device, on in zip(problem.devices, assignment, strict=True)
    ]
    if problem.erlangs(left) >= sum(rooms):
        return
    choices = {
        unit & left: _choices(verdicts, assignment, unit & left)
        for unit in problem.units
        if unit & left
    }
    unit = min(choices, key=lambda unit: (len(choices[unit]), -problem.erlangs(unit)))
    for d in sorted(choices[unit], key=lambda d: rooms[d]):
        yield (*assignment[:d], assignment[d] | unit, *assignment[d + 1 :])


def _choices(verdicts: Verdicts, assignment: Assignment, unit: Members) -> list[int]:
    """Return the devices that may be able to bear these VMs in addition to their VMs."""
    problem = verdicts.problem
    return [
        d
        for d, device in enumerate(problem.devices)
        if problem.constraints.allow(d, assignment[d] | unit)
        and verdicts.known(device, assignment[d] | unit) is not False
    ]


def _signature(problem: Problem, assignment: Assignment) -> tuple[float, ...]:
    """Return a key that is the same for equivalent assignments."""
    capacities = problem.constraints.capacities_gb or (0.0,) * len(assignment)
    alike = [
        (*device.kind, capacity, problem.interchanged(on))
        for device, capacity, on in zip(problem.devices, capacities, assignment, strict=True)
    ]
    return tuple(value for pair in sorted(alike) for value in pair)
