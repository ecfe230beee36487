# SPDX-License-Identifier: MIT
"""Which sets of VMs a device can bear: judged once, or concluded from earlier judgements.

A device that would always be busy bears no set: waiting times grow for ever.  A set that fails
also fails with another VM or fewer servers.  A set that fits also fits without one of its VMs, or
with more servers.  Devices with the same number of servers are equal.
"""

from math import inf

from understudy.base.progress import Report, silent
from understudy.consolidate.placement.problem import (
    P95,
    Device,
    Judge,
    Members,
    Problem,
    Verdict,
    each,
    excess,
)


class OutOfBudget(Exception):  # noqa: N818 - how a search ends, not an error
    """The budget of judgements is used up."""


class Verdicts:
    """Asks a judge at most `budget` times.

    judged: the number of judgements so far.  unsure: the number of sets that failed only because
    their 95th percentiles are not known well enough.
    """

    def __init__(
        self, problem: Problem, judge: Judge, budget: int, report: Report = silent
    ) -> None:
        """At first nothing is known."""
        self.problem = problem
        self.judged = self.unsure = 0
        self._judge = judge
        self._budget = budget
        self._report = report
        self._made: dict[tuple[int, Members], Verdict] = {}
        self._fit: list[tuple[int, Members]] = []
        self._failed: list[tuple[int, Members]] = []

    def of(self, device: Device, members: Members) -> Verdict:
        """The verdict on the VMs, judged if not known yet; may raise OutOfBudget."""
        if self.problem.load(device, members) >= 1:
            return dict.fromkeys(each(members), P95(inf, inf))
        if not members:
            return {}
        first = self.problem.canonical(members)
        if (device.servers, first) not in self._made:
            self._ask(device, first)
        return self.problem.transferred(self._made[device.servers, first], members)

    def fits(self, device: Device, members: Members) -> bool:
        """Whether the device bears the VMs, judged if unknown; may raise OutOfBudget."""
        known = self.known(device, members)
        return excess(self.problem, self.of(device, members)) == 0 if known is None else known

    def known(self, device: Device, members: Members) -> bool | None:
        """Whether the device bears the VMs, without a judgement; None if unknown."""
        if self.problem.load(device, members) >= 1:
            return False
        first, servers = self.problem.canonical(members), device.servers
        made = self._made.get((servers, first))
        if made is not None:
            return excess(self.problem, made) == 0
        if any(n >= servers and bad & first == bad for n, bad in self._failed):
            return False
        if not first or any(n <= servers and good & first == first for n, good in self._fit):
            return True
        return None

    def _ask(self, device: Device, first: Members) -> None:
        if self.judged >= self._budget:
            raise OutOfBudget
        self._report("try VMs on devices", self.judged / self._budget)
        self.judged += 1
        verdict = self._judge(device, tuple(each(first)))
        self._made[device.servers, first] = verdict
        one = (device.servers, first)
        if excess(self.problem, verdict) == 0:
            self._fit = [other for other in self._fit if not _tells_more(one, other)] + [one]
        else:
            self.unsure += all(
                found.mean_ms <= self.problem.vms[vm].target_ms for vm, found in verdict.items()
            )
            self._failed = [bad for bad in self._failed if not _tells_more(bad, one)] + [one]


def _tells_more(one: tuple[int, Members], other: tuple[int, Members]) -> bool:
    """Whether `one` has no more servers and all VMs of `other`: if `one` fits, so does `other`."""
    return one[0] <= other[0] and one[1] & other[1] == other[1]
