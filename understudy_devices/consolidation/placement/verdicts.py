# SPDX-License-Identifier: MIT
"""Decide which sets of VMs a device can bear, by a judgement or from earlier judgements.

A device can't bear a set that would keep it always busy, since waiting times would grow without
limit.  A set that fails also fails with an additional VM, or with fewer or slower servers.  A set
that fits also fits without one of its VMs, or with more or faster servers.  Devices with the same
number of servers and the same speed are interchangeable.
"""

from collections.abc import Sequence
from math import inf

from understudy_devices.base.progress import Report, silent
from understudy_devices.consolidation.placement.problem import (
    P95,
    Device,
    Judge,
    Members,
    Problem,
    Sketch,
    Verdict,
    bound,
    each,
)

Placed = tuple[Device, Members]
Key = tuple[int, float, Members]
"""The servers and the speed of a device, and VMs."""


class OutOfBudget(Exception):  # noqa: N818 - how a search ends, not an error
    """The budget of judgements is used up."""


class Verdicts:
    """Verdicts of a judge, and sketches: quick verdicts, from which nothing is concluded.

    budget: the most judgements, sketches included.  judged: the number of judgements made.  unsure:
    the number of sets that failed although every VM's mean 95th percentile met its target, since
    some upper bound did not.  phase: what the search reports as its progress.
    """

    def __init__(
        self,
        problem: Problem,
        judge: Judge,
        budget: int,
        report: Report = silent,
        sketch: Sketch | None = None,
    ) -> None:
        """Start without verdicts.  Without `sketch`, the judge makes the sketches too."""
        self.problem = problem
        self.judged = self.unsure = 0
        self.phase = "try VMs on devices"
        self._judge = judge
        self._sketch = sketch
        self._budget = budget
        self._report = report
        self._made: dict[Key, Verdict] = {}
        self._sketched: dict[Key, Verdict] = {}
        self._fit: list[Key] = []
        self._failed: list[Key] = []

    def of(self, device: Device, members: Members) -> Verdict:
        """Return the verdict on the VMs; judge them if there is no verdict yet.

        May raise OutOfBudget.
        """
        if self.problem.load(device, members) >= 1:
            return dict.fromkeys(each(members), P95(inf, inf))
        if not members:
            return {}
        first = self.problem.canonical(members)
        if (*device.kind, first) not in self._made:
            self._ask(device, first)
        return self.problem.transferred(self._made[*device.kind, first], members)

    def sketches(self, pairs: Sequence[Placed]) -> None:
        """Sketch these sets of VMs on devices if there is no verdict or sketch yet.

        May raise OutOfBudget.
        """
        new: dict[Key, Placed] = {}
        for device, members in pairs:
            if members and self.glance(device, members) is None:
                first = self.problem.canonical(members)
                new[*device.kind, first] = (device, first)
        if self._sketch is None:
            for device, first in new.values():
                self._ask(device, first)
        elif new:
            self._spend(len(new))
            sketches = self._sketch([(device, tuple(each(on))) for device, on in new.values()])
            self._sketched |= zip(new, sketches, strict=True)

    def glance(self, device: Device, members: Members) -> Verdict | None:
        """Return the verdict on the VMs, or a sketch of it; None if there is neither."""
        if not members or self.problem.load(device, members) >= 1:
            return self.of(device, members)
        key = (*device.kind, self.problem.canonical(members))
        verdict = self._made.get(key) or self._sketched.get(key)
        return verdict and self.problem.transferred(verdict, members)

    def fits(self, device: Device, members: Members) -> bool:
        """Return whether the device can bear the VMs; judge them if this is unknown.

        May raise OutOfBudget.
        """
        known = self.known(device, members)
        return bound(self.problem, self.of(device, members)) <= 1 if known is None else known

    def known(self, device: Device, members: Members) -> bool | None:
        """Return whether the device can bear the VMs, without a judgement; None if unknown."""
        if self.problem.load(device, members) >= 1:
            return False
        first = self.problem.canonical(members)
        key = (*device.kind, first)
        verdict = self._made.get(key)
        if verdict is not None:
            return bound(self.problem, verdict) <= 1
        if any(_tells_more(key, bad) for bad in self._failed):
            return False
        if not first or any(_tells_more(good, key) for good in self._fit):
            return True
        return None

    def _ask(self, device: Device, first: Members) -> None:
        self._spend(1)
        verdict = self._judge(device, tuple(each(first)))
        self._made[*device.kind, first] = verdict
        one = (*device.kind, first)
        if bound(self.problem, verdict) <= 1:
            self._fit = [other for other in self._fit if not _tells_more(one, other)] + [one]
        else:
            self.unsure += all(
                p95.mean_ms <= self.problem.vms[vm].target_ms for vm, p95 in verdict.items()
            )
            self._failed = [bad for bad in self._failed if not _tells_more(bad, one)] + [one]

    def _spend(self, judgements: int) -> None:
        if self.judged + judgements > self._budget:
            raise OutOfBudget
        self._report(self.phase, self.judged / self._budget)
        self.judged += judgements


def _tells_more(one: Key, other: Key) -> bool:
    """Return whether `one` has all VMs of `other`, and at most as many servers, at most as fast.

    If so, and if `one` fits, `other` fits too.
    """
    return one[0] <= other[0] and one[1] <= other[1] and one[2] & other[2] == other[2]
