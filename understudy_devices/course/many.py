# SPDX-License-Identifier: MIT
"""Grade a class: a folder with a file, folder or archive for each student.

A student's grade is written when it is there, with a digest of everything it follows from.  So a
command that was killed is given again, and grades only what is missing; after a correction it
grades only what the correction concerns.  published.json has the scores of the last complete run:
a correction is compared with it.
"""

import fcntl
import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from understudy_devices.base.errors import UserError
from understudy_devices.course import apart, files, league, submission
from understudy_devices.course.grade import Grader
from understudy_devices.course.library import normal
from understudy_devices.course.report import classes
from understudy_devices.course.result import BROKEN, Grade, Line, amount
from understudy_devices.engine import Engine

Report = Callable[[int, int], None]
STUDENTS, PUBLISHED = "students", "published.json"
NOBODY = (".DS_Store", ".directory", ".lock", ".git", ".gitignore")
"""Hidden files that no student has handed in."""
TEACHER = "teacher"  # the folder of what no student may see


@dataclass(frozen=True)
class Change:
    """A student whose score is not the last published one."""

    student: str
    before: float
    after: float
    checks: tuple[str, ...]

    def __str__(self) -> str:
        difference = self.after - self.before
        sign = "+" if difference > 0 else ""
        return (
            f"{submission.shown(self.student)}: {amount(self.before)} -> {amount(self.after)} "
            f"({sign}{amount(difference)}): {', '.join(self.checks)}"
        )


@dataclass(frozen=True)
class Graded:
    """The grades of a class."""

    grades: tuple[Grade, ...]
    ungraded: Mapping[str, str]
    """Students without a grade, each with the reason."""
    kept: int
    """Grades that were already there."""
    changes: tuple[Change, ...]


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


def handed_in(folder: Path) -> tuple[dict[str, Path], dict[str, str]]:
    """Return the submission of each student, and the students who have no single one."""
    try:
        paths = sorted(folder.iterdir(), key=lambda path: path.name)
    except OSError as error:
        raise UserError(
            f"{folder}: {error.strerror}; name a folder with a submission for each student"
        ) from None
    found: defaultdict[str, list[Path]] = defaultdict(list)
    dotted = {}
    for path in paths:
        if path.name.startswith(".") and path.name not in NOBODY:
            dotted[path.name] = "not graded: its name begins with a dot; rename it"
        elif not path.name.startswith("."):
            found[normal(submission.identity(path))].append(path)
    if not found:
        raise UserError(f"{folder}: is empty; it needs a submission for each student")
    single = {submission.identity(each[0]): each[0] for each in found.values() if len(each) == 1}
    double = {
        submission.identity(each[0]): "not graded: "
        f"{' and '.join(submission.shown(path.name) for path in each)} are of one student; "
        "remove all but one"
        for each in found.values()
        if len(each) > 1
    }
    return single, {**double, **dotted}


def grade_all(grader: Grader, folder: Path, out: Path, engine: Engine, report: Report) -> Graded:
    """Grade every submission that has no valid grade yet; write all results."""
    single, double = handed_in(folder)
    places = {student: out / STUDENTS / files.folder_name(student) for student in single}
    grades: dict[str, Grade] = {}
    for student, path in single.items():
        there = files.read_grade(_private(places[student]))
        if there and not there.broken and there.key == grader.key(student, grader.read(path)):
            grades[student] = there
    kept = len(grades)
    left = {
        student: (student, str(path.absolute()))
        for student, path in single.items()
        if student not in grades
    }
    level = grader.assignment.document.feedback.hidden
    work = apart.work(grader.course.folder, grader.assignment.name, grader.vms)
    report(kept, len(single))
    try:
        for student, answer in engine.run(work, left):
            grade = Grade.from_json(answer) if answer else _died(grader, student, single[student])
            place = places[student]
            files.write_grade(grade, place, level, teacher=_private(place))
            grades[student] = grade
            report(len(grades), len(single))
    finally:
        apart.end_all()
    _clear(out, places)
    ordered = tuple(grades[student] for student in sorted(grades))
    changes = tuple(_changes(out, ordered))
    _write(grader, ordered, double, changes, out)
    return Graded(ordered, double, kept, changes)


def _died(grader: Grader, student: str, path: Path) -> Grade:
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
        key=grader.key(student, grader.read(path)),
        lines=lines,
    )


def _private(place: Path) -> Path:
    """Return the teacher's folder for a student's folder."""
    return place.parent.parent / TEACHER / place.name


def _clear(out: Path, places: Mapping[str, Path]) -> None:
    """Remove the grades of submissions that are no longer there."""
    known = set(places.values())
    for place in sorted((out / STUDENTS).glob("*")):
        private = _private(place)
        if place not in known and (private / files.GRADE).is_file():
            for name in ("report.md", "report.html", "results.json", "junit.xml", files.GRADE):
                (place / name).unlink(missing_ok=True)
                (private / name).unlink(missing_ok=True)
            for folder in (place, private):
                if not any(folder.iterdir()):
                    folder.rmdir()


def _scores(grades: Sequence[Grade]) -> dict[str, Any]:
    return {
        grade.student: {
            "score": grade.score,
            "checks": {line.name: [line.score, line.points] for line in grade.lines},
        }
        for grade in grades
    }


def _changes(out: Path, grades: Sequence[Grade]) -> Iterator[Change]:
    """Yield who gained or lost points since the last complete run, and in which checks."""
    try:
        before = json.loads((out / PUBLISHED).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return
    for student, now in _scores(grades).items():
        then = before.get(student)
        if then is None or then == now:
            continue
        names = [*dict.fromkeys([*then["checks"], *now["checks"]])]
        changed = tuple(
            f"{name} {_points(then, name)} -> {_points(now, name)}"
            for name in names
            if then["checks"].get(name) != now["checks"].get(name)
        )
        yield Change(student, then["score"], now["score"], changed)


def _points(entry: Mapping[str, Any], name: str) -> str:
    score, most = entry["checks"].get(name, (None, None))
    return "none" if score is None else f"{amount(score)}/{most}"


def _write(
    grader: Grader,
    grades: Sequence[Grade],
    ungraded: Mapping[str, str],
    changes: Sequence[Change],
    out: Path,
) -> None:
    files.write(out / "grades.csv", classes.table(grades, ungraded))
    files.write(out / "junit.xml", classes.junit(grader.assignment.name, grades))
    if changes:
        files.write(out / "changes.txt", "".join(f"{change}\n" for change in changes))
    if grader.assignment.document.contest:
        files.write(out / "league.html", league.page(grader.assignment, grades))
    files.write(out / PUBLISHED, files.json_text(_scores(grades)))
