# SPDX-License-Identifier: MIT
"""The submissions of one student: their grades, and which of them is the student's.

Usually there is one.  Of several, in a contest, the best one is the student's, and each has a
folder in the teacher's folder for the student: 1, 2, ...  A grade there is looked for by its
digest, so it also counts if the submission has another number than before.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from understudy_devices.course import files, league
from understudy_devices.course.result import Grade
from understudy_devices.course.spec import Assignment
from understudy_devices.course.submission import shown


@dataclass(frozen=True)
class Tries:
    """A student's submissions, each with the digest of everything that its grade follows from."""

    assignment: Assignment
    paths: Mapping[Path, str]
    place: Path
    """The student's folder."""
    private: Path
    """The teacher's folder for the student."""

    def there(self) -> Iterator[Grade]:
        """Yield the grades of these submissions that have been written."""
        folders = [file.parent for file in self.private.glob(f"*/{files.GRADE}")] or [self.private]
        for folder in folders:
            grade = files.read_grade(folder)
            if grade and not grade.broken and grade.key in self.paths.values():
                yield grade

    def write(self, grades: Mapping[str, Grade], *, anew: bool) -> None:
        """Write the grades, by digest, that are new; if all are known, also that of the student."""
        known = [(number, grades.get(key)) for number, key in enumerate(self.paths.values(), 1)]
        numbers = {str(number) for number, _ in known} if len(known) > 1 else set()
        for number, grade in known:
            folder = self.private / str(number)
            if numbers and grade and files.read_grade(folder) != grade:
                files.write(folder / files.GRADE, files.json_text(grade.as_json()))
        if all(grade for _, grade in known):
            self._write_best(self.best(grades), anew=anew)
            for file in self.private.glob(f"*/{files.GRADE}"):
                if file.parent.name not in numbers:
                    remove(file.parent)

    def _write_best(self, best: Grade, *, anew: bool) -> None:
        if anew or files.read_grade(self.private) != best:
            level = self.assignment.document.feedback.hidden
            files.write_grade(best, self.place, self.private, level)

    def all(self, grades: Mapping[str, Grade]) -> tuple[Grade, ...]:
        """Return the grades of all submissions, in order."""
        return tuple(grades[key] for key in self.paths.values())

    def best(self, grades: Mapping[str, Grade]) -> Grade:
        """Return the student's grade; of several submissions it says which is the best."""
        found = self.all(grades)
        if len(found) == 1:
            return found[0]
        index = league.best(self.assignment, found)
        name = shown([*self.paths][index].name)
        note = f"{name} is the best of {len(found)} submissions: number {index + 1} in the contest"
        return replace(found[index], notes=(*found[index].notes, note))


def remove(folder: Path) -> None:
    """Remove the files of a grade, and the folder if nothing else is in it."""
    for name in files.OF_GRADE:
        (folder / name).unlink(missing_ok=True)
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()
