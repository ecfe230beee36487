# SPDX-License-Identifier: MIT
"""Grade one submission: every check of the assignment, each by itself.

A mistake of the submission costs the points of the checks that it concerns.  If a check itself
fails, its points do not count, and the grade says so: the student loses nothing by it.  If this
machine cannot run a right scheduler either, nobody is graded.
"""

import hmac
import threading
from dataclasses import dataclass, field
from pathlib import Path

from understudy_devices.ask import self_test
from understudy_devices.base.cache import digest
from understudy_devices.base.errors import UserError
from understudy_devices.course import reading, result, submission
from understudy_devices.course.check import Check
from understudy_devices.course.library import Course, normal
from understudy_devices.course.result import Found, Grade, Line, NoPoints
from understudy_devices.course.spec import Assignment
from understudy_devices.course.submission import Submission
from understudy_devices.course.work import Keys, NotRun, Work
from understudy_devices.native import worker
from understudy_devices.native.version import code_version

VARIANT = "variant.toml"


@dataclass(frozen=True)
class Grader:
    """Grades submissions of one assignment; `public` leaves hidden checks out."""

    assignment: Assignment
    course: Course
    vms: bool = True
    public: bool = False
    stop: threading.Event = field(default_factory=threading.Event)

    def read(self, path: Path) -> Submission:
        """Read a submission."""
        files, size = self.assignment.files, self.assignment.file_bytes
        return reading.read(path, files, size, renamed=True)

    def variant_of(self, path: Path) -> str | None:
        """Return the student whose variant.toml is in a submission, if its key is genuine; None if
        there is no variant.toml.
        """
        found = reading.read(path, [VARIANT], self.assignment.file_bytes)
        if VARIANT not in found.files:
            return None
        try:
            table = reading.toml(found.files[VARIANT].decode(), VARIANT)
            student, key = str(table["student"]), bytes.fromhex(table["key"])
        except (NoPoints, ValueError, KeyError, TypeError):
            raise UserError(f"{VARIANT}: changed; hand in the one from your teacher") from None
        right = Keys.of(self.course.secret, self.assignment.name, normal(student)).public.key
        if not hmac.compare_digest(key, right):
            raise UserError(
                f"{VARIANT}: its key is not that of {submission.shown(student)} for "
                f"{self.assignment.name}; hand in the one from your teacher"
            )
        return self.course.spelled(student)

    def student_of(self, path: Path) -> str:
        """Return the student whose variant.toml is in a submission; UserError without one."""
        student = self.variant_of(path)
        if student is None:
            raise UserError(f"{VARIANT} was not handed in; hand in the one from your teacher")
        return student

    @property
    def rules(self) -> str:
        """Return a digest of what all grades follow from: the assignment, and who grades how."""
        parts = [
            self.assignment.digest.encode(),
            self.course.secret,
            code_version().encode(),
            f"{self.vms} {self.public}".encode(),
        ]
        return digest(parts)

    def key(self, student: str, handed_in: Submission) -> str:
        """Return a digest of everything that a grade follows from."""
        who = normal(student).encode(errors="surrogateescape")
        return digest([self.rules.encode(), handed_in.digest.encode(), who])

    def grade(self, student: str, handed_in: Submission, keys: Keys | None = None) -> Grade:
        """Return the grade of a submission; RunFailed if this machine cannot grade.

        What the machine lacks looks like a mistake of the submission, so a scheduler that is known
        to be right runs first, and once more if points were lost.
        """
        self_test.run()
        work = self.work(student, handed_in, keys)
        with worker.allowing(work.allowance):
            lines = tuple(
                self._line(check, work)
                for check in self.assignment.checks
                if not (self.public and check.hidden)
            )
        if any(line.status == result.FAILED for line in lines):
            self_test.run()
        return Grade(
            assignment=self.assignment.name,
            title=self.assignment.document.title,
            student=self.course.spelled(student),
            pseudonym=self.course.pseudonym(student),
            key=self.key(student, handed_in),
            lines=lines,
            notes=tuple(handed_in.notes),
            handed_in=handed_in.digest,
            rules=self.rules,
        )

    def work(self, student: str, handed_in: Submission, keys: Keys | None = None) -> Work:
        """Return what the checks of a submission work with."""
        limits = self.assignment.document.limits
        return Work(
            submission=handed_in,
            keys=keys or Keys.of(self.course.secret, self.assignment.name, normal(student)),
            folder=self.assignment.folder,
            variant=self.assignment.variant,
            failures_most=limits.failures,
            allowance=worker.Allowance(limits.run_seconds, limits.all_seconds),
            vms=self.vms,
            stop=self.stop,
        )

    def _line(self, check: Check, work: Work) -> Line:
        status, share, found = result.FAILED, 0.0, Found(0.0)
        lines: tuple[str, ...] = ()
        try:
            found = check.run(work)
            share, lines = found.share, found.lines
            status = result.PASSED if share >= 1 else result.FAILED
        except NoPoints as why:
            lines = (str(why),)
        except NotRun as why:
            status, lines = result.NOT_RUN, (str(why),)
        except Exception as error:
            if self.stop.is_set():
                raise
            status, lines = result.BROKEN, (f"{type(error).__name__}: {error}",)
        if status == result.FAILED and check.hint:
            lines = (*lines, f"hint: {check.hint}")
        return Line(
            name=check.name,
            kind=check.kind,
            points=check.points,
            score=round(check.points * min(max(share, 0.0), 1.0), 2),
            status=status,
            hidden=check.hidden,
            lines=lines,
            pictures=found.pictures,
            figures=found.figures,
        )
