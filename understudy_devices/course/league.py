# SPDX-License-Identifier: MIT
"""The contest's league table: a static page, and the ranks that the figures support.

Every submission ran on the same held-back disks with the same seeds, so two are compared pair by
pair.  A place counts as better only if the interval of the mean difference excludes zero; the
intervals are as wide as the number of comparisons demands (Bonferroni).  So a place is shared by
all that cannot be told apart from its best.

A student's best submission has the student's place.  The student's others have a line and no place:
they push nobody down, and make no interval wider.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Any

from understudy_devices.base.plain import plain
from understudy_devices.course.result import BROKEN, MISSED, Grade, Line
from understudy_devices.course.spec import Assignment
from understudy_devices.measure.comparison import CONFIDENCE, Estimate, estimate

CSS = """
body { font: 15px/1.45 system-ui, sans-serif; max-width: 56em; margin: 2em auto; padding: 0 1em; }
table { border-collapse: collapse; width: 100%; } td, th { padding: .25em .7em; text-align: left;
border-bottom: 1px solid #ccc; } td.number { text-align: right;
font-variant-numeric: tabular-nums; }
tr.first td { border-top: 2px solid #555; }
"""
WIDTH = 260
SEVERAL = "The best of a student's submissions has the student's place; the others have none."


@dataclass(frozen=True)
class Entry:
    """A submission in the contest."""

    pseudonym: str
    number: int
    """Which of the student's submissions it is; 0 if there is one."""
    ratios: tuple[float, ...]
    counts: bool
    """Whether it is the student's best."""
    place: int = 0

    @property
    def found(self) -> Estimate:
        """Return the mean ratio and its interval."""
        return estimate(self.ratios)

    @property
    def name(self) -> str:
        """Return what stands in the table."""
        return _name(self.pseudonym, self.number)


def best(assignment: Assignment, tries: Sequence[Grade]) -> int:
    """Return the index of a student's best submission: a valid one before others, then the lowest
    mean ratio, then the most points, then the first one.
    """

    def order(index: int) -> tuple[float, float]:
        line = _line(assignment, tries[index])
        ratios = _ratios(assignment, line) if line else None
        return estimate(ratios).mean if ratios else math.inf, -tries[index].score

    return min(range(len(tries)), key=order)


def entries(assignment: Assignment, students: Sequence[Sequence[Grade]]) -> list[Entry]:
    """Return the valid submissions of all students, best first, with the places of those that
    count; ties share a place.
    """
    found = []
    for tries in students:
        first = best(assignment, tries)
        for index, (number, grade) in enumerate(_numbered(tries)):
            line = _line(assignment, grade)
            ratios = _ratios(assignment, line) if line else None
            if ratios:
                found.append(Entry(grade.pseudonym, number, ratios, counts=index == first))
    found.sort(
        key=lambda entry: (entry.found.mean, entry.pseudonym, not entry.counts, entry.number)
    )
    return list(_placed(found))


def outside(assignment: Assignment, students: Sequence[Sequence[Grade]]) -> list[tuple[str, str]]:
    """Return the submissions that are not valid, by name, each with the reason."""
    found = []
    for tries in students:
        for number, grade in _numbered(tries):
            line = _line(assignment, grade)
            if line and not _ratios(assignment, line):
                found.append((grade.pseudonym, number, _why(line)))
    return [(_name(pseudonym, number), why) for pseudonym, number, why in sorted(found)]


def _numbered(tries: Sequence[Grade]) -> Iterator[tuple[int, Grade]]:
    return enumerate(tries, 1) if len(tries) > 1 else zip([0], tries, strict=True)


def _name(pseudonym: str, number: int) -> str:
    return f"{pseudonym} ({number})" if number else pseudonym


def _line(assignment: Assignment, grade: Grade) -> Line | None:
    """Return the line of the contest's check; None if that was left out."""
    contest = assignment.document.contest
    assert contest
    return next((line for line in grade.lines if line.name == contest.check), None)


def _ratios(assignment: Assignment, line: Line) -> tuple[float, ...] | None:
    """Return the figures of a valid submission."""
    contest = assignment.document.contest
    assert contest
    return tuple(line.figures[contest.measure]) if line.figures.get("valid") else None


def _why(line: Line) -> str:
    """Return why a submission has no place; what its lines say of the code stays its author's."""
    missed = [each for each in line.lines if each.endswith(MISSED)]
    if line.figures:
        return "; ".join(each.removesuffix(MISSED) for each in missed)
    return "the grader failed" if line.status == BROKEN else "could not be measured"


def _placed(found: Sequence[Entry]) -> Iterator[Entry]:
    students = sum(entry.counts for entry in found)
    confidence = 1 - (1 - CONFIDENCE) / max(1, students - 1)
    leader: Entry | None = None
    place = number = 0
    for entry in found:
        if entry.counts:
            number += 1
            if leader is None or not _tied(leader, entry, confidence):
                leader, place = entry, number
        yield replace(entry, place=place if entry.counts else 0)


def _tied(one: Entry, other: Entry, confidence: float) -> bool:
    if len(one.ratios) != len(other.ratios):
        return False
    pairs = zip(one.ratios, other.ratios, strict=True)
    return estimate([a - b for a, b in pairs], confidence).includes_zero


def board(assignment: Assignment, grade: Grade) -> list[Mapping[str, Any]]:
    """Return Gradescope's leaderboard entry of one submission, which knows no other."""
    if not assignment.document.contest:
        return []
    for entry in entries(assignment, [[grade]]):
        return [
            {"name": "ratio to the reference", "value": round(entry.found.mean, 4), "order": "asc"}
        ]
    return []


def page(assignment: Assignment, students: Sequence[Sequence[Grade]]) -> str:
    """Return the league table as one HTML file, from the submissions of each student."""
    listed = entries(assignment, students)
    several = any(len(tries) > 1 for tries in students)
    title = escape(plain(assignment.document.title))
    limits = [limit for entry in listed for limit in entry.found.limits if limit is not None]
    low, high = min([*limits, 0.95]), max([*limits, 1.0])
    rows = [_row(entry, low, high, before) for entry, before in _with_place_before(listed)]
    seeds = len(listed[0].ratios) if listed else 0
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>'
        f"<style>{CSS}</style><h1>{title}: league table</h1>"
        f"<p>{len(listed)} submission{'' if len(listed) == 1 else 's'}, each with {seeds} seeds, "
        "on disks and with seeds that are held back. A figure is the mean ratio to the "
        "reference scheduler, with its 95 % interval; "
        "lower is better. Submissions that cannot be told apart from the best of their place share "
        f"it.{' ' + SEVERAL if several else ''}</p>"
        "<table><tr><th>place<th>submission<th>ratio<th>95 % interval<th></tr>"
        f"{''.join(rows)}</table>{_without_place(outside(assignment, students))}</html>\n"
    )


