# SPDX-License-Identifier: MIT
"""The contest's league table: a static page, and the ranks that the figures support.

Every submission ran on the same held-back disks with the same seeds, so two are compared pair by
pair.  A place counts as better only if the interval of the mean difference excludes zero; the
intervals are as wide as the number of comparisons demands (Bonferroni).  So a place is shared by
all that cannot be told apart from its best.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
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


@dataclass(frozen=True)
class Entry:
    """A submission in the contest."""

    pseudonym: str
    ratios: tuple[float, ...]
    place: int = 0

    @property
    def found(self) -> Estimate:
        """Return the mean ratio and its interval."""
        return estimate(self.ratios)


def entries(assignment: Assignment, grades: Sequence[Grade]) -> list[Entry]:
    """Return the valid submissions with their places, best first; ties share a place."""
    contest = assignment.document.contest
    assert contest
    found = []
    for grade in grades:
        for line in grade.lines:
            if line.name == contest.check and line.figures.get("valid"):
                found.append(Entry(grade.pseudonym, tuple(line.figures[contest.measure])))
    found.sort(key=lambda entry: (entry.found.mean, entry.pseudonym))
    return list(_placed(found))


def outside(assignment: Assignment, grades: Sequence[Grade]) -> list[tuple[str, str]]:
    """Return the submissions that have no place, by pseudonym, each with the reason."""
    contest = assignment.document.contest
    assert contest
    return sorted(
        (grade.pseudonym, _why(line))
        for grade in grades
        for line in grade.lines
        if line.name == contest.check and not line.figures.get("valid")
    )


def _why(line: Line) -> str:
    """Return why a submission has no place; what its lines say of the code stays its author's."""
    missed = [each for each in line.lines if each.endswith(MISSED)]
    if line.figures:
        return "; ".join(each.removesuffix(MISSED) for each in missed)
    return "the grader failed" if line.status == BROKEN else "could not be measured"


def _placed(found: Sequence[Entry]) -> Iterator[Entry]:
    confidence = 1 - (1 - CONFIDENCE) / max(1, len(found) - 1)
    leader: Entry | None = None
    place = 0
    for number, entry in enumerate(found, 1):
        if leader is None or not _tied(leader, entry, confidence):
            leader, place = entry, number
        yield Entry(entry.pseudonym, entry.ratios, place)


def _tied(one: Entry, other: Entry, confidence: float) -> bool:
    if len(one.ratios) != len(other.ratios):
        return False
    pairs = zip(one.ratios, other.ratios, strict=True)
    return estimate([a - b for a, b in pairs], confidence).includes_zero


def board(assignment: Assignment, grade: Grade) -> list[Mapping[str, Any]]:
    """Return Gradescope's leaderboard entry of one submission, which knows no other."""
    if not assignment.document.contest:
        return []
    for entry in entries(assignment, [grade]):
        return [
            {"name": "ratio to the reference", "value": round(entry.found.mean, 4), "order": "asc"}
        ]
    return []


def page(assignment: Assignment, grades: Sequence[Grade]) -> str:
    """Return the league table as one HTML file."""
    listed = entries(assignment, grades)
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
        "it.</p>"
        "<table><tr><th>place<th>submission<th>ratio<th>95 % interval<th></tr>"
        f"{''.join(rows)}</table>{_without_place(outside(assignment, grades))}</html>\n"
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
        before = entry.place


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
    first = ' class="first"' if entry.place != before else ""
    return (
        f"<tr{first}><td class=number>{entry.place}<td>{escape(plain(entry.pseudonym))}"
        f"<td class=number>{entry.found.mean:.4f}<td class=number>{left:.4f} to {right:.4f}"
        f"<td>{bar}</tr>"
    )
