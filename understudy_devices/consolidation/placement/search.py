# SPDX-License-Identifier: MIT
"""Find an assignment, or say why there is none.

1. Refuse a problem that is impossible by load alone.
2. Guess assignments by load (`packing.py`).  The first guess only keeps the utilisation of every
   device below 1.  Each judgement shows at which utilisations VMs meet or miss their targets, and
   later guesses use this.  A VM that misses its target is also judged alone on the largest device:
   if it misses its target there too, there is no assignment.
3. Repair the best guess by moving and swapping VMs (`repair.py`).
4. Try every assignment (`exhaustive.py`).  This step finds an assignment, proves that there is
   none, or gives up after too many tries.

The answer depends only on the problem, the judge and the budget.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final, Literal

from understudy_devices.base.progress import Report, silent
from understudy_devices.consolidation.placement import exhaustive, packing
from understudy_devices.consolidation.placement.limits import Limits
from understudy_devices.consolidation.placement.problem import (
    Assignment,
    Device,
    Judge,
    Members,
    Problem,
    Verdict,
    each,
    excess,
    listed,
    over,
)
from understudy_devices.consolidation.placement.repair import neighbours
from understudy_devices.consolidation.placement.verdicts import OutOfBudget, Verdicts

BUDGET = 500  # most judgements, each of a set of VMs on a device
GUESSES = 40
TRIES = 30  # most changes to an assignment without an improvement
WORST = 10.0  # a larger excess counts as this value

Kind = Literal["found", "none exists", "none found"]
FOUND: Final = "found"
IMPOSSIBLE: Final = "none exists"
UNKNOWN: Final = "none found"


@dataclass(frozen=True)
class Outcome:
    """The result of a search.

    reason: why no assignment was found, in one line; empty if an assignment was found.
    assignment: the assignment found or, if none was found, the judged assignment nearest to the
    targets; None if no assignment was judged.  verdicts: the verdict on each device of that
    assignment.  conflict: VMs that can't be placed together, if they are the reason.  judged: the
    number of judgements.
    """

    kind: Kind
    reason: str
    assignment: Assignment | None
    verdicts: tuple[Verdict, ...]
    conflict: Members
    judged: int


def place(problem: Problem, judge: Judge, budget: int = BUDGET, report: Report = silent) -> Outcome:
    """Search for an assignment; ask the judge at most `budget` times."""
    return _Search(problem, judge, budget, report).outcome()


class _Search:
    """One search: its judgements, the VMs' limits, and the assignment nearest to the targets."""

    def __init__(self, problem: Problem, judge: Judge, budget: int, report: Report) -> None:
        self._problem = problem
        self._verdicts = Verdicts(problem, judge, budget, report)
        self._budget = budget
        self._limits = Limits(problem)
        self._nearest: Assignment | None = None
        self._distance = float("inf")

    def outcome(self) -> Outcome:
        """Carry out the steps in order until a step finds an answer."""
        try:
            return self._by_load() or self._guessed() or self._mended() or self._exhausted()
        except OutOfBudget:
            return self._outcome(UNKNOWN, self._so_far())

    def _by_load(self) -> Outcome | None:
        problem = self._problem
        busy = problem.erlangs(problem.everyone)
        servers = sum(device.servers for device in problem.devices)
        if busy >= servers:
            return self._outcome(
                IMPOSSIBLE,
                f"the VMs keep {busy:.4g} servers busy, but all devices together have {servers}: "
                "on some device requests pile up; add servers, or leave VMs out",
            )
        alone = [vm for vm in each(problem.everyone) if problem.load(problem.largest, 1 << vm) >= 1]
        return self._lonely(alone) if alone else None

    def _guessed(self) -> Outcome | None:
        for guess in self._guesses():
            if self._distance_of(guess) == 0:
                return self._outcome(FOUND, "")
            failing = self._failing(guess)
            largest = self._problem.largest
            alone = [vm for vm in failing if not self._verdicts.fits(largest, 1 << vm)]
            if alone:
                return self._lonely(alone)
        return None

    def _guesses(self) -> Iterator[Assignment]:
        """Yield guesses without duplicates; the judgements of one guess improve the next guess."""
        tried: set[Assignment] = set()
        before: Assignment | None = None
        for _ in range(GUESSES):
            guess = packing.pack(self._problem, self._limits.likely(), before)
            if guess in tried:
                guess = packing.pack(self._problem, self._limits.possible(), before)
            if guess in tried:
                return
            tried.add(guess)
            yield guess
            before = guess

    def _mended(self) -> Outcome | None:
        nearest = self._nearest
        assert nearest is not None  # there was at least one guess
        while (device := self._worst(nearest)) is not None:
            distance = self._distance
            for other in islice(neighbours(self._verdicts, nearest, device), TRIES):
                if self._distance_of(other) < distance:
                    nearest = other
                    break
            else:
                return None
        return self._outcome(FOUND, "")

    def _exhausted(self) -> Outcome:
        while assignment := exhaustive.assign(self._verdicts, self._problem.everyone):
            # At distance 0, every set was judged, not only concluded to fit.
            if self._distance_of(assignment) == 0:
                return self._outcome(FOUND, "")
        members, sure = exhaustive.conflict(self._verdicts, self._problem.everyone)
        names = listed([self._problem.vms[vm].name for vm in each(members)])
        fewest = "there is one if any of them is left out" if sure else "perhaps of fewer of them"
        unsure = self._verdicts.unsure
        doubt = f"; {unsure} sets of VMs failed by less than is certain" if unsure else ""
        return self._outcome(
            IMPOSSIBLE,
            f"in every assignment of {names} ({members.bit_count()} VMs) one misses its target; "
            f"{fewest}{doubt}; add servers, or relax a target",
            members,
        )

    def _distance_of(self, assignment: Assignment) -> float:
        """Return how far an assignment is from meeting all targets; 0 if it meets all targets."""
        distance = 0.0
        for device, on in zip(self._problem.devices, assignment, strict=True):
            verdict = self._verdicts.of(device, on)
            self._limits.learn(device, on, verdict)
            distance += min(WORST, excess(self._problem, verdict))
        if distance < self._distance:
            self._nearest, self._distance = assignment, distance
        return distance

    def _worst(self, assignment: Assignment) -> int | None:
        """Return the index of the device whose VMs miss their targets by the largest fraction.

        Return None if no VM misses its target.
        """
        pairs = zip(self._problem.devices, assignment, strict=True)
        far = [excess(self._problem, self._verdicts.of(*pair)) for pair in pairs]
        return far.index(max(far)) if max(far) > 0 else None

    def _failing(self, assignment: Assignment) -> list[int]:
        pairs = zip(self._problem.devices, assignment, strict=True)
        verdicts = [self._verdicts.of(*pair) for pair in pairs]
        return [
            vm
            for verdict in verdicts
            for vm, one in verdict.items()
            if over(self._problem, vm, one) > 0
        ]

    def _lonely(self, vms: list[int]) -> Outcome:
        largest = self._problem.largest
        alike = {self._problem.canonical(1 << vm): vm for vm in reversed(vms)}
        words = [self._words(largest, 1 << vm, vm) for vm in sorted(alike.values())]
        return self._outcome(
            IMPOSSIBLE,
            f"even alone on {largest.name}, which has the most servers: {listed(words, 5)}; relax "
            "that target, or find a larger device",
            1 << vms[0],
        )

    def _words(self, device: Device, members: Members, vm: int) -> str:
        """Return a VM's 95th percentile and its target, in words."""
        name, target_ms = self._problem.vms[vm].name, self._problem.vms[vm].target_ms
        load = self._problem.load(device, members)
        if load >= 1:
            return f"{name} asks for {load:.2f} times what {device.name} can do"
        p95 = self._verdicts.of(device, members)[vm]
        if p95.mean_ms == float("inf"):
            return f"requests of {name} pile up"
        sure = f" or up to {p95.most_ms:.4g}" if p95.mean_ms <= target_ms else ""
        return f"{name} has a p95 of {p95.mean_ms:.4g} ms{sure} for {target_ms:.4g}"

    def _so_far(self) -> str:
        """Return why the search has no answer."""
        looked = self._verdicts.judged
        tried = f"sets of VMs tried on a device: {looked}"
        if self._nearest is None:
            return f"{tried}, too few to judge one assignment; allow more"
        failing = self._failing(self._nearest)
        worst = self._worst(self._nearest)
        assert worst is not None
        device, on = self._problem.devices[worst], self._nearest[worst]
        verdict = self._verdicts.of(device, on)
        vm = max(verdict, key=lambda vm: over(self._problem, vm, verdict[vm]))
        hint = (
            "there may be one: allow more tries"
            if looked >= self._budget
            else "there may be one, but there are too many assignments to try them all"
        )
        return (
            f"{tried}; in the nearest assignment {len(failing)} of {len(self._problem.vms)} VMs "
            f"miss their target, the worst on {device.name}: {self._words(device, on, vm)}; {hint}"
        )

    def _outcome(self, kind: Kind, reason: str, conflict: Members = 0) -> Outcome:
        nearest = self._nearest
        verdicts = (
            tuple(map(self._verdicts.of, self._problem.devices, nearest))
            if nearest is not None
            else ()
        )
        return Outcome(kind, reason, nearest, verdicts, conflict, self._verdicts.judged)