def _without_place(listed: Sequence[tuple[str, str]]) -> str:
    if not listed:
        return ""
    rows = "".join(
        f"<tr><td>{escape(plain(name))}<td>{escape(plain(why))}</tr>" for name, why in listed
    )
    return f"<h2>Without a place</h2><table><tr><th>submission<th>reason</tr>{rows}</table>"


def _with_place_before(listed: Sequence[Entry]) -> Iterator[tuple[Entry, int]]:
    before = 0
    for entry in listed:
        yield entry, before
        before = entry.place or before


def _row(entry: Entry, low: float, high: float, before: int) -> str:
    left, right = entry.found.limits
    assert left is not None
    assert right is not None
    span = (high - low) or 1.0

    def x(value: float) -> float:
        return round(4 + (WIDTH - 8) * (value - low) / span, 1)

    bar = (
        f'<svg width="{WIDTH}" height="16"><line x1="{x(1.0)}" y1="0" x2="{x(1.0)}" y2="16" '
        f'stroke="#bbb"/><line x1="{x(left)}" y1="8" x2="{x(right)}" y2="8" stroke="#456" '
        f'stroke-width="2"/><circle cx="{x(entry.found.mean)}" cy="8" r="4" fill="#456"/></svg>'
    )
    first = ' class="first"' if entry.counts and entry.place != before else ""
    return (
        f"<tr{first}><td class=number>{entry.place or ''}<td>{escape(plain(entry.name))}"
        f"<td class=number>{entry.found.mean:.4f}<td class=number>{left:.4f} to {right:.4f}"
        f"<td>{bar}</tr>"
    )
