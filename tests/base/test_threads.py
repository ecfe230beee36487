# SPDX-License-Identifier: MIT
"""Threads run in parallel: all results, or the first error."""

import threading

import pytest

from understudy_devices.base.threads import run_all

LONG = 60  # seconds in which a test would have failed


def test_results_are_in_the_order_of_the_tasks() -> None:
    """Results keep the order of the tasks; here the first task waits for the last."""
    last = threading.Event()
    reports: list[None] = []

    def first() -> str:
        assert last.wait(LONG)
        return "first"

    def second() -> str:
        last.set()
        return "second"

    assert run_all([first, second], 2, threading.Event(), lambda: reports.append(None)) == [
        "first",
        "second",
    ]
    assert len(reports) == 2


def test_one_that_fails_ends_all() -> None:
    """Running tasks are signalled to stop, and pending tasks never start."""
    stop, begun = threading.Event(), []

    def waits() -> None:
        begun.append("waits")
        assert stop.wait(LONG)

    def fails() -> None:
        raise ValueError("no")

    def one_of_many() -> None:
        begun.append("one of many")
        assert stop.wait(LONG)

    with pytest.raises(ValueError, match="no"):
        run_all([waits, fails, *[one_of_many] * 50], 2, stop)
    assert stop.is_set()
    assert "waits" in begun
    assert begun.count("one of many") <= 1


def test_nothing_to_do() -> None:
    assert run_all([], 3, threading.Event()) == []
