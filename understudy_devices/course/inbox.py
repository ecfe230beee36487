# SPDX-License-Identifier: MIT
"""Whose submission is whose: a class's folder, and students.csv.

A submission belongs to the student of its variant.toml, if the key in it is genuine; otherwise to
the student after whom it is named.  In a contest a student may hand in several: NAME-1.zip,
NAME-2.zip, each with NAME's variant.toml.  Whatever does not fit is said, and costs nobody else a
grade.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from understudy_devices.base.errors import UserError
from understudy_devices.course import files, submission
from understudy_devices.course.grade import VARIANT, Grader
from understudy_devices.course.library import STUDENTS, Course, normal
from understudy_devices.course.spec import SPECIFICATION, TEXT
from understudy_devices.course.submission import shown

NOBODYS = (".DS_Store", ".directory", ".git", ".gitignore", ".lock")
"""Hidden files that no student has handed in."""
NUMBERED = re.compile(r"(?P<name>.+)-(?P<number>[0-9]{1,9})", re.DOTALL)
"""The name of one of several submissions of a student."""


@dataclass(frozen=True)
class Owner:
    """The student of a submission, and remarks about that for the teacher."""

    student: str
    named: str
    """The student after whom the submission is named."""
    proven: bool
    """Whether the submission has the student's variant.toml."""
    notes: tuple[str, ...] = ()
    told: tuple[str, ...] = ()
    """Remarks for the student's report."""

    @property
    def agrees(self) -> bool:
        """Return whether the submission's name and its variant.toml name the same student."""
        return normal(self.named) == normal(self.student)


@dataclass(frozen=True)
class Inbox:
    """The submissions of a class."""

    submissions: Mapping[str, tuple[Path, ...]]
    """The submissions of each student: one, or in a contest several."""
    ungraded: Mapping[str, str]
    """Submissions that are not graded, by student or by name, each with the reason."""
    missing: tuple[str, ...]
    """Students of students.csv who have handed in nothing."""
    notes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Remarks about a student's submission."""

    @property
    def count(self) -> int:
        """Return the number of submissions that are graded."""
        return sum(map(len, self.submissions.values()))


def owner(grader: Grader, path: Path) -> Owner:
    """Return whose a submission is."""
    named = _named(grader, submission.identity(path))
    notes = []
    try:
        by_variant = grader.variant_of(path)
    except UserError as wrong:
        by_variant = None
        notes.append(f"{wrong}; graded as {shown(named)}'s")
    student = named if by_variant is None else by_variant
    if by_variant is not None and _is_one_of_several(grader, named, student):
        named = student
    if normal(student) != normal(named):
        notes.append(f"handed in as {shown(named)}; its {VARIANT} is {_whose(student)}")
    notes += not_listed(grader, student)
    return Owner(student, named, by_variant is not None, tuple(notes))


def owner_on_host(grader: Grader, path: Path, identity: str) -> Owner:
    """Return whose a submission is, of which a host says that `identity` hands it in.

    An identity of students.csv counts.  The host may also have another name than the teacher's list
    (an e-mail address); then the variant.toml says who it is.
    """
    course, told = grader.course, []
    listed = _listed_on_host(course, identity)
    handing_in = listed or identity
    graded = f"graded with the variant of {shown(handing_in)}"
    try:
        by_variant = grader.variant_of(path)
    except UserError as wrong:
        by_variant = None
        told.append(f"{wrong}; {graded}")
    other = by_variant is not None and normal(by_variant) != normal(handing_in)
    if by_variant and other and not listed:
        note = (
            f"handed in by {shown(identity)}; graded as {shown(by_variant)}, whose {VARIANT} it has"
        )
        notes = (note, *not_listed(grader, identity), *not_listed(grader, by_variant))
        return Owner(by_variant, identity, True, notes)
    if by_variant is not None and other:
        told.append(f"the {VARIANT} is {_whose(by_variant)}; {graded}")
    elif by_variant is None and not told and not listed and course.students:
        told.append(
            f"{graded}, who is not on your teacher's list; if your variant is another, hand in its "
            f"{VARIANT} too"
        )
    notes = tuple(not_listed(grader, handing_in))
    return Owner(handing_in, identity, by_variant is not None and not other, notes, tuple(told))


def _listed_on_host(course: Course, identity: str) -> str | None:
    """Return an identity as students.csv spells it; a group's addresses may be in any order."""

    def addresses(name: str) -> list[str]:
        return sorted(normal(name).split("+"))

    groups = (each for each in course.students if addresses(each) == addresses(identity))
    return course.listed(identity) or next(groups, None)


def not_listed(grader: Grader, student: str) -> list[str]:
    """Return a remark about a student who is not in students.csv, if that has any student."""
    course = grader.course
    if not student or not course.students or course.listed(student):
        return []
    return [f"{shown(student)} is not in {STUDENTS}"]


