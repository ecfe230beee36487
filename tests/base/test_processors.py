# SPDX-License-Identifier: MIT
"""Sets of processors that share a cache, on machines described as the kernel describes them."""

import os
from pathlib import Path

import pytest

from understudy_devices.base import processors


def machine(folder: Path, caches: dict[str, list[str]], siblings: list[str]) -> Path:
    """Write a machine: by processor, who shares each of its caches, and who shares its core."""
    for number, own in enumerate(zip(*caches.values(), strict=True)):
        for index, shared in enumerate(own):
            path = folder / f"cpu{number}/cache/index{index}/shared_cpu_list"
            path.parent.mkdir(parents=True)
            path.write_text(f"{shared}\n")
        path = folder / f"cpu{number}/topology/thread_siblings_list"
        path.parent.mkdir()
        path.write_text(f"{siblings[number]}\n")
    return folder


SINGLE = [str(number) for number in range(8)]
BLADE = {  # of the dissertation: two sockets of four cores; a pair of cores shares its L2
    "L1": SINGLE,
    "L2": ["0,2", "1,3", "0,2", "1,3", "4,6", "5,7", "4,6", "5,7"],
}
THREADS = {  # four cores of two threads, which share all but the L3
    "L1": ["0,4", "1,5", "2,6", "3,7", "0,4", "1,5", "2,6", "3,7"],
    "L3": ["0-7"] * 8,
}


HYBRID = {  # four large cores with an L2 each, four small ones that share one; one L3
    "L2": ["0", "1", "2", "3", "4-7", "4-7", "4-7", "4-7"],
    "L3": ["0-7"] * 8,
}


@pytest.mark.parametrize(
    ("caches", "siblings", "cores", "expected"),
    [
        (HYBRID, SINGLE, 2, [{0, 1, 2, 3}, {4, 5, 6, 7}]),
        (BLADE, SINGLE, 1, [{each} for each in range(8)]),
        (BLADE, SINGLE, 2, [{0, 2}, {1, 3}, {4, 6}, {5, 7}]),
        (BLADE, SINGLE, 3, [set(range(8))]),
        (THREADS, THREADS["L1"], 1, [{0, 4}, {1, 5}, {2, 6}, {3, 7}]),
        (THREADS, THREADS["L1"], 2, [set(range(8))]),
        ({"none": []}, [], 1, [set(range(8))]),
    ],
)
def test_smallest_sets(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caches: dict[str, list[str]],
    siblings: list[str],
    cores: int,
    expected: list[set[int]],
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)))
    assert processors.groups(cores, machine(tmp_path, caches, siblings)) == expected


def test_processors_that_this_process_may_not_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 2, 4, 5})
    blade = machine(tmp_path, BLADE, SINGLE)
    assert processors.groups(2, blade) == [{0, 2, 4, 5}], "4 and 5 share no cache"
    hybrid = machine(tmp_path / "hybrid", HYBRID, SINGLE)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 4, 5})
    assert processors.groups(2, hybrid) == [{0, 4, 5}], "0 is alone"
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 2, 5, 7})
    assert processors.groups(2, blade) == [{0, 2}, {5, 7}]


def test_pinned_and_back() -> None:
    before = os.sched_getaffinity(0)
    with processors.pinned(frozenset({min(before)})):
        assert os.sched_getaffinity(0) == {min(before)}
    assert os.sched_getaffinity(0) == before
