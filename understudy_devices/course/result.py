# SPDX-License-Identifier: MIT
"""What a check found, and a submission's grade; both contain neither times nor paths of the host,
so that the same submission has the same bytes everywhere."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

PASSED, FAILED, NOT_RUN, BROKEN = "passed", "failed", "not run", "grader failed"

MISSED = ": missed"
"""The end of a line about a bound that costs all points."""


class NoPoints(Exception):  # noqa: N818 - the submission has the error
    """A check cannot be passed; the message is the line for the student."""


@dataclass(frozen=True)
class Picture:
    """A drawing in a report: as SVG, and as text for a terminal and for Markdown."""

    title: str
    svg: str
    text: str

    @property
    def legend(self) -> str:
        """Return what stands above the text."""
        return f"{self.title} (o: served, ?: pending, H: head, E: expected, S: seen):"


@dataclass(frozen=True)
class Found:
    """What a check returns: the share of its points, and lines for the student.

    `figures` are kept for the league table and for the teacher.
    """

    share: float
    lines: tuple[str, ...] = ()
    pictures: tuple[Picture, ...] = ()
    figures: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Line:
    """A check's line in a grade."""

    name: str
    kind: str
    points: int
    score: float
    status: str
    hidden: bool
    lines: tuple[str, ...]
    pictures: tuple[Picture, ...] = ()
    figures: Mapping[str, Any] = field(default_factory=dict)

    @property
    def counts(self) -> bool:
        """Return whether the check's points are among the points that could be reached."""
        return self.status in (PASSED, FAILED)

    def as_json(self) -> dict[str, Any]:
        """Return the check's entry in grade.json."""
        return {
            "name": self.name,
            "kind": self.kind,
            "points": self.points,
            "score": self.score,
            "status": self.status,
            "hidden": self.hidden,
            "lines": list(self.lines),
            "pictures": [vars(picture) for picture in self.pictures],
            "figures": dict(self.figures),
        }

    @classmethod
    def from_json(cls, entry: Mapping[str, Any]) -> "Line":
        """Return the check of an entry in grade.json."""
        return cls(
            **{
                **entry,
                "lines": tuple(entry["lines"]),
                "pictures": tuple(Picture(**each) for each in entry["pictures"]),
            }
        )


@dataclass(frozen=True)
class Grade:
    """A submission's grade.

    `key` is a digest of everything that the grade follows from; `notes` are remarks about the
    submission as a whole, such as files that nobody asked for.  `handed_in` and `rules` are digests
    of the submission, and of the assignment with everything else: they say which of the two has
    changed.
    """

    assignment: str
    title: str
    student: str
    pseudonym: str
    key: str
    lines: tuple[Line, ...]
    notes: tuple[str, ...] = ()
    handed_in: str = ""
    rules: str = ""

    @property
    def score(self) -> float:
        """Return the points that were reached."""
        return round(sum(line.score for line in self.lines if line.counts), 2)

    @property
    def most(self) -> int:
        """Return the points that could be reached; checks that were not run do not count."""
        return sum(line.points for line in self.lines if line.counts)

    @property
    def broken(self) -> tuple[Line, ...]:
        """Return the checks in which the grader itself failed."""
        return tuple(line for line in self.lines if line.status == BROKEN)

    def as_json(self) -> dict[str, Any]:
        """Return the contents of grade.json."""
        return {
            "assignment": self.assignment,
            "title": self.title,
            "student": self.student,
            "pseudonym": self.pseudonym,
            "key": self.key,
            "handed_in": self.handed_in,
            "rules": self.rules,
            "score": self.score,
            "most": self.most,
            "notes": list(self.notes),
            "checks": [line.as_json() for line in self.lines],
        }

    @classmethod
    def from_json(cls, entry: Mapping[str, Any]) -> "Grade":
        """Return the grade of a grade.json."""
        return cls(
            assignment=entry["assignment"],
            title=entry["title"],
            student=entry["student"],
            pseudonym=entry["pseudonym"],
            key=entry["key"],
            handed_in=entry["handed_in"],
            rules=entry["rules"],
            notes=tuple(entry["notes"]),
            lines=tuple(Line.from_json(line) for line in entry["checks"]),
        )


def amount(points: float) -> str:
    """Return points as text, without needless zeros."""
    return f"{points:.2f}".rstrip("0").rstrip(".")
