# SPDX-License-Identifier: MIT
"""Progress: few lines in a pipe; on a terminal, no more bars than fit."""

import io
from collections.abc import Callable
from typing import Any

import pytest
from rich.console import Console
from rich.progress import Progress
from sample_runs import experiment

from understudy_devices.cli.progress import RUNNING_SHOWN, Bars


def bars(
    runs: int, *, terminal: bool, clock: Callable[[], float] = lambda: 0.0
) -> tuple[Bars, Progress, io.StringIO]:
    output = io.StringIO()
    console = Console(file=output, force_terminal=terminal, width=80)
    progress = Progress(console=console, disable=not terminal, get_time=clock)
    return Bars(progress, runs), progress, output


def play(display: Bars, runs: int) -> None:
    """Let each run prepare, boot, measure and end."""
    for seed in range(runs):
        display.prepare("building", seed / runs)
    for seed in range(runs):
        for phase, fraction in (("booting", 0.0), ("measuring", 0.5), ("done", 1.0)):
            display.run(experiment(seed=seed), phase, fraction)


@pytest.mark.parametrize("runs", [2, 10, 13, 130, 1000])
def test_a_pipe_gets_a_line_for_each_tenth(runs: int) -> None:
    display, _, output = bars(runs, terminal=False)
    play(display, runs)
    first, *lines = output.getvalue().splitlines()
    assert first == "prepare: building"
    lines = [line.split(" done")[0] + " done" for line in lines]
    assert lines[-1] == f"{runs:,} of {runs:,} runs done"
    assert len(lines) == min(runs, 10)


def test_a_pipe_gets_the_phases_of_a_single_run() -> None:
    display, _, output = bars(1, terminal=False)
    play(display, 1)
    assert output.getvalue().splitlines() == [
        "prepare: building",
        "cats, seed 0: booting",
        "cats, seed 0: measuring, 0 s to go",
        "1 of 1 runs done",
    ]


def names(progress: Progress) -> list[Any]:
    return [task.description for task in progress.tasks]


def test_a_terminal_has_a_bar_for_all_and_for_those_that_run() -> None:
    display, progress, _ = bars(130, terminal=True)
    display.prepare("building", 0.5)
    assert names(progress) == ["prepare"]
    for seed in (1, 2, 3):
        display.run(experiment(seed=seed), "simulating", 0.1)
    assert names(progress) == ["all runs", "cats, seed 1", "cats, seed 2", "cats, seed 3"]
    display.run(experiment(seed=2), "done", 1.0)
    assert names(progress) == ["all runs", "cats, seed 1", "cats, seed 3"]
    assert progress.tasks[0].fields["phase"] == "1 of 130"


def test_bars_do_not_push_each_other_off_the_screen() -> None:
    display, progress, _ = bars(130, terminal=True)
    for seed in range(100):
        display.run(experiment(seed=seed), "simulating", 0.1)
    assert len(progress.tasks) == 1 + RUNNING_SHOWN


def test_a_sweep_counts_the_runs_that_it_has_already() -> None:
    display, _, output = bars(50, terminal=False)
    display.count(37, 50)
    display.count(38, 50)
    display.count(50, 50)
    assert output.getvalue().splitlines() == ["37 of 50 runs done", "50 of 50 runs done"]


def test_runs_and_phases_say_how_long_the_rest_takes() -> None:
    """The estimate counts only work done since the first report."""
    now = 0.0
    display, _, output = bars(100, terminal=False, clock=lambda: now)
    display.phase("place", "trying", 0.0)
    now = 2.0
    display.phase("place", "trying", 0.2)
    now = 4.0
    display.phase("place", "simulating", 0.4)
    display.count(50, 100)
    for done, seconds in ((60, 14.0), (70, 1004.0), (80, 30004.0), (100, 30005.0)):
        now = seconds
        display.count(done, 100)
    assert output.getvalue().splitlines() == [
        "place: trying",
        "place: simulating, 6 s to go",
        "50 of 100 runs done",
        "60 of 100 runs done, 40 s to go",
        "70 of 100 runs done, 25 min to go",
        "80 of 100 runs done, 5.6 h to go",
        "100 of 100 runs done",
    ]


def test_a_bar_says_how_long_the_rest_takes() -> None:
    now = 0.0
    display, progress, _ = bars(1, terminal=True, clock=lambda: now)
    for seconds, fraction, to_go in ((0.0, 0.0, ""), (9.0, 0.1, "81 s to go"), (10.0, 0.0, "")):
        now = seconds
        display.phase("profile", "seeking", fraction)
        assert progress.tasks[0].fields["to_go"] == to_go