def _named(grader: Grader, name: str) -> str:
    """Return the student of a submission's name: a folder may have the name of an exported one."""
    course = grader.course
    exported = {normal(files.folder_name(each)): each for each in course.students}
    return course.listed(name) or exported.get(normal(name), name)


def _is_one_of_several(grader: Grader, name: str, student: str) -> bool:
    """Return whether a submission's name is the student's with a number, in a contest."""
    numbered = NUMBERED.fullmatch(name)
    if not grader.assignment.document.contest or not numbered:
        return False
    before = normal(_named(grader, numbered["name"]))
    return before == normal(student) and not grader.course.listed(name)


def _whose(student: str) -> str:
    return f"that of {shown(student)}" if student else "nobody's"


def read(grader: Grader, folder: Path) -> Inbox:
    """Return the submissions in a folder, and who has none."""
    try:
        paths = sorted(folder.iterdir(), key=lambda path: path.name)
    except OSError as error:
        raise UserError(
            f"{folder}: {error.strerror}; name a folder with a submission for each student"
        ) from None
    dotted = {
        path.name: "not graded: its name begins with a dot; rename it"
        for path in paths
        if path.name.startswith(".") and path.name not in NOBODYS
    }
    paths = [path for path in paths if not path.name.startswith(".")]
    if not paths:
        raise UserError(f"{folder}: is empty; it needs a submission for each student")
    _refuse_one_students(grader, folder, {path.name for path in paths})
    of_student: defaultdict[str, list[tuple[Owner, Path]]] = defaultdict(list)
    ungraded = dotted
    for path in paths:
        found = owner(grader, path)
        if not found.agrees and grader.course.listed(found.named):
            ungraded[found.named] = _anothers(found, path)
        else:
            of_student[normal(found.student)].append((found, path))
    several = grader.assignment.document.contest is not None
    submissions, notes = {}, {}
    for entries in of_student.values():
        graded = _graded(entries, several=several)
        student = (graded or entries)[0][0].student
        if not graded:
            ungraded[student] = _unclear((path for _, path in entries), student, several=several)
            continue
        for each, path in entries:
            if (each, path) in graded:
                continue
            if each.agrees:
                ungraded[path.name] = _unproven(path, student)
            else:
                ungraded[each.named] = _anothers(each, path)
        submissions[student] = tuple(sorted((path for _, path in graded), key=_in_order))
        notes[student] = tuple(dict.fromkeys(note for each, _ in graded for note in each.notes))
    handed_in = {normal(each) for each in (*submissions, *ungraded)}
    missing = tuple(each for each in grader.course.students if normal(each) not in handed_in)
    said = {student: lines for student, lines in notes.items() if lines}
    return Inbox(submissions, ungraded, missing, said)


def _graded(
    entries: Sequence[tuple[Owner, Path]], *, several: bool
) -> Sequence[tuple[Owner, Path]]:
    """Return the submissions of a student that are graded; none if it is not clear which.

    Nobody can hand in for somebody who has: a submission that is named after the student goes
    before others.  Of these, `several` count if they have the student's variant.toml.
    """
    own = [each for each in entries if each[0].agrees]
    proven = [each for each in own if each[0].proven]
    if several and proven:
        return proven
    alone = own or entries
    return alone if len(alone) == 1 else []


def _in_order(path: Path) -> tuple[int, str]:
    """Return what submissions of a student are sorted by: ada-10.zip follows ada-9.zip."""
    numbered = NUMBERED.fullmatch(submission.identity(path))
    return int(numbered["number"]) if numbered else 0, path.name


def _refuse_one_students(grader: Grader, folder: Path, names: set[str]) -> None:
    """Raise a UserError if the folder is not a class's but one student's."""
    signs = sorted(names & {*grader.assignment.files, VARIANT, TEXT, SPECIFICATION})
    if signs:
        name = grader.assignment.name
        raise UserError(
            f"{folder}: has {signs[0]}, so it is one student's submission: name the folder above "
            f"it, or understudy course grade {name} {folder}"
        )


def _anothers(found: Owner, path: Path) -> str:
    return (
        f"not graded: {shown(path.name)} has the {VARIANT} of {shown(found.student)}; ask both, "
        "and remove the file or rename the submission"
    )


def _unproven(path: Path, student: str) -> str:
    return (
        f"not graded: {shown(path.name)} has no {VARIANT} of {shown(student)}, which another "
        "submission has; add it, or remove the file"
    )


def _unclear(paths: Iterable[Path], student: str, *, several: bool) -> str:
    names = " and ".join(shown(path.name) for path in paths)
    more = f", or name them {shown(student)}-1, {shown(student)}-2, ..., each with the {VARIANT}"
    return f"not graded: {names} are of one student; remove all but one{more if several else ''}"
