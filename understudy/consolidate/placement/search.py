# SPDX-License-Identifier: MIT
"""Finds an assignment, or says why there is none.

1. What loads alone forbid.
2. Guesses by load (`packing.py`).  A VM is first thought to stand any utilisation below 1; what is
   judged says at which it stood the others and at which it did not, and the next guess heeds that.
   A VM that fails is tried alone: if it fails then too, there is no assignment.
3. The nearest guess is mended by moves and swaps.
4. Every assignment is tried, which finds one, proves that there is none, or takes too long.

The answer depends on nothing but the problem, the judge and the budget.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final, Literal

from understudy.base.progress import Report, silent
from understudy.consolidate.placement import exhaustive, packing
from understudy.consolidate.placement.limits import Limits
from understudy.consolidate.placement.problem import (
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
from understudy.consolidate.placement.repair import neighbours
from understudy.consolidate.placement.verdicts import OutOfBudget, Verdicts

BUDGET = 500  # sets of VMs on a device that are judged
GUESSES = 40
TRIES = 30  # changes to an assignment that may all be worse
WORST = 10.0  # excess beyond which all are alike

Kind = Literal["found", "none exists", "none found"]
FOUND: Final = "found"
IMPOSSIBLE: Final = "none exists"
UNKNOWN: Final = "none found"


@dataclass(frozen=True)
class Outcome:
    """What was found out.

    reason: in a line; empty if an assignment was found.  assignment: that, or the nearest that was
    judged; None if none was.  verdicts: of each device in it.  conflict: VMs that no
    assignment has room for, if that is why.  judged: how many sets of VMs on a device were.
    """

    kind: Kind
    reason: str
    assignment: Assignment | None
    verdicts: tuple[Verdict, ...]
    conflict: Members
    judged: int


def place(problem: Problem, judge: Judge, budget: int = BUDGET, report: Report = silent) -> Outcome:
    """Ask the judge at most `budget` times."""
    return _Search(problem, judge, budget, report).outcome()


class _Search:
    """One search: what is judged, what loads VMs stand, the nearest assignment."""

    def __init__(self, problem: Problem, judge: Judge, budget: int, report: Report) -> None:
        self._problem = problem
        self._verdicts = Verdicts(problem, judge, budget, report)
        self._budget = budget
        self._limits = Limits(problem)
        self._nearest: Assignment | None = None
        self._distance = float("inf")

    def outcome(self) -> Outcome:
        """Step by step, until one knows."""
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
                f"the VMs keep {busy:.4g} servers busy and all devices together have {servers}: "
                "somewhere requests pile up; add servers, or leave VMs out",
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
        """None twice; what was judged of one counts for the next."""
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
        found = self._nearest
        assert found is not None  # there was a guess
        while (device := self._worst(found)) is not None:
            distance = self._distance
            for other in islice(neighbours(self._verdicts, found, device), TRIES):
                if self._distance_of(other) < distance:
                    found = other
                    break
            else:
                return None
        return self._outcome(FOUND, "")

    def _exhausted(self) -> Outcome:
        while found := exhaustive.assign(self._verdicts, self._problem.everyone):
            if self._distance_of(found) == 0:  # judged, not only concluded
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
        """How far it is from one that does; 0 if it does."""
        distance = 0.0
        for device, on in zip(self._problem.devices, assignment, strict=True):
            verdict = self._verdicts.of(device, on)
            self._limits.learn(device, on, verdict)
            distance += min(WORST, excess(self._problem, verdict))
        if distance < self._distance:
            self._nearest, self._distance = assignment, distance
        return distance

    def _worst(self, assignment: Assignment) -> int | None:
        """The device that is furthest from bearing what it has; None if all bear it."""
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
        """What a VM has and what it should have."""
        name, target_ms = self._problem.vms[vm].name, self._problem.vms[vm].target_ms
        load = self._problem.load(device, members)
        if load >= 1:
            return f"{name} asks for {load:.2f} times what {device.name} can do"
        found = self._verdicts.of(device, members)[vm]
        if found.mean_ms == float("inf"):
            return f"requests of {name} pile up"
        sure = f" or up to {found.most_ms:.4g}" if found.mean_ms <= target_ms else ""
        return f"{name} has a p95 of {found.mean_ms:.4g} ms{sure} for {target_ms:.4g}"

    def _so_far(self) -> str:
        """Why nothing is known."""
        looked = self._verdicts.judged
        tried = f"sets of VMs tried on a device: {looked}"
        if self._nearest is None:
            return f"{tried}, which is not enough to judge one assignment; allow more"
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
        found = self._nearest
        verdicts = (
            tuple(map(self._verdicts.of, self._problem.devices, found)) if found is not None else ()
        )
        return Outcome(kind, reason, found, verdicts, conflict, self._verdicts.judged)
