# SPDX-License-Identifier: MIT
"""The number of pieces that a request is split into, against a loop that cuts off one piece at a
time."""

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy_devices.consolidation.arrivals import pieces, splitting_ratio


def by_hand(sectors: int, limit: int) -> int:
    count = 0
    while sectors > 0:
        sectors -= 8 * limit
        count += 1
    return count


@given(st.lists(st.integers(1, 8000), max_size=30), st.integers(1, 300))
def test_pieces_are_cut_off_one_by_one(sectors: list[int], limit: int) -> None:
    want = [by_hand(each, limit) for each in sectors]
    of_each = pieces(np.array(sectors, np.int64), limit)
    assert of_each.tolist() == want
    assert splitting_ratio(of_each) == (sum(want) / len(want) if want else 1)


def test_the_papers_limit_is_512_kb() -> None:
    """A multiple of the limit leaves no empty piece, although Eq. 5 taken literally would."""
    assert pieces([1, 1024, 1025, 2048, 2**31], 128).tolist() == [1, 1, 2, 2, 2**21]


@pytest.mark.parametrize(
    ("sectors", "limit", "says"),
    [
        ([8, 0], 128, "sectors[1] is 0: a request has at least one; drop it"),
        ([-8], 128, "sectors[0] is -8"),
        ([8], 0, "limit_blocks is 0: a piece has at least one block"),
        ([8.5], 128, "a list of whole numbers, one for each request, is needed"),
        ([[8]], 128, "sectors of shape (1, 1)"),
    ],
)
def test_what_is_impossible_is_named(sectors: Any, limit: int, says: str) -> None:
    with pytest.raises(ValueError, match=re.escape(says)):
        pieces(sectors, limit)
