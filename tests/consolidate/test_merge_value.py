# SPDX-License-Identifier: MIT
"""The search for a merge value, on queues with a known solution."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy_devices.base.errors import RunFailed
from understudy_devices.consolidation.merge_value import Tried, search, search_each

ANSWERS = st.floats(1.05, 40)
EXPECTED = st.floats(0.1, 500)


@given(answer=ANSWERS, expected=EXPECTED, start=st.floats(1, 60), step=st.floats(0.3, 5))
def test_a_smooth_queue_is_met_from_anywhere(
    answer: float, expected: float, start: float, step: float
) -> None:
    """The corrected queue length falls with the square of the merge value, and has the expected
    length at the solution."""
    result = search(
        lambda merge: expected * (answer / merge) ** 2 * merge,
        expected,
        start=start,
        step=step,
        tries=400,
    )
    assert result.within
    assert result.merge >= 1
    assert result.tried[-1].corrected == pytest.approx(expected, rel=0.05 + 1e-9)


def test_the_steps_are_the_papers() -> None:
    """The value rises in steps until it passes the solution, then bisects: 1, 2, 3, 4, then
    between 3 and 4."""
    lengths = {1.0: 100.0, 2.0: 100.0, 3.0: 90.0, 4.0: 40.0, 3.5: 70.0}
    result = search(lengths.__getitem__, 20.0)
    assert [one.merge for one in result.tried] == [1.0, 2.0, 3.0, 4.0, 3.5]
    assert result.tried[-1] == Tried(3.5, 70.0)
    assert result.tried[-1].corrected == 20.0


def test_downwards_as_well() -> None:
    lengths = {4.0: 40.0, 3.0: 57.0}
    assert [one.merge for one in search(lengths.__getitem__, 20.0, start=4.0).tried] == [4.0, 3.0]


@pytest.mark.parametrize("start", [1.0, 1.5, 3.0])
def test_never_below_one(start: float) -> None:
    """The queue is too short even when nothing is merged."""
    tried: list[float] = []

    def short(merge: float) -> float:
        tried.append(merge)
        return 2.0

    result = search(short, 20.0, start=start)
    assert (result.merge, result.within) == (1.0, False)
    assert min(tried) == 1.0


def test_a_jump_is_an_error_with_its_place() -> None:
    with pytest.raises(RunFailed, match=r"no merge value found in \d+ tries: 20 requests .* 2\.3"):
        search(lambda merge: 100.0 if merge < 2.345 else 10.0, 20.0)


def test_a_queue_that_never_ends_is_an_error() -> None:
    with pytest.raises(RunFailed, match="no merge value found in 40 tries"):
        search(lambda merge: 1e6 * merge, 20.0)


@pytest.mark.parametrize(
    ("expected", "start", "message"),
    [
        (0.0, 1.0, "queue length of 0.0 requests"),
        (float("nan"), 1.0, "queue length of nan"),
        (20.0, 0.9, "merge value of 0.9"),
        (20.0, float("nan"), "merge value of nan"),
    ],
)
def test_what_can_not_be_searched_for(expected: float, start: float, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        search(lambda merge: 1.0, expected, start=start)


@given(
    st.lists(st.tuples(st.floats(1.05, 30), EXPECTED), min_size=1, max_size=6),
    st.floats(0.5, 6),
    st.floats(0, 0.4),
)
def test_each_vm_has_its_own(
    vms: list[tuple[float, float]], steepness: float, shared: float
) -> None:
    """Each corrected length falls with its own merge value, and slightly with the others'
    values.  At the solution all lengths are as expected."""

    def lengths(merges: tuple[float, ...]) -> list[float]:
        off = [answer / merge for (answer, _), merge in zip(vms, merges, strict=True)]
        together = float(np.prod(off)) ** (shared / len(off))
        return [
            expected * each**steepness * together * merge
            for (_, expected), each, merge in zip(vms, off, merges, strict=True)
        ]

    result = search_each(lengths, [expected for _, expected in vms])
    for search_of_one, (_, expected) in zip(result, vms, strict=True):
        assert search_of_one.within
        assert search_of_one.merge >= 1
        assert search_of_one.tried[-1].corrected == pytest.approx(expected, rel=0.05 + 1e-9)


def test_who_is_short_without_merging_has_a_value_of_one() -> None:
    result = search_each(lambda merges: [5.0, 40.0 * 3 / merges[1]], [20.0, 20.0])
    assert (result[0].merge, result[0].within) == (1.0, False)
    assert result[1].within
    assert result[1].merge == pytest.approx(6**0.5, rel=0.06)


def test_a_pile_without_an_end_is_merged_away() -> None:
    """The queue grows without bound until merging makes it stable, so its length is unknown
    until then."""
    result = search_each(lambda merges: [math.inf if merges[0] < 3 else 400.0 / merges[0]], [20.0])
    assert result[0].merge == pytest.approx(20**0.5, rel=0.05)


def test_of_several_the_one_that_is_not_found_is_named() -> None:
    with pytest.raises(RunFailed, match="VM 2: no merge value found in 40 tries: 20 requests"):
        search_each(lambda merges: [20.0, 1e6 * merges[1]], [20.0, 20.0])


def test_each_is_checked() -> None:
    with pytest.raises(ValueError, match="queue length of 0"):
        search_each(lambda merges: [1.0, 1.0], [20.0, 0.0])


@pytest.mark.parametrize(
    ("length", "tolerance", "tries", "within"),
    [
        (125, 0.25, 1, True),
        (75, 0.25, 1, True),
        (125.1, 0.25, 2, True),
        (74.9, 0.25, 1, False),
        (104.9, None, 1, True),
        (105.1, None, 2, True),
        (95.1, None, 1, True),
        (94.9, None, 1, False),
    ],
)
def test_within_the_tolerance_is_met(
    length: float, tolerance: float | None, tries: int, within: bool
) -> None:
    """It is 5 % by default.  The first value is 1: a queue too short with it is the answer."""

    def lengths(merge: float) -> float:
        return length if merge == 1 else 100 * merge

    def each(merges: tuple[float, ...]) -> list[float]:
        return [lengths(merges[0])]

    if tolerance is None:
        both = (search(lengths, 100.0), *search_each(each, [100.0]))
    else:
        one = search(lengths, 100.0, tolerance=tolerance)
        both = (one, *search_each(each, [100.0], tolerance=tolerance))
    assert [(len(one.tried), one.within) for one in both] == [(tries, within)] * 2


def test_the_search_takes_what_it_is_given() -> None:
    """Steps of a half from two, to within a tenth."""
    asked: list[float] = []

    def lengths(merge: float) -> float:
        asked.append(merge)
        return 400.0 / merge

    search(lengths, 20.0, start=2.0, tolerance=0.1, step=0.5)
    assert asked == [2.0, 2.5, 3.0, 3.5, 4.0, 4.5]  # of which 400 / 4.5² = 19.8
    with pytest.raises(RunFailed, match=r"in 2 tries: .* the last tried are 2, 2.5; more"):
        search(lengths, 20.0, start=2.0, tolerance=0.1, step=0.5, tries=2)
    asked.clear()
    with pytest.raises(RunFailed, match="VM 1: no merge value found in 3 tries"):
        search_each(lambda merges: [1e6 * lengths(merges[0])], [20.0], start=2.0, tries=3)
    assert asked == pytest.approx([2, 8, 32])


def test_a_step_is_at_most_a_factor_of_four_and_halves_when_it_turns() -> None:
    asked: list[float] = []

    def lengths(merges: tuple[float, ...]) -> list[float]:
        """Return a queue that has a jump from far too long to far too short at 10."""
        asked.append(merges[0])
        return [1e9 if merges[0] < 10 else 1.0]

    with pytest.raises(RunFailed, match="nearest is"):
        search_each(lengths, [20.0], tries=6)
    assert asked == pytest.approx([1, 4, 16, 8, 8 * 2**0.5, 8 * 2**0.5 / 2**0.25], rel=1e-9)


def test_the_worst_vm_is_named_but_not_one_that_is_short_without_merging() -> None:
    """The first queue is far too short, the second a little too long, the third twice."""
    with pytest.raises(RunFailed, match=r"VM 3: .* nearest is 1, with 40; the last tried are"):
        search_each(lambda merges: [0.001, 22.0 * merges[1], 40.0 * merges[2]], [20.0] * 3, tries=5)


def test_a_jump_ends_the_search_when_it_is_known_to_a_thousandth() -> None:
    """From 2 and 3, ten halvings."""
    with pytest.raises(RunFailed, match=r"no merge value found in 13 tries: .* nearest is 2.34"):
        search(lambda merge: 100.0 if merge < 2.345 else 10.0, 20.0)
