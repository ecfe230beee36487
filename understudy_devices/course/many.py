# SPDX-License-Identifier: MIT
"""Grade a class: a folder with a file, folder or archive for each student, or several (tries.py).

A student's grade is written when it is there, with a digest of everything it follows from.  So a
command that was killed is given again, and grades only what is missing; after a correction it
grades only what the correction concerns.  published.json has the scores of the last complete run:
a correction is compared with it.
"""

import fcntl
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from understudy_devices.base.errors import RunFailed, UserError
from understudy_devices.course import apart, files, league, submission
from understudy_devices.course.grade import Grader
from understudy_devices.course.inbox import Inbox
from understudy_devices.course.library import normal
from understudy_devices.course.report import classes
from understudy_devices.course.result import BROKEN, Grade, Line, amount
from understudy_devices.course.tries import Tries, remove
from understudy_devices.engine import Died, Engine

Report = Callable[[int, int], None]
STUDENTS, PUBLISHED, CHANGES = "students", "published.json", "changes.txt"
TEACHER = "teacher"  # the folder of what no student may see
RUN = "# correction "
NOTHING = "nothing handed in"
CAUSES = {"handed_in": "another submission", "rules": "the assignment or Understudy changed"}
"""What can change a grade, by the digests in it."""


@dataclass(frozen=True)
class Change:
    """A student whose score is not the last published one."""

    student: str
    before: float
    after: float
    checks: tuple[str, ...]
    causes: tuple[str, ...]

    def __str__(self) -> str:
        difference = self.after - self.before
        sign = "+" if difference > 0 else ""
        return (
            f"{submission.shown(self.student)}: {amount(self.before)} -> {amount(self.after)} "
            f"({sign}{amount(difference)}), "
            f"{' and '.join(self.causes) or 'nothing changed'}: {', '.join(self.checks)}"
        )


@dataclass(frozen=True)
class Graded:
    """The grades of a class."""

    grades: tuple[Grade, ...]
    """The grade of each student."""
    submissions: Mapping[str, tuple[Grade, ...]]
    """The grades of all submissions of each student."""
    inbox: Inbox
    new: int
    """Submissions that were graded now."""
    kept: int
    """Grades that were already there."""
    changes: tuple[Change, ...]
    removed: tuple[str, ...]
    """Students whose grade was removed, since their submission is no longer there."""
    written: tuple[str, ...] = ()
    """The names of the files with all grades."""

    @property
    def broken(self) -> bool:
        """Return whether the grader itself failed in any check."""
        return any(grade.broken for tries in self.submissions.values() for grade in tries)


