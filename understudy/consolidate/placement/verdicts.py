# SPDX-License-Identifier: MIT
"""Which sets of VMs a device can bear: judged once, and concluded from what was judged.

A device that would be busy all the time bears nothing: the longer it runs, the longer everybody
waits.  What fails is not made to fit by another VM or fewer servers, and what fits fits
without one of its VMs, or with more servers.  Devices of as many servers are alike.
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
    """No more may be judged."""


class Verdicts:
    """Asks a judge at most `budget` times.

    judged: how often it has done so.  unsure: how many sets failed only because their 95th
    percentiles are not known well enough.
    """

    def __init__(
        self, problem: Problem, judge: Judge, budget: int, report: Report = silent
    ) -> None:
        """Nothing is known yet."""
        self.problem = problem
        self.judged = self.unsure = 0
        self._judge = judge
        self._budget = budget
        self._report = report
        self._made: dict[tuple[int, Members], Verdict] = {}
        self._fit: list[tuple[int, Members]] = []
        self._failed: list[tuple[int, Members]] = []

    def of(self, device: Device, members: Members) -> Verdict:
        """What becomes of the VMs, judged if it isn't yet; OutOfBudget."""
        if self.problem.load(device, members) >= 1:
            return dict.fromkeys(each(members), P95(inf, inf))
        if not members:
            return {}
        first = self.problem.canonical(members)
        if (device.servers, first) not in self._made:
            self._ask(device, first)
        return self.problem.transferred(self._made[device.servers, first], members)

    def fits(self, device: Device, members: Members) -> bool:
        """Whether the device bears them, judged if that can't be concluded; OutOfBudget."""
        known = self.known(device, members)
        return excess(self.problem, self.of(device, members)) == 0 if known is None else known

    def known(self, device: Device, members: Members) -> bool | None:
        """The same without asking; None if it is not known."""
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
    """Whether it has no more servers and all of the other's VMs: if it fits, so does that."""
    return one[0] <= other[0] and one[1] & other[1] == other[1]
