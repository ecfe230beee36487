# SPDX-License-Identifier: MIT
"""SURGE as PERFORM 2010 section 5 defines it, against the guest's program and the simulator.

This file repeats the ON/OFF loop of Figure 2 with the published generator (SplitMix64), the
equations in floating point and the papers' parameters.
"""

import math
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from playing import PAGE, by_owner, make_files, surge
from sample_runs import experiment

from understudy_devices.platforms.sim import in_simulator

COUNT_ALPHA, COUNT_K = 2.43, 1.00  # files in one round
SLEEP_ALPHA, SLEEP_K_MS = 1.5, 2.0  # sleep after each page
SEED = 1
WORD = 2**64
STEP = 0x9E3779B97F4A7C15
Step = tuple[int, int, float]


def mixed(x: int) -> int:
    """Apply SplitMix64's finaliser."""
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 % WORD
    x = (x ^ x >> 27) * 0x94D049BB133111EB % WORD
    return x ^ x >> 31


def uniforms(stream: int) -> Iterator[float]:
    """Yield random numbers in (0, 1]; each process has its own stream."""
    state = mixed((mixed((SEED + STEP) % WORD) + stream) % WORD)
    while True:
        state = (state + STEP) % WORD
        yield (mixed(state) + 1) / WORD


def pareto(u: float, alpha: float, k: float) -> float:
    """Solve equation 1 for x."""
    return float(k * u ** (-1 / alpha))


def zipf(u: float, n: int) -> int:
    """Evaluate equation 3 in its continuous form, counting from 0."""
    return int(min(n - 1, math.floor((n + 1) ** u - 1)))


def figure_2(process: int, sizes: Sequence[int]) -> Iterator[Step]:
    """Yield file, page within the file, and the sleep after the read in ms."""
    u = uniforms(process)
    while True:
        for _ in range(math.floor(pareto(next(u), COUNT_ALPHA, COUNT_K))):
            file = zipf(next(u), len(sizes))
            for page in range(-(-sizes[file] // PAGE)):
                yield file, page, pareto(next(u), SLEEP_ALPHA, SLEEP_K_MS)


def expected(process: int, sizes: Sequence[int], count: int) -> npt.NDArray[Any]:
    """Return the first steps of a process, as columns."""
    return np.array(list(islice(figure_2(process, sizes), count))).T


def test_the_guest_reads_and_sleeps_as_figure_2(tmp_path: Path) -> None:
    """Check each page of each process, and that no sleep is too short.

    A busy host prolongs sleeps; the shortest excess among hundreds must still be below 1 ms.
    """
    sizes = make_files(tmp_path / "files")
    log = surge(tmp_path / "files", tmp_path / "log", 150, processes=4, seed=SEED)
    longer_ms = []
    for process, mine in enumerate(by_owner(log)):
        file, page, sleep_ms = expected(process, sizes, len(mine))
        assert (
            mine["offset"] == (file.astype(np.uint64) << 32) + page.astype(np.uint64) * PAGE
        ).all()
        gaps_ms = (mine["start_ns"][1:] - mine["end_ns"][:-1]) / 1e6
        longer_ms.append(gaps_ms - sleep_ms[:-1])
        assert len(mine) > 50
    assert -1e-5 < np.concatenate(longer_ms).min() < 1


def simulated() -> tuple[list[int], list[Any]]:
    """Return the sizes of the files, and each process's rows in order of arrival."""
    one = experiment(
        "none", "surge-direct", platform="sim", requests=20_000, processes=20,
        virtual_bytes=2**28, seed=SEED,
    )  # fmt: skip
    layout = in_simulator.describe(one).layout
    assert layout
    rows = in_simulator.run(one, lambda *_: None).requests.sort("owner", "arrival_ns")
    return [int(size) for size in layout.bytes], rows.partition_by("owner")


def test_the_simulator_sleeps_as_figure_2() -> None:
    """Sleeps are exact to 2 ns."""
    sizes, processes = simulated()
    assert len(processes) == 20
    for process, mine in enumerate(processes):
        _, page, sleep_ms = expected(process, sizes, len(mine))
        arrival, completion = (mine[name].to_numpy() for name in ("arrival_ns", "completion_ns"))
        assert np.abs(arrival[1:] - completion[:-1] - sleep_ms[:-1] * 1e6).max() <= 2
        sectors = np.diff(mine["sector"].to_numpy())
        assert (sectors[page[1:] == page[:-1] + 1] == 8).mean() > 0.9  # most files have few extents


@pytest.mark.parametrize("change", [{"SLEEP_ALPHA": 1.6}, {"SLEEP_K_MS": 2.01}, {"COUNT_K": 1.2}])
def test_other_parameters_would_be_seen(
    change: dict[str, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in change.items():
        monkeypatch.setattr(f"{__name__}.{name}", value)
    with pytest.raises(AssertionError):
        test_the_simulator_sleeps_as_figure_2()
