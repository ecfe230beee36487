# SPDX-License-Identifier: MIT
"""Find an assignment that meets all targets with moves from today's devices that cost least.

1. If today's assignment meets all targets, nothing moves.
2. Otherwise the search of `search.py` begins with today's assignment, with at most as many moves as
   allowed.
3. From the assignment that it finds, each move is taken back that is not needed.  Then the search
   begins again, for an assignment with a lower cost, until it finds none.
4. If there are few assignments with a lower cost, all of them are tried (`exhaustive.py`).

Without an answer, the result is the nearest assignment with at most as many moves as allowed.
"""

from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace

import numpy as np

from understudy_devices.base.progress import Report, silent
from understudy_devices.base.stopping import Stopped
from understudy_devices.consolidation.placement import exhaustive
from understudy_devices.consolidation.placement.problem import (
    Assignment,
    Judge,
    Members,
    Problem,
    Sketch,
    bound,
    each,
)
from understudy_devices.consolidation.placement.search import (
    BUDGET,
    FOUND,
    IMPOSSIBLE,
    PAUSE,
    STALE,
    STARTS,
    Outcome,
    Searching,
    Stops,
)
from understudy_devices.consolidation.placement.today import NEW, SLACK, Limits, Move, Moves, Today
from understudy_devices.consolidation.placement.verdicts import OutOfBudget

LOWER = 20  # assignments without an improvement, after which a search for a lower cost ends
FEW = 5_000  # assignments with a lower cost that are tried one by one
LESS = 1e-6  # by how much a cost has to be lower, as a fraction


def place(
    problem: Problem,
    today: Today,
    judge: Judge,
    budget: int = BUDGET,
    report: Report = silent,
    sketch: Sketch | None = None,
    stops: Stops = nullcontext,
) -> Outcome:
    """Search for an assignment; ask the judge, and for sketches, at most `budget` times."""
    search = _Moving(problem, today, judge, budget, report, sketch)
    try:
        with stops():
            outcome = search.outcome()
            return replace(outcome, moves=search.moves(outcome))
    except Stopped:
        outcome = search.so_far()
        return replace(outcome, moves=search.moves(outcome, known=True))


