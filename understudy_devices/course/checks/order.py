# SPDX-License-Identifier: MIT
"""The scheduler serves drawn requests in the order of a reference scheduler."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

from pydantic import Field

from understudy_devices.course import schedule
from understudy_devices.course.check import Check
from understudy_devices.course.references import mistake
from understudy_devices.course.result import Found, Picture
from understudy_devices.course.work import Work


class Kind(Check):
    """Each list of requests that is served in the right order counts; the first wrong choice is
    drawn."""

    file: str
    like: str
    """The reference: a scheduler of the project, or a .c file in the assignment's folder."""
    rule: str
    """The algorithm in one sentence, for the report."""
    tie_rule: str = ""
    """What decides a tie, in one sentence; it is only shown if the first wrong choice is one."""
    lists: Annotated[int, Field(ge=1, le=1000)] = 20
    requests: Annotated[int, Field(ge=2, le=2000)] = 40
    together: Annotated[int, Field(ge=1, le=2000)] = 10
    """How many requests arrive at once in the beginning."""
    none_from: Annotated[float, Field(gt=0, le=1)] = 0.5
    """The share of wrong lists from which on there are no points."""
    ties: bool = False
    """Whether requests lie at equal distances, and at the same sector."""

    def files(self) -> Sequence[str]:
        """Return the file."""
        return (self.file,)

    def mistakes(self, folder: Path) -> Iterator[str]:
        """Yield what is wrong with the reference."""
        yield from mistake("like", self.like, folder, hidden=self.hidden)

    def run(self, work: Work) -> Found:
        """Compare the orders of all lists."""
        name = work.scheduler(self.file)
        reference = work.reference(self.like)
        draws = work.draws(self.name, hidden=self.hidden)
        right = 0
        lines: tuple[str, ...] = ()
        pictures: tuple[Picture, ...] = ()
        for number in range(1, self.lists + 1):
            requests = schedule.drawn(
                draws.child(f"list {number}"),
                self.requests,
                ties=self.ties,
                together=self.together,
            )
            expected = schedule.order(work.simulate(requests.simulation(reference)))
            seen = schedule.order(work.simulate(requests.simulation(name), self.file))
            wrong = schedule.difference(requests, expected, seen)
            right += wrong is None
            if wrong and not pictures:
                lines = (
                    f"first wrong choice, in list {number}:",
                    *wrong.lines,
                    f"why: {self._why(wrong)}",
                )
                title = f"{self.name}: the head's way in list {number}"
                pictures = (wrong.picture(title),)
        summary = f"{right} of {self.lists} lists of {self.requests} requests in the right order"
        wrong_share = (self.lists - right) / self.lists
        share = max(0.0, 1 - wrong_share / self.none_from)
        return Found(share, (summary, *lines), pictures)

    def _why(self, wrong: schedule.Difference) -> str:
        return "; ".join(filter(None, (self.rule, self.tie_rule if wrong.is_tie else "")))
