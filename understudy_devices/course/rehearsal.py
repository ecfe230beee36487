# SPDX-License-Identifier: MIT
"""Try an assignment before a class does: in several students' variants the solution has to score
all points, and the unchanged starter what the text says.

A bound that a drawn disk cannot meet would otherwise cost a student points that nobody can get.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path

from understudy_devices.base import scratch
from understudy_devices.course import apart, export, spec
from understudy_devices.course.grade import Grader
from understudy_devices.course.result import FAILED, Grade, amount
from understudy_devices.course.submission import shown
from understudy_devices.engine import Engine

SOLUTION, STARTER = "the solution", "the starter"


def students(grader: Grader, count: int) -> list[str]:
    """Return the first `count` students of the class, with made-up ones if it has fewer."""
    listed = list(grader.course.students)[:count]
    return listed + [f"student {number}" for number in range(len(listed) + 1, count + 1)]


def mistakes(
    grader: Grader, names: Sequence[str], engine: Engine, report: Callable[[int, int], None]
) -> Iterator[str]:
    """Yield a line for each variant in which a score is not as it should be, in the order of
    `names`.
    """
    with scratch.folder("understudy-rehearsal-") as folder:
        items = {
            f"{name}\n{what}": (name, str(place))
            for number, name in enumerate(names)
            for what, place in _written(grader, name, Path(folder) / str(number))
        }
        work = apart.work(grader.course.folder, grader.assignment.name, grader.vms)
        grades = {}
        try:
            with closing(engine.run(work, items)) as answers:
                for done, (key, answer) in enumerate(answers, 1):
                    grades[key] = Grade.from_json(answer) if answer else None
                    report(done, len(items))
        finally:
            apart.end_all()
    for key in items:
        name, _, what = key.rpartition("\n")
        yield from _wrong(grader, name, what, grades[key])


def _written(grader: Grader, name: str, folder: Path) -> Iterator[tuple[str, Path]]:
    starter = grader.assignment.folder / spec.STARTER
    begun = {file.name: file.read_bytes() for file in starter.glob("*") if file.is_file()}
    for what, files in ((SOLUTION, export.solution(grader, name)), (STARTER, begun)):
        place = folder / what
        place.mkdir(parents=True)
        for file, content in files.items():
            (place / file).write_bytes(content)
        if files:
            yield what, place


def _wrong(grader: Grader, name: str, what: str, grade: Grade | None) -> Iterator[str]:
    if grade is None:
        yield f"{shown(name)}: {what}: the grading process died"
        return
    for line in grade.broken:
        yield f"{shown(name)}: {what}: {line.name}: the grader failed: {line.lines[0]}"
    document = grader.assignment.document
    expected = grade.most if what == SOLUTION else document.starter_points
    if grade.most != document.points and what == STARTER:
        return  # checks were left out, and nothing says what the others are to give
    if grade.score != expected:
        yield (
            f"{shown(name)}: {what} scores {amount(grade.score)} points, expected "
            f"{amount(expected)}"
        )
        for line in grade.lines if what == SOLUTION else ():
            if line.status == FAILED:
                yield f"    {line.name}: {'; '.join(line.lines)}"
