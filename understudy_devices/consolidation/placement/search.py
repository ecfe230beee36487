# SPDX-License-Identifier: MIT
"""Find an assignment that meets all targets, and improve it; or say why there is none.

1. Refuse a problem that is impossible by load or size alone.
2. Find the assignment with the lowest worst ratio of a 95th percentile to its target, by iterated
   local search (`local_search.py`) on a forecast (`forecast.py`), from the best assignment so far
   and from one in which VMs that tolerate the same utilisation share devices (`packing.py`).  The
   forecast's best assignment is sketched, the forecast learns from the sketch, and so on.  After
   some sketches that are no better, every other forecast is a random one of its distribution.
   Where sketches no longer improve, the judge judges the best one.  VMs that miss their targets are
   also judged alone on the best devices: if one misses its target there too, there is no
   assignment.
   After an assignment that meets all targets, the search goes on for as long as it took.  An
   assignment that breaks a constraint (`constraints.py`) counts as worse than any other in the
   local search, and is never sketched or judged.
3. Without such an assignment, try every assignment, if there are few (`exhaustive.py`).  This step
   finds an assignment, proves that there is none, or gives up after too many tries.

The answer depends only on the problem, the judge and the budget, unless the search is stopped
(base/stopping.py): then it is the best assignment so far, perhaps only sketched.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from math import comb, prod
from typing import Final, Literal

import numpy as np

from understudy_devices.base.progress import Report, silent
from understudy_devices.base.stopping import Stopped
from understudy_devices.consolidation.placement import exhaustive
from understudy_devices.consolidation.placement.forecast import PILED_UP, Forecast
from understudy_devices.consolidation.placement.local_search import LocalSearch
from understudy_devices.consolidation.placement.packing import pack
from understudy_devices.consolidation.placement.problem import (
    Assignment,
    Device,
    Judge,
    Members,
    Problem,
    Sketch,
    Verdict,
    bound,
    each,
    listed,
    over,
    ratio,
)
from understudy_devices.consolidation.placement.today import Moves
from understudy_devices.consolidation.placement.verdicts import OutOfBudget, Verdicts

BUDGET = 1000  # most judgements, each of a set of VMs on a device
STARTS = 6  # of the local search, near the best assignment, before each sketch
PAUSE = 4  # sketched assignments without an improvement, after which the best is judged
STALE = 40  # and after which the search ends
WORST = 3  # VMs that miss their targets by most, which are judged alone
LONGER = 100  # judgements that the search goes on for, at least, after it has found an assignment
BETTER = 0.999  # of the worst ratio: a smaller improvement counts as none
FORBIDDEN = 1e6  # the ratio of a device with twice the allowed VMs, in the local search
FEW = 10**9  # assignments that are tried one by one

Kind = Literal["found", "none exists", "none found"]
Stops = Callable[[], AbstractContextManager[None]]
"""Makes a block that may raise Stopped."""

FOUND: Final = "found"
IMPOSSIBLE: Final = "none exists"
UNKNOWN: Final = "none found"


@dataclass(frozen=True)
class Outcome:
    """The result of a search.

    reason: why no assignment was found, in one line; empty if an assignment was found.
    assignment: the assignment found or, if none was found, the assignment nearest to the targets;
    None if not all devices of one were judged.  verdicts: the verdict on each device of that
    assignment.  conflict: VMs that can't be placed together, if they are the reason.  judged: the
    number of judgements.  interrupted: whether the search was stopped before its end.
    limits_ms: the 95 % interval of each VM's 95th percentile, if it was computed (confirmation.py).
    moves: what moves, if today's devices are given (moving.py).
    """

    kind: Kind
    reason: str
    assignment: Assignment | None
    verdicts: tuple[Verdict, ...]
    conflict: Members
    judged: int
    interrupted: bool = False
    limits_ms: Mapping[int, tuple[float, float]] = field(default_factory=dict)
    moves: Moves | None = None


def place(
    problem: Problem,
    judge: Judge,
    budget: int = BUDGET,
    report: Report = silent,
    sketch: Sketch | None = None,
    stops: Stops = nullcontext,
) -> Outcome:
    """Search for an assignment; ask the judge, and for sketches, at most `budget` times."""
    search = Searching(problem, judge, budget, report, sketch)
    try:
        with stops():
            return search.outcome()
    except Stopped:
        return search.so_far()


class Searching:
    """One search: its judgements, the forecast, and the best assignments so far.

    The nearest assignment is the best that was judged; the best by sketches may be better.
    """

    def __init__(
        self,
        problem: Problem,
        judge: Judge,
        budget: int,
        report: Report,
        sketch: Sketch | None = None,
    ) -> None:
        self._problem = problem
        self._verdicts = Verdicts(problem, judge, budget, report, sketch)
        self._budget = budget
        self._forecast = Forecast(problem)
        capacities = np.array([device.capacity for device in problem.devices])
        speeds = np.array([device.speed for device in problem.devices])
        self._search = LocalSearch(
            problem,
            lambda on, devices: np.maximum(
                self._forecast.ratios(on, capacities[devices], speeds[devices]),
                FORBIDDEN * problem.constraints.excess(on, devices),
            ),
            self._measured,
        )
        self._random = np.random.default_rng(1)
        self._learnt: set[tuple[int, float, Members]] = set()
        self._sketched: list[Assignment] = []
        self._best: Assignment = ()
        self._nearest: Assignment | None = None
        self._distance = float("inf")  # of the nearest: its worst upper bound, as a ratio

    def outcome(self) -> Outcome:
        """Carry out the steps in order until a step finds an answer."""
        try:
            return self._by_load() or self._improved() or self._exhausted()
        except OutOfBudget:
            if self._distance <= 1:
                return self._outcome(FOUND, "")
            return self._outcome(UNKNOWN, self._reason())

    def so_far(self) -> Outcome:
        """Return the best assignment so far, without another judgement."""
        best = self._best
        if best and self._distance > 1:
            if self._nearest is not None and self._worst(best) < self._worst(self._nearest):
                self._nearest = None
            if not self._late(best):  # its devices were judged, each in another assignment
                self._judge(best)
        if self._distance <= 1:
            outcome = self._outcome(FOUND, "")
        else:
            outcome = self._outcome(UNKNOWN, f"interrupted; {self._reason(interrupted=True)}")
        return replace(outcome, interrupted=True)

    def _by_load(self) -> Outcome | None:
        problem = self._problem
        busy = problem.erlangs(problem.everyone)
        if busy >= problem.capacity:
            return self._outcome(
                IMPOSSIBLE,
                f"the VMs keep {busy:.4g} servers busy, but all devices together have "
                f"{problem.capacity:.6g}{of_the_traced(problem)}: "
                "on some device requests pile up; add servers, or leave VMs out",
            )
        alone = [vm for vm in each(problem.everyone) if problem.load(problem.largest, 1 << vm) >= 1]
        return self._lonely(alone) if alone else self._by_size()

    def _by_size(self) -> Outcome | None:
        """Return that there is no assignment if VMs, or VMs that must share a device, are too
        large."""
        problem, limits = self._problem, self._problem.constraints
        for unit in problem.units:
            load = problem.load(problem.largest, unit)
            if load >= 1:
                words = f"asks for {load:.2f} times what {problem.largest.name} can do"
            elif limits.capacities_gb and limits.size_gb(unit) > max(limits.capacities_gb):
                words = (
                    f"needs {limits.size_gb(unit):g} GB, and the largest capacity is "
                    f"{max(limits.capacities_gb):g} GB"
                )
            else:
                continue
            names = listed([problem.vms[vm].name for vm in each(unit)])
            return self._outcome(IMPOSSIBLE, f"{names} on one device {words}; part them", unit)
        needed = limits.size_gb(problem.everyone)
        if limits.capacities_gb and needed > sum(limits.capacities_gb):
            return self._outcome(
                IMPOSSIBLE,
                f"the VMs need {needed:g} GB, but all devices together have "
                f"{sum(limits.capacities_gb):g} GB; add capacity, or leave VMs out",
            )
        return None

    def _improved(self) -> Outcome | None:
        """Improve the best assignment until that takes too long."""
        reserve = 2 * len(self._problem.devices)  # a sketch, and the judgement of the best
        stale, until = 0, self._budget - reserve
        better: bool | None = True
        drawn = False
        while stale < STALE:
            drawn = not better and (better is None or (stale >= PAUSE and not drawn))
            if drawn:
                self._forecast.draw(self._random)
            else:
                self._forecast.settle()
            better = self._better()
            if not self._best:  # no assignment yet that meets the constraints
                stale += STALE // PAUSE
                continue
            stale = 0 if better else stale + 1
            if self._verdicts.judged > until:
                break
            if self._seems_right() if better else stale == PAUSE:
                before, best = self._distance, self._best
                worst = self._judge(best)
                # The best of many sketches is often worse than its sketch.
                self._best = min(self._sketched, key=self._worst)
                if worst <= 1 < before:
                    judged = self._verdicts.judged
                    until = min(until, judged + max(judged, LONGER))
                elif self._distance > 1 and (impossible := self._alone(best)):
                    return impossible
        if not self._best:
            return None
        self._judge(self._best)
        return self._outcome(FOUND, "") if self._distance <= 1 else self._alone(self._best)

    def _seems_right(self) -> bool:
        """Return whether by sketches the best assignment meets all targets, which none did yet."""
        return self._worst(self._best)[0] <= 1 < self._distance

    def _better(self) -> bool | None:
        """Sketch the most promising assignment; return whether it is better than the best one, or
        None if the local search comes to none but those that are known to be no better."""
        near = self._best or self._first()
        limits = self._problem.constraints
        before = self._worst(self._best) if self._best else (float("inf"),)
        promising: list[tuple[tuple[float, ...], Assignment]] = []
        for start in self._starts(near):
            assignment, ratios = self._search.improved(start)
            forecast = tuple(sorted(ratios, reverse=True))
            known = all(self._measured(d, on) is not None for d, on in enumerate(assignment))
            if limits.allow_all(assignment) and (forecast < before or not known):
                promising.append((forecast, assignment))
        if not promising and (self._best or not limits.allow_all(near)):
            return None
        assignment = min(promising)[1] if promising else near
        self._sketch(assignment)
        worst = self._worst(assignment)
        if worst < before:
            self._best = assignment
        share = f"{min(worst, before)[0]:.1%}"
        self._verdicts.phase = f"improve; the worst p95 so far is {share} of its target"
        return worst[0] < BETTER * before[0]

    def _first(self) -> Assignment:
        return self._search.spread()

    def _starts(self, near: Assignment) -> Iterator[Assignment]:
        """Yield where the local search starts."""
        count = STARTS if self._best or self._problem.constraints else 0
        yield from self._search.starts(near, count)
        yield self._sorted()

    def _sorted(self) -> Assignment:
        """Return an assignment in which VMs that tolerate the same utilisation share devices."""
        limits = self._forecast.limits(self._problem.capacity / len(self._problem.devices))
        return pack(self._problem, limits.tolist(), self._best or None)

    def _sketch(self, assignment: Assignment) -> None:
        pairs = list(zip(self._problem.devices, assignment, strict=True))
        self._verdicts.sketches(pairs)
        self._sketched.append(assignment)
        for device, on in pairs:
            if (*device.kind, on) not in self._learnt:
                self._learnt.add((*device.kind, on))
                self._forecast.learn(device, list(each(on)), self._verdict(device, on))

    def _measured(self, device: int, on: Members) -> float | None:
        """Return the highest ratio to a target on a device, of a verdict or a sketch; None if it is
        unknown or if a constraint forbids these VMs there."""
        if not self._problem.constraints.allow(device, on):
            return None
        verdict = self._verdicts.glance(self._problem.devices[device], on)
        return None if verdict is None else min(PILED_UP, ratio(self._problem, verdict))

    def _worst(self, assignment: Assignment) -> tuple[float, ...]:
        """Return the ratios of all devices, the worst first."""
        ratios = [self._measured(d, on) for d, on in enumerate(assignment)]
        return tuple(sorted((one for one in ratios if one is not None), reverse=True))

    def _exhausted(self) -> Outcome:
        if self._assignments() > FEW:
            raise OutOfBudget
        self._verdicts.phase = "try all assignments"
        while assignment := exhaustive.assign(self._verdicts, self._problem.everyone):
            # Now every set is judged, not only concluded to fit.
            if self._judge(assignment) <= 1:
                return self._outcome(FOUND, "")
        members, sure = exhaustive.conflict(self._verdicts, self._problem.everyone)
        names = listed([self._problem.vms[vm].name for vm in each(members)])
        fewest = "there is one if any of them is left out" if sure else "perhaps of fewer of them"
        unsure = self._verdicts.unsure
        doubt = f"; {unsure} sets of VMs failed by less than is certain" if unsure else ""
        return self._outcome(
            IMPOSSIBLE,
            f"in every assignment of {names} ({members.bit_count()} VMs) one misses its target"
            f"{' or breaks a constraint' if self._problem.constraints else ''}; "
            f"{fewest}{doubt}; add servers, or relax a target",
            members,
        )

    def _assignments(self) -> int:
        """Return the number of assignments, where VMs of one kind are interchangeable."""
        last = len(self._problem.devices) - 1
        kinds = self._problem.kinds
        return prod(comb(kinds.count(kind) + last, last) for kind in set(kinds))

    def _judge(self, assignment: Assignment) -> float:
        """Judge the assignment; return its worst upper bound, relative to the target."""
        pairs = zip(self._problem.devices, assignment, strict=True)
        worst = max(bound(self._problem, self._verdicts.of(*pair)) for pair in pairs)
        if worst < self._distance or self._nearest is None:
            self._nearest, self._distance = assignment, worst
        return worst

    def _alone(self, assignment: Assignment) -> Outcome | None:
        """Return that there is no assignment if a VM that misses its target here would miss it even
        alone on the best devices.  Judge the VMs in question, of which there may be many, only
        after one of the worst."""
        late = [vm for _, vm in self._late(assignment)]
        if all(map(self._fits_alone, late[:WORST])):
            return None
        return self._lonely([vm for vm in sorted(late) if not self._fits_alone(vm)])

    def _fits_alone(self, vm: int) -> bool:
        return any(self._verdicts.fits(device, 1 << vm) for device in self._problem.best)

    def _late(self, assignment: Assignment) -> list[tuple[Device, int]]:
        """Return the VMs that miss their targets with their devices, the worst first."""
        late = []
        for device, on in zip(self._problem.devices, assignment, strict=True):
            for vm, p95 in self._verdict(device, on).items():
                above = over(self._problem, vm, p95)
                if not above <= 0:  # NaN in a sketch
                    late.append((-p95.mean_ms / self._problem.vms[vm].target_ms, vm, device))
        return [(device, vm) for _, vm, device in sorted(late, key=lambda one: one[:2])]

    def _verdict(self, device: Device, on: Members) -> Verdict:
        """Return what is known of VMs on a device, perhaps only a sketch."""
        return self._verdicts.glance(device, on) or self._verdicts.of(device, on)

    def _lonely(self, vms: list[int]) -> Outcome:
        largest = self._problem.largest
        alike = {self._problem.canonical(1 << vm): vm for vm in reversed(vms)}
        words = [self._words(largest, 1 << vm, vm) for vm in sorted(alike.values())]
        others = [device.name for device in self._problem.best if device is not largest]
        where = f" or {listed(others)}" if others else ", which has the most servers"
        return self._outcome(
            IMPOSSIBLE,
            f"even alone on {largest.name}{where}: {listed(words, 5)}; relax "
            "that target, or find a larger device",
            1 << vms[0],
        )

    def _words(self, device: Device, members: Members, vm: int) -> str:
        """Return a VM's 95th percentile and its target, in words."""
        name, target_ms = self._problem.vms[vm].name, self._problem.vms[vm].target_ms
        load = self._problem.load(device, members)
        if load >= 1:
            return f"{name} asks for {load:.2f} times what {device.name} can do"
        p95 = self._verdict(device, members)[vm]
        if p95.mean_ms == float("inf"):
            return f"requests of {name} pile up"
        sure = f" or up to {p95.most_ms:.4g}" if p95.mean_ms <= target_ms <= p95.most_ms else ""
        return f"{name} has a p95 of {p95.mean_ms:.4g} ms{sure} for {target_ms:.4g}"

    def _reason(self, *, interrupted: bool = False) -> str:
        """Return why the search has no answer."""
        looked = self._verdicts.judged
        tried = f"sets of VMs tried on a device: {looked}"
        best = self._nearest or self._best
        if not best and self._problem.constraints:
            return f"{tried}; no assignment meets the constraints so far; relax them, or allow more"
        if not best:
            more = "search longer" if interrupted else "allow more"
            return f"{tried}, too few to judge one assignment; {more}"
        late = self._late(best)
        device, vm = late[0]
        on = best[self._problem.devices.index(device)]
        missed = f"{len(late)} of {len(self._problem.vms)} VMs miss their target, the worst"
        if self._nearest is None:
            missed = "not every device was simulated more than once; the worst VM is"
        hint = (
            "there may be one: search longer"
            if interrupted
            else "there may be one: allow more tries"
            if looked + len(self._problem.devices) >= self._budget
            else "there may be one, but there are too many assignments to try them all"
        )
        return (
            f"{tried}; in the nearest assignment {missed} on {device.name}: "
            f"{self._words(device, on, vm)}; {hint}"
        )

    def _outcome(self, kind: Kind, reason: str, conflict: Members = 0) -> Outcome:
        nearest = self._nearest or self._best or None
        verdicts = (
            tuple(map(self._verdict, self._problem.devices, nearest)) if nearest is not None else ()
        )
        return Outcome(kind, reason, nearest, verdicts, conflict, self._verdicts.judged)


def of_the_traced(problem: Problem) -> str:
    """Return what to add to a capacity in servers if devices have other speeds."""
    same = all(device.speed == 1 for device in problem.devices)
    return "" if same else " like those of the traced device"
