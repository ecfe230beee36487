# SPDX-License-Identifier: MIT
"""Numbers that the student computed for the own disk, in a file of questions and answers.

The right answers are computed anew for each student, so a neighbour's are wrong.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from understudy_devices.base.plain import one_line
from understudy_devices.course.check import Check, Options, Table
from understudy_devices.course.references import (
    MEASURES,
    measure_mistake,
    mistake,
    workload_mistake,
)
from understudy_devices.course.result import Found, NoPoints
from understudy_devices.course.toml_text import toml
from understudy_devices.course.work import Work

TO_ANSWER = (
    "# Write each answer as a number without a unit, and remove the # before its key. text.md has "
    "the\n# questions with their commands."
)

A_NUMBER = "an answer is a number without a unit and with a point, such as 11.24"


class Question(Table):
    """A question whose answer is a figure of a run, or the ratio of two."""

    key: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
    """The answer's key in the student's file."""
    text: str
    workload: str
    options: Options
    scheduler: str
    over: str | None = None
    """With it, the answer is the ratio of the figure to this scheduler's."""
    measure: str
    tolerance_percent: Annotated[float, Field(gt=0, le=50)] = 1.0


class Kind(Check):
    """Each right answer counts."""

    file: str = "answers.toml"
    questions: Annotated[list[Question], Field(min_length=1)]

    def files(self) -> Sequence[str]:
        """Return the file."""
        return (self.file,)

    def mistakes(self, folder: Path) -> Iterator[str]:
        """Yield what is wrong with names and options."""
        for question in self.questions:
            at = f"questions {question.key}"
            found = [
                *mistake("scheduler", question.scheduler, folder, hidden=self.hidden),
                *(mistake("over", question.over, folder, hidden=True) if question.over else ()),
                *measure_mistake("measure", question.measure),
                *workload_mistake(question.workload, question.options),
            ]
            yield from (f"{at}: {line}" for line in found)

    def told(self, work: Work) -> Mapping[str, Any]:
        """Return the questions with the commands that answer them."""
        seed = self._seed(work)
        return {
            "questions": [
                {"key": each.key, "text": each.text, "command": _command(each, seed)}
                for each in self.questions
            ]
        }

    def exported(self, work: Work) -> Mapping[str, bytes]:
        """Return the file to begin with: the questions and their keys, unanswered."""
        lines = [line for each in self.questions for line in (f"# {each.text}", f"# {each.key} = ")]
        return {self.file: "\n".join([TO_ANSWER, *lines, ""]).encode()}

    def solves(self) -> Sequence[str]:
        """Return the file of answers."""
        return (self.file,)

    def solved(self, work: Work) -> Mapping[str, bytes]:
        """Return the right answers."""
        rights = {each.key: self._right(each, work) for each in self.questions}
        return {self.file: toml(rights).encode()}

    def run(self, work: Work) -> Found:
        """Compare the answers with those of the student's disk."""
        try:
            given = work.toml(self.file)
        except NoPoints as why:
            raise NoPoints(f"{why}; {A_NUMBER}") from None
        right = 0
        lines = []
        for question in self.questions:
            verdict = self._wrong(question, given.get(question.key), work)
            right += not verdict
            lines.append(f"{question.key}: {verdict or 'right'}")
        known = {question.key for question in self.questions}
        unknown = sorted(one_line(key)[:40] for key in given.keys() - known)
        if unknown:
            lines.append(f"{self.file} answers what was not asked: {', '.join(unknown[:5])}")
        return Found(right / len(self.questions), tuple(lines))

    def _seed(self, work: Work) -> int:
        return work.keys.public.child("answers").seed(self.name)

    def _wrong(self, question: Question, answer: Any, work: Work) -> str:
        """Return why an answer is wrong, or an empty string.

        The line does not contain the right answer.
        """
        if answer is None:
            return "not answered"
        if isinstance(answer, bool) or not isinstance(answer, int | float):
            return "not a number; write a number without a unit"
        value = float(answer) if abs(answer) < 1e300 else math.nan
        if not math.isfinite(value):
            return "not a finite number"
        right = self._right(question, work)
        if abs(value - right) <= abs(right) * question.tolerance_percent / 100:
            return ""
        measure = MEASURES[question.measure]
        what = f"the {measure.label} in {measure.unit}"
        if question.over:
            what = f"a ratio: {question.scheduler}'s {measure.label} divided by {question.over}'s"
        return (
            f"{value:g} is wrong by more than {question.tolerance_percent:g} %; expected {what}, "
            "on your disk and with the seed of the question's command"
        )

    def _right(self, question: Question, work: Work) -> float:
        right = self._figure(question, question.scheduler, work)
        return right / self._figure(question, question.over, work) if question.over else right

    def _figure(self, question: Question, scheduler: str, work: Work) -> float:
        (run,) = work.summaries(
            work.disk,
            question.workload,
            question.options,
            work.reference(scheduler),
            [self._seed(work)],
        )
        return run.value(MEASURES[question.measure])


def _command(question: Question, seed: int) -> str:
    typed = "".join(
        f" --{key.replace('_', '-')} {value}" for key, value in question.options.items()
    )
    names = ",".join(filter(None, (question.scheduler, question.over)))
    return (
        f"understudy predict --disk disk.toml --workload {question.workload}{typed} "
        f"--schedulers {names} --seed {seed}"
    )
