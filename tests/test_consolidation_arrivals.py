# SPDX-License-Identifier: MIT
"""Splitting and joining of requests, against one request after the other."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.consolidate.arrivals import Pieces, split

REQUESTS = st.lists(st.tuples(st.integers(0, 2**62), st.integers(1, 1000)), max_size=30)


def by_hand(blocks: int, limit: int) -> list[int]:
    """Cut off a piece as long as there is more than one."""
    pieces = []
    while blocks > limit:
        pieces.append(limit)
        blocks -= limit
    return [*pieces, blocks]


def rows(pieces: Pieces) -> list[tuple[int, ...]]:
    columns = (pieces.request, pieces.arrival_ns, pieces.blocks)
    return list(zip(*(column.tolist() for column in columns), strict=True))


@given(REQUESTS, st.integers(1, 300))
def test_pieces_are_cut_off_one_by_one(requests: list[tuple[int, int]], limit: int) -> None:
    pieces = split([at for at, _ in requests], [blocks for _, blocks in requests], limit)
    want = [
        (i, at, piece)
        for i, (at, blocks) in enumerate(requests)
        for piece in by_hand(blocks, limit)
    ]
    assert rows(pieces) == want
    assert pieces.of_each.tolist() == [len(by_hand(blocks, limit)) for _, blocks in requests]
    assert pieces.splitting_ratio == (len(want) / len(requests) if requests else 1)


@given(REQUESTS, st.integers(1, 300), st.randoms(use_true_random=False))
def test_the_joined_response_is_the_mean(
    requests: list[tuple[int, int]], limit: int, draw: Any
) -> None:
    pieces = split([at for at, _ in requests], [blocks for _, blocks in requests], limit)
    response = [draw.randrange(10**9) for _ in pieces.request]
    left = iter(response)
    want = []
    for _, blocks in requests:
        own = [next(left) for _ in by_hand(blocks, limit)]
        want.append(sum(own) / len(own))
    assert pieces.joined(response).tolist() == pytest.approx(want)


def test_the_papers_limit_is_512_kb() -> None:
    """A multiple of the limit leaves no empty piece, and nothing is lost."""
    pieces = split([5, 7, 9, 9], [128, 129, 256, 1])
    assert pieces.blocks.tolist() == [128, 128, 1, 128, 128, 1]
    assert pieces.arrival_ns.tolist() == [5, 7, 7, 9, 9, 9]
    assert pieces.splitting_ratio == 6 / 4


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0], [1], 0), "limit_blocks is 0: a piece has at least one block"),
        (([0, 1], [1]), "2 arrivals, but 1 sizes"),
        (([0, 1, 2], [1, 0, -1]), r"blocks\[1\] is 0: a request has at least one block"),
        (([0], [1.5]), "blocks is of type float64: give whole numbers"),
        (([0], [float("nan")]), "blocks is of type float64: give whole numbers"),
        (([[0]], [1]), "arrival_ns has 2 dimensions"),
        ((np.array([2**63], np.uint64), [1]), r"arrival_ns\[0\] is 9223372036854775808"),
    ],
)
def test_impossible_requests_are_refused(arguments: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        split(*arguments)


def test_each_piece_needs_a_response() -> None:
    with pytest.raises(ValueError, match=r"shape \(1,\), and there are 2 pieces"):
        split([0], [129]).joined([1.0])
