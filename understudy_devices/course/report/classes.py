# SPDX-License-Identifier: MIT
"""A class's grades: a CSV file, and JUnit XML with a test for each check of each student."""

import csv
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import StringIO
from xml.sax.saxutils import escape, quoteattr

from understudy_devices.base.plain import plain
from understudy_devices.course.result import FAILED, PASSED, Grade, amount

FORMULA = ("=", "+", "-", "@")
NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True)
class Absent:
    """A student without a grade; `note` says why."""

    student: str
    note: str
    pseudonym: str = ""
    zero: bool = False


def table(
    grades: Sequence[Grade],
    absent: Sequence[Absent],
    notes: Mapping[str, Sequence[str]],
    most: int,
) -> str:
    """Return the CSV: a row for each student, a column for each check.

    `notes` are remarks about a student's submission; `most` are the points of the assignment.
    """
    names = list(dict.fromkeys(line.name for grade in grades for line in grade.lines))
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["student", "pseudonym", "score", "of", "note", *names])
    for grade in grades:
        scores = {
            line.name: amount(line.score) if line.counts else line.status for line in grade.lines
        }
        said = [
            *notes.get(grade.student, ()),
            *grade.notes,
            *(f"the grader failed: {line.name}" for line in grade.broken),
        ]
        row = [
            grade.student,
            grade.pseudonym,
            amount(grade.score),
            str(grade.most),
            "; ".join(said),
            *(scores.get(name, "") for name in names),
        ]
        writer.writerow(map(_cell, row))
    for each in absent:
        got = ["0", str(most)] if each.zero else ["", ""]
        row = [each.student, each.pseudonym, *got, each.note, *("" for _ in names)]
        writer.writerow(map(_cell, row))
    return text.getvalue()


def _cell(text: str) -> str:
    """Return a cell that no spreadsheet takes for a formula."""
    safe = plain(text).replace("\n", " ")
    return f"'{safe}" if safe.lstrip().startswith(FORMULA) else safe


def junit(assignment: str, grades: Sequence[Grade]) -> str:
    """Return JUnit XML; a check that loses points is a failure."""
    suites = [_suite(assignment, grade) for grade in grades]
    tests = sum(len(grade.lines) for grade in grades)
    failures = sum(line.status == FAILED for grade in grades for line in grade.lines)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<testsuites name={_attribute(assignment)} tests="{tests}" failures="{failures}">\n'
        f"{''.join(suites)}</testsuites>\n"
    )


def _suite(assignment: str, grade: Grade) -> str:
    failures = sum(line.status == FAILED for line in grade.lines)
    skipped = sum(not line.counts for line in grade.lines)
    cases = []
    for line in grade.lines:
        text = _clean("\n".join(line.lines))
        begin = f"<testcase classname={_attribute(assignment)} name={_attribute(line.name)}"
        if line.status == PASSED:
            cases.append(f"    {begin}/>\n")
        else:
            kind = "failure" if line.status == FAILED else "skipped"
            message = f"{amount(line.score)} of {line.points} points"
            body = f"<{kind} message={_attribute(message)}>{escape(text)}</{kind}>"
            cases.append(f"    {begin}>{body}</testcase>\n")
    return (
        f'  <testsuite name={_attribute(grade.student)} tests="{len(grade.lines)}" '
        f'failures="{failures}" skipped="{skipped}">\n{"".join(cases)}  </testsuite>\n'
    )


def _attribute(text: str) -> str:
    return quoteattr(_clean(text).replace("\n", " "))


def _clean(text: str) -> str:
    return NOT_XML.sub("?", plain(text))