@contextmanager
def opened(out: Path) -> Iterator[None]:
    """Lock the folder of the results against other commands."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        lock = (out / ".lock").open("w")
    except OSError as error:
        raise UserError(f"--out: {error.filename}: {error.strerror}: name another folder") from None
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UserError(
                f"--out: another command is grading into {out}; wait for it, or name another folder"
            ) from None
        yield


def grade_all(
    grader: Grader, found: Inbox, out: Path, engine: Engine, report: Report, *, again: bool = False
) -> Graded:
    """Grade every submission that has no valid grade yet, or all of them (`again`); write all
    results.
    """
    tries = {student: _tries(grader, student, found, out) for student in found.submissions}
    left = {
        key: (student, str(path.absolute()))
        for student, mine in tries.items()
        for path, key in mine.paths.items()
    }
    total = len(left)
    grades: dict[str, Grade] = {}
    for mine in () if again else tries.values():
        there = {grade.key: grade for grade in mine.there()}
        mine.write(there, anew=False)
        grades |= there
    for key in grades:
        del left[key]
    kept = len(grades)
    work = apart.work(grader.course.folder, grader.assignment.name, grader.vms)
    report(kept, total)
    try:
        for key, answer in engine.run(work, left):
            student, _ = left[key]
            grades[key] = Grade.from_json(answer) if answer else _died(grader, student, key)
            tries[student].write(grades, anew=True)
            report(len(grades), total)
    except Died as error:
        _, path = left[error.key]
        raise RunFailed(f"{submission.shown(Path(path).name)}: {error}") from None
    finally:
        apart.end_all()
    present = {normal(each) for each in (*tries, *found.ungraded)}
    removed = sorted({each for each in _cleared(out, tries) if normal(each) not in present})
    ordered = tuple(tries[student].best(grades) for student in sorted(tries))
    submissions = {student: tries[student].all(grades) for student in sorted(tries)}
    changes = tuple(_changes(out, ordered))
    graded = Graded(ordered, submissions, found, len(left), kept, changes, tuple(removed))
    graded_files = _write(grader, graded, out)
    return replace(graded, written=graded_files)


def _tries(grader: Grader, student: str, found: Inbox, out: Path) -> Tries:
    name = files.folder_name(student)
    paths = {path: grader.key(student, grader.read(path)) for path in found.submissions[student]}
    return Tries(grader.assignment, paths, out / STUDENTS / name, out / TEACHER / name)


def _died(grader: Grader, student: str, key: str) -> Grade:
    """Return a grade without points for a submission at which the grader dies."""
    why = ("the grading process died twice",)
    lines = tuple(
        Line(check.name, check.kind, check.points, 0.0, BROKEN, check.hidden, why)
        for check in grader.assignment.checks
    )
    return Grade(
        assignment=grader.assignment.name,
        title=grader.assignment.document.title,
        student=student,
        pseudonym=grader.course.pseudonym(student),
        key=key,
        lines=lines,
        rules=grader.rules,
    )


def _cleared(out: Path, tries: Mapping[str, Tries]) -> Iterator[str]:
    """Remove the grades of submissions that are no longer there; yield the students."""
    known = {mine.private for mine in tries.values()}
    for private in sorted((out / TEACHER).glob("*")):
        graded = sorted(private.glob(f"**/{files.GRADE}"))
        if private not in known and graded:
            there = files.read_grade(graded[0].parent)
            numbered = [file.parent for file in graded]
            for folder in (*numbered, private, out / STUDENTS / private.name):
                remove(folder)
            yield there.student if there else private.name


def _scores(grades: Sequence[Grade]) -> dict[str, Any]:
    return {
        grade.student: {
            "score": grade.score,
            "handed_in": grade.handed_in,
            "rules": grade.rules,
            "checks": {line.name: [line.score, line.points] for line in grade.lines},
        }
        for grade in grades
    }


def _changes(out: Path, grades: Sequence[Grade]) -> Iterator[Change]:
    """Yield who gained or lost points since the last complete run, in which checks, and why."""
    try:
        published = json.loads((out / PUBLISHED).read_text(encoding="utf-8"))
        before = {normal(student): entry for student, entry in published.items()}
    except (OSError, ValueError):
        return
    for student, now in _scores(grades).items():
        then = before.get(normal(student))
        if then is None or then["checks"] == now["checks"]:
            continue
        names = [*dict.fromkeys([*then["checks"], *now["checks"]])]
        changed = tuple(
            f"{name} {_points(then, name)} -> {_points(now, name)}"
            for name in names
            if then["checks"].get(name) != now["checks"].get(name)
        )
        causes = tuple(words for key, words in CAUSES.items() if then.get(key) != now[key])
        yield Change(student, then["score"], now["score"], changed, causes)


def _points(entry: Mapping[str, Any], name: str) -> str:
    score, most = entry["checks"].get(name, (None, None))
    return "none" if score is None else f"{amount(score)}/{most}"


def _write(grader: Grader, graded: Graded, out: Path) -> tuple[str, ...]:
    """Write the files of the class; return their names."""
    grades = graded.grades
    written = {
        "grades.csv": classes.table(
            grades, _absent(grader, graded.inbox), graded.inbox.notes, _most(grader, grades)
        ),
        "junit.xml": classes.junit(grader.assignment.name, grades),
    }
    if grader.assignment.document.contest:
        written["league.html"] = league.page(grader.assignment, [*graded.submissions.values()])
    if graded.changes:
        written[CHANGES] = _with_run(_text(out / CHANGES), graded.changes)
    for name, text in written.items():
        files.write(out / name, text)
    files.write(out / PUBLISHED, files.json_text(_scores(grades)))
    return tuple(written)


def _absent(grader: Grader, inbox: Inbox) -> list[classes.Absent]:
    nothing = [classes.Absent(each, NOTHING, zero=True) for each in inbox.missing]
    ungraded = [classes.Absent(each, why) for each, why in inbox.ungraded.items()]
    return [
        replace(each, pseudonym=grader.course.pseudonym(each.student))
        for each in (*ungraded, *nothing)
    ]


def _most(grader: Grader, grades: Sequence[Grade]) -> int:
    """Return the points that could be reached by somebody who has handed in nothing."""
    return max((grade.most for grade in grades), default=grader.assignment.document.points)


def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8") if file.is_file() else ""


def _with_run(before: str, changes: Sequence[Change]) -> str:
    """Return the text of changes.txt with one more run; runs are numbered, since a grade has no
    date.
    """
    number = 1 + sum(line.startswith(RUN) for line in before.splitlines())
    return before + "".join(f"{line}\n" for line in (f"{RUN}{number}", *changes))