class _Moving(Searching):
    """A search that prefers assignments near to today's."""

    def __init__(
        self,
        problem: Problem,
        today: Today,
        judge: Judge,
        budget: int,
        report: Report,
        sketch: Sketch | None,
    ) -> None:
        super().__init__(problem, judge, budget, report, sketch)
        self._today = today
        self._limits = Limits.of(today, problem.units, len(problem.devices))
        self._search.limits = self._limits
        self._start = self._at_home()
        self._fewest = False

    def moves(self, outcome: Outcome, *, known: bool = False) -> Moves:
        """Return the moves of the outcome's assignment; known: without another judgement."""
        today = None
        if NEW not in self._today.where:
            today = self._highest(self._start, range(len(self._start)), known)
        if outcome.assignment is None:
            return Moves((), today=today)
        moved = self._today.moved(outcome.assignment)
        return Moves(
            tuple(self._move(outcome.assignment, vm, device, known) for vm, device in moved),
            self._fewest or not moved,
            today,
        )

    def _improved(self) -> Outcome | None:
        if not self._limits.allow(self._limits.spent(self._units_at(self._start))):
            return self._outcome(
                IMPOSSIBLE,
                f"VMs that must share a device are on different ones today, and need more than "
                f"{self._today.most} moves; allow more",
            )
        if self._problem.constraints.allow_all(self._start):
            if self._judge(self._start) <= 1:
                self._fewest = True
                return self._outcome(FOUND, "")
            self._best = self._start
            self._sketch(self._start)
        while self._found():
            self._stay()
            self._limits.most[1] = self._lower()
            within = [one for one in self._sketched if self._within(one)]
            self._best = min(within, key=self._worst, default=())
        if self._distance > 1:
            return self._alone(self._best) if self._best else None
        return self._fewer()

    def _found(self) -> bool:
        """Search until an assignment within the limits meets all targets; return whether one
        does."""
        stale, drawn = 0, False
        better: bool | None = True
        until = self._budget - 4 * len(self._problem.devices)
        judged: set[Assignment] = set()
        patience = LOWER if self._distance <= 1 else STALE
        while stale < patience and self._verdicts.judged < until:
            drawn = not better and (better is None or (stale >= PAUSE and not drawn))
            if drawn:
                self._forecast.draw(self._random)
            else:
                self._forecast.settle()
            better = self._better()
            stale = 0 if better else stale + 1
            if not self._best or self._best in judged:
                continue
            if self._worst(self._best)[0] <= 1 or stale == PAUSE:
                judged.add(self._best)
                if self._judge(self._best) <= 1:
                    return True
        return False

    def _stay(self) -> None:
        """Take back each move without which all targets are met, those that cost most first."""
        nearest = self._nearest
        assert nearest is not None
        by_cost = [
            (-self._today.cost(nearest) + self._today.cost(undone), unit)
            for unit, undone in self._undone(nearest)
        ]
        for _, unit in sorted(by_cost):
            undone = self._home(self._nearest or nearest, unit)
            if self._problem.constraints.allow_all(undone):
                self._judge(undone)

    def _fewer(self) -> Outcome:
        """Try every assignment with a lower cost, if there are few."""
        assert self._nearest is not None
        self._verdicts.phase = "try all assignments with fewer moves"
        while self._today.cost(self._nearest):
            self._limits.most[1] = self._lower()
            if not self._limits.allow_few(FEW):
                break
            try:
                everyone = self._problem.everyone
                assignment = exhaustive.assign(self._verdicts, everyone, within=self._within)
                self._fewest = assignment is None
                if assignment is None:
                    break
                self._judge(assignment)
            except OutOfBudget:
                break
        return self._outcome(FOUND, "")

    def _exhausted(self) -> Outcome:
        if self._today.most is None:
            outcome = super()._exhausted()
            if outcome.kind != FOUND:
                return outcome
            self._stay()
            return self._fewer()
        if not self._limits.allow_few(FEW):
            raise OutOfBudget
        self._verdicts.phase = "try all assignments"
        everyone = self._problem.everyone
        while assignment := exhaustive.assign(self._verdicts, everyone, within=self._within):
            if self._judge(assignment) <= 1:
                self._stay()
                return self._fewer()
        return self._outcome(
            IMPOSSIBLE,
            f"with at most {self._today.most} moves, one VM or another misses its target in every "
            "assignment; allow more moves, or relax a target",
        )

    def _judge(self, assignment: Assignment) -> float:
        """Judge the assignment, which becomes the nearest if it meets all targets at a lower cost,
        or if none does and it comes nearer to them."""
        pairs = zip(self._problem.devices, assignment, strict=True)
        worst = max(bound(self._problem, self._verdicts.of(*pair)) for pair in pairs)
        cost = self._today.cost
        if self._nearest is None or (
            cost(assignment) < cost(self._nearest)
            if max(worst, self._distance) <= 1
            else worst < self._distance
        ):
            self._nearest, self._distance = assignment, worst
        return worst

    def _starts(self, near: Assignment) -> Iterator[Assignment]:
        yield from self._search.starts(near, STARTS)

    def _first(self) -> Assignment:
        return self._start

    def _within(self, assignment: Assignment) -> bool:
        """Return whether the assignment, perhaps of only some VMs, is within the limits."""
        most = self._limits.most
        moved = len(self._today.moved(assignment))
        return bool(moved <= most[0] and self._today.cost(assignment) <= most[1] + SLACK)

    def _lower(self) -> float:
        assert self._nearest is not None
        return self._today.cost(self._nearest) * (1 - LESS) - 1e-6

    def _at_home(self) -> Assignment:
        """Return today's assignment; each new unit is on the device that it fills least."""
        problem, costs = self._problem, self._limits.costs[1]
        members = [0] * len(problem.devices)
        order = sorted(
            range(len(problem.units)),
            key=lambda rank: (not costs[rank].any(), -problem.erlangs(problem.units[rank])),
        )
        for rank in order:
            unit = problem.units[rank]
            loads = [
                problem.load(device, on | unit)
                for device, on in zip(problem.devices, members, strict=True)
            ]
            allowed = [
                problem.constraints.allow(device, on | unit) for device, on in enumerate(members)
            ]
            keys = list(zip(costs[rank].tolist(), np.logical_not(allowed), loads, strict=True))
            members[keys.index(min(keys))] |= unit
        return tuple(members)

    def _units_at(self, assignment: Assignment) -> np.ndarray:
        return np.array(
            [
                next(d for d, on in enumerate(assignment) if on & unit)
                for unit in self._problem.units
            ]
        )

    def _home(self, assignment: Assignment, unit: Members) -> Assignment:
        """Return the assignment with the unit where it is today."""
        home = int(self._limits.costs[1, self._problem.units.index(unit)].argmin())
        return tuple(
            on | unit if device == home else on & ~unit for device, on in enumerate(assignment)
        )

    def _undone(self, assignment: Assignment) -> Iterator[tuple[Members, Assignment]]:
        """Yield each unit that moves, with the assignment in which it stays at home."""
        moved = {vm for vm, _ in self._today.moved(assignment)}
        for unit in self._problem.units:
            undone = self._home(assignment, unit)
            if undone != assignment and moved & set(each(unit)):
                yield unit, undone

    def _move(self, assignment: Assignment, vm: int, device: int, known: bool) -> Move:
        home = self._today.where[vm]
        gb = self._today.sizes_gb[vm] if self._today.sizes_gb else None
        unit = next(unit for unit in self._problem.units if unit >> vm & 1)
        undone = self._home(assignment, unit)
        move = Move(vm, home, device, gb)
        if undone == assignment:  # the unit's VMs are on different devices today
            return replace(move, forbidden=True)
        if not self._problem.constraints.allow_all(undone):
            return replace(move, forbidden=True)
        changed = [d for d, on in enumerate(undone) if on != assignment[d]]
        highest = self._highest(undone, changed, known)
        return move if highest is None else replace(move, without=highest[0], worst=highest[1])

    def _highest(
        self, assignment: Assignment, devices: range | list[int], known: bool
    ) -> tuple[float, int] | None:
        """Return the highest ratio of a 95th percentile to its target on these devices, and its VM;
        None if it is unknown."""
        ratios = []
        for device in devices:
            pair = self._problem.devices[device], assignment[device]
            try:
                verdict = self._verdicts.glance(*pair) if known else self._verdicts.of(*pair)
            except OutOfBudget:
                verdict = None
            if verdict is None:
                return None
            for vm, p95 in verdict.items():
                most_ms = p95.mean_ms if np.isnan(p95.most_ms) else p95.most_ms
                ratios.append((most_ms / self._problem.vms[vm].target_ms, -vm))
        ratio, vm = max(ratios, default=(0.0, 0))
        return ratio, -vm
