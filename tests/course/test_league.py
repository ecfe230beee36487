# SPDX-License-Identifier: MIT
"""The league table: places by what the figures can tell apart."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from understudy_devices.course import league, library
from understudy_devices.course.result import FAILED, MISSED, PASSED, Grade, Line

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
    found = league.entries(ASSIGNMENT, [[each] for each in grades])
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
        [grade("good", around(0.9))],
        [replace(over, lines=(line,))],
        [replace(grade("wrong", ()), lines=(wrong,))],
    ]
    listed = league.outside(ASSIGNMENT, grades)
    assert listed == [("<over>", words), ("<wrong>", "could not be measured")]
    page = league.page(ASSIGNMENT, grades)
    assert page.index("&lt;good&gt;") < page.index("Without a place") < page.index("&lt;over&gt;")
    assert "1 submission, each" in page
    assert "crashed" not in page
    assert "Without a place" not in league.page(ASSIGNMENT, grades[:1])


def test_the_page_names_nobody_and_escapes() -> None:
    ada, bob = [grade("ada", around(0.8))], [grade("bob", around(0.9))]
    page = league.page(ASSIGNMENT, [ada, bob])
    assert "&lt;ada&gt;" in page
    assert "<ada>" not in page
    assert page == league.page(ASSIGNMENT, [bob, ada])


def test_the_best_submission_has_the_place_and_the_others_harm_nobody() -> None:
    """Two students with and without a third one's many tries have the same places."""
    ada, bob = grade("ada", around(0.8)), grade("bob", around(0.9))
    tries = [grade("carl", around(0.7 + number / 100)) for number in range(40)]
    alone = league.entries(ASSIGNMENT, [[ada], [bob], tries[:1]])
    found = league.entries(ASSIGNMENT, [[ada], [bob], [*tries[1:], tries[0]]])
    assert [(entry.name, entry.place) for entry in found if entry.counts] == [
        ("<carl> (40)", 1),
        ("<ada>", 2),
        ("<bob>", 3),
    ]
    assert [entry.place for entry in alone] == [1, 2, 3]
    assert len(found) == 42
    assert {entry.place for entry in found if not entry.counts} == {0}
    page = league.page(ASSIGNMENT, [[ada], [bob], [*tries[1:], tries[0]]])
    assert page.count("<td class=number><td>&lt;carl&gt; (") == 39
    assert page.count(league.SEVERAL) == 1
    assert league.SEVERAL not in league.page(ASSIGNMENT, [[ada], [bob]])


def test_more_submissions_of_one_make_no_interval_wider() -> None:
    """A difference that is certain among two students stays so beside many tries of one."""
    own = (0.02, -0.02, 0.02, -0.02, 0.01)
    ada, bob = grade("ada", around(0.8)), grade("bob", around(0.835, own))
    assert places(ada, bob) == [("ada", 1), ("bob", 2)]
    many = [ada, *(grade("ada", around(2 + number)) for number in range(50))]
    found = league.entries(ASSIGNMENT, [many, [bob]])
    assert [(entry.name, entry.place) for entry in found[:2]] == [("<ada> (1)", 1), ("<bob>", 2)]
    widened = [ada, bob, *(grade(f"c{number}", around(2 + number)) for number in range(50))]
    assert places(*widened)[1] == ("bob", 1)


def test_which_submission_is_the_best() -> None:
    """Valid before invalid, then the measure, then points, then the first one."""
    over = grade("ada", around(0.5), valid=False)
    slow, fast = grade("ada", around(0.9)), grade("ada", around(0.8))
    more = replace(fast, lines=(*fast.lines, Line("a", "builds", 5, 5.0, PASSED, False, ())))
    assert league.best(ASSIGNMENT, [over, slow]) == 1
    assert league.best(ASSIGNMENT, [over, slow, fast]) == 2
    assert league.best(ASSIGNMENT, [fast, more, slow]) == 1
    assert league.best(ASSIGNMENT, [fast, fast]) == 0
    assert league.best(ASSIGNMENT, [over, replace(over, lines=more.lines[1:])]) == 1
    rich = replace(slow, lines=(*slow.lines, *more.lines[1:]))
    assert league.best(ASSIGNMENT, [rich, fast]) == 1


def test_invalid_submissions_have_a_number_too() -> None:
    over, good = grade("ada", around(0.5), valid=False), grade("ada", around(0.9))
    assert [name for name, _ in league.outside(ASSIGNMENT, [[over, good, over]])] == [
        "<ada> (1)",
        "<ada> (3)",
    ]


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
