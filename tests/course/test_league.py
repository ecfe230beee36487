# SPDX-License-Identifier: MIT
"""The league table: places by what the figures can tell apart."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from understudy_devices.course import league, library
from understudy_devices.course.result import FAILED, MISSED, Grade, Line

ASSIGNMENT = library.Course(None, "", library.PUBLIC_SECRET).assignment("beat-cats")
NOISE = (0.03, -0.02, 0.01, -0.03, 0.01)


def grade(name: str, ratios: Sequence[float], *, valid: bool = True) -> Grade:
    figures = {"value": list(ratios), "valid": valid}
    line = Line("the contest", "measure", 60, 0.0, FAILED, True, (), (), figures)
    return Grade("beat-cats", "Beat CATS", name, f"<{name}>", "", (line,))


def around(mean: float, own: Sequence[float] = (0, 0, 0, 0, 0)) -> list[float]:
    """Return ratios that share the noise of the seeds, and have some of their own."""
    return [mean + shared + mine for shared, mine in zip(NOISE, own, strict=True)]


def places(*grades: Grade) -> list[tuple[str, int]]:
    found = league.entries(ASSIGNMENT, grades)
    return [(entry.pseudonym.strip("<>"), entry.place) for entry in found]


def test_a_small_difference_on_every_seed_is_a_better_place() -> None:
    """The noise of the seeds, which both have, hides nothing."""
    assert places(grade("b", around(0.81)), grade("a", around(0.80))) == [("a", 1), ("b", 2)]


def test_a_difference_that_chance_explains_is_a_tie() -> None:
    own = (0.05, -0.06, 0.04, 0.02, -0.04)
    found = places(grade("a", around(0.8)), grade("b", around(0.805, own)), grade("c", around(2)))
    assert found == [("a", 1), ("b", 1), ("c", 3)]


def test_who_missed_a_bound_is_not_in_the_table() -> None:
    assert places(grade("a", around(0.5), valid=False), grade("b", around(0.9))) == [("b", 1)]


def test_who_has_no_place_is_listed_with_the_reason() -> None:
    over = grade("over", around(0.5), valid=False)
    words = "99.9th percentile, as a multiple of cats's: 1.500 ± 0.010, expected at most 1.2"
    line = replace(over.lines[0], lines=("mean response: fine", f"{words}{MISSED}"))
    wrong = replace(grade("wrong", ()).lines[0], lines=("challenger.c: crashed",), figures={})
    grades = [
        grade("good", around(0.9)),
        replace(over, lines=(line,)),
        replace(grade("wrong", ()), lines=(wrong,)),
    ]
    listed = league.outside(ASSIGNMENT, grades)
    assert listed == [("<over>", words), ("<wrong>", "could not be measured")]
    page = league.page(ASSIGNMENT, grades)
    assert page.index("&lt;good&gt;") < page.index("Without a place") < page.index("&lt;over&gt;")
    assert "1 submission, each" in page
    assert "crashed" not in page
    assert "Without a place" not in league.page(ASSIGNMENT, grades[:1])


def test_the_page_names_nobody_and_escapes() -> None:
    page = league.page(ASSIGNMENT, [grade("ada", around(0.8)), grade("bob", around(0.9))])
    assert "&lt;ada&gt;" in page
    assert "<ada>" not in page
    assert page == league.page(ASSIGNMENT, [grade("bob", around(0.9)), grade("ada", around(0.8))])


def test_a_contest_of_one_and_of_none() -> None:
    assert places() == []
    assert places(grade("a", around(0.8))) == [("a", 1)]
    assert "0 submissions" in league.page(ASSIGNMENT, [])


def test_gradescopes_leaderboard() -> None:
    (entry,) = league.board(ASSIGNMENT, grade("a", around(0.8)))
    assert entry == {
        "name": "ratio to the reference",
        "value": pytest.approx(0.8),
        "order": "asc",
    }
    assert league.board(ASSIGNMENT, grade("a", around(0.8), valid=False)) == []
