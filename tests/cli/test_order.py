# SPDX-License-Identifier: MIT
"""`understudy order`: the papers' examples, and properties that hold for any requests."""

import json
from itertools import permutations

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from understudy_devices.base.errors import UserError
from understudy_devices.cli.order import command
from understudy_devices.papers.orders import Order, orders

positions = st.integers(0, 300)


def test_table_1_of_the_paper() -> None:
    answer = orders(100, [20, 82, 120, 200])
    assert answer["sstf"] == Order([82, 120, 200, 20], 79.0, 131.5)
    assert answer["optimal"] == Order([120, 82, 20, 200], 75.0, 124.5)
    assert answer["look"].order == [120, 200, 82, 20]
    assert answer["clook"].order == [120, 200, 20, 82]


def test_the_slides_example() -> None:
    answer = orders(50, [95, 10, 60, 41])
    assert answer["fcfs"] == Order([95, 10, 60, 41], 49.75, 138.5)
    assert answer["sstf"] == Order([41, 60, 95, 10], 37.0, 62.0)
    assert answer["optimal"] == Order([60, 41, 10, 95], 36.25, 61.0)


@given(head=positions, requests=st.lists(positions, min_size=1, max_size=40))
def test_orders_serve_everything_and_none_beats_the_optimal(head: int, requests: list[int]) -> None:
    answer = orders(head, requests)
    for order in answer.values():
        assert sorted(order.order) == sorted(requests)
        assert order.mean_response >= answer["optimal"].mean_response
    assert answer["fcfs"].order == requests
    ahead = [position for position in requests if position >= head]
    assert answer["clook"].order[: len(ahead)] == sorted(ahead)
    assert answer["look"].order[: len(ahead)] == sorted(ahead)


@given(head=positions, requests=st.lists(positions, min_size=1, max_size=6))
def test_optimal_is_optimal(head: int, requests: list[int]) -> None:
    def mean_response(order: tuple[int, ...]) -> float:
        at, clock, total = head, 0, 0
        for position in order:
            clock += abs(position - at)
            total += clock
            at = position
        return total / len(order)

    best = min(mean_response(order) for order in permutations(requests))
    assert orders(head, requests)["optimal"].mean_response == best


def test_as_many_as_the_table_takes() -> None:
    requests = [i * 7919 % 100_003 for i in range(4096)]
    answer = orders(50_000, requests)
    assert answer["optimal"].mean_response <= answer["sstf"].mean_response


@pytest.mark.parametrize(
    ("head", "requests", "complaint"),
    [
        (0, [], "no requests"),
        (0, [1] * 4097, "4097 requests"),
        (0, [-1], "position -1"),
        (-5, [1], "position -5"),
        (0, [2**48], f"position {2**48}"),
    ],
)
def test_refused(head: int, requests: list[int], complaint: str) -> None:
    with pytest.raises(UserError, match=complaint) as refusal:
        orders(head, requests)
    assert "\n" not in str(refusal.value)


def run(*arguments: str) -> str:
    result = CliRunner().invoke(command, arguments, catch_exceptions=False)
    assert result.exit_code == 0
    return result.output


def test_command_prints_a_table() -> None:
    output = run("--head", "50", "--requests", "95, 10,60,41")
    optimal = next(line for line in output.splitlines() if "optimal" in line)
    assert "60, 41, 10, 95" in optimal
    assert "36.25" in optimal
    assert "61.0" in optimal


def test_command_prints_json() -> None:
    result = json.loads(run("--head", "100", "--requests", "20,82,120,200", "--json"))
    assert result["head"] == 100
    assert set(result["orders"]) == {"fcfs", "sstf", "look", "clook", "optimal"}
    assert result["orders"]["sstf"] == {
        "order": [82, 120, 200, 20],
        "mean_service": 79.0,
        "mean_response": 131.5,
    }


def test_help_has_an_example() -> None:
    assert "understudy order --head 100 --requests 20,82,120,200" in run("--help")


@pytest.mark.parametrize(
    ("head", "requests"),
    [("x", "1"), ("1", "1,x"), ("1", "1.5"), ("1", "1,,2"), ("1", ""), ("-1", "1"), ("1", "²")],
)
def test_command_refuses(head: str, requests: str) -> None:
    with pytest.raises(UserError):
        CliRunner().invoke(
            command, [f"--head={head}", "--requests", requests], catch_exceptions=False
        )
