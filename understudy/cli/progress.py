# SPDX-License-Identifier: MIT
"""Progress on stderr: on a terminal bars, of all runs and of those that are running; else a
few lines, of what is prepared and of every tenth of the runs that is done, or of a
single run's phases.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    Task,
    TaskID,
    TimeElapsedColumn,
)
from rich.text import Text

from understudy.ask.experiment import Experiment
from understudy.base.progress import Report

ALL = "all runs"
RUNNING_SHOWN = 8  # more of them would push each other off the screen
LINES = 10  # of runs that are done, where there are no bars
DONE = 1.0


Named = Callable[[Experiment], str]


def _scheduler_and_seed(experiment: Experiment) -> str:
    return f"{experiment.scheduler.name}, seed {experiment.seed}"


class Bars:
    """Reports that may be called from any thread."""

    def __init__(self, progress: Progress, runs: int, named: Named = _scheduler_and_seed) -> None:
        """Show nothing until the first report."""
        self._progress = progress
        self._runs = runs
        self._named = named
        self._done = 0
        self._tasks: dict[str, TaskID] = {}
        self._said = ""
        self._lock = threading.Lock()

    def prepare(self, phase: str, fraction: float) -> None:
        """What is fetched and built before the runs."""
        self.phase("prepare", phase, fraction)

    def phase(self, name: str, phase: str, fraction: float) -> None:
        """What one piece of work is doing."""
        with self._lock:
            if self._progress.disable:
                self._say(f"{name}: {phase}")
            else:
                self._show(name, phase, fraction)

    def run(self, experiment: Experiment, phase: str, fraction: float) -> None:
        """What one run is doing; it is done at DONE."""
        name = self._named(experiment)
        with self._lock:
            if fraction >= DONE and phase == "done":
                self._hide(name)
                self._count(self._done + 1)
            elif not self._progress.disable:
                self._show_all()
                self._show(name, phase, fraction)
            elif self._runs == 1:
                self._say(f"{name}: {phase}")

    def count(self, done: int, total: int) -> None:
        """How many runs of many are done."""
        with self._lock:
            self._count(done)

    def _count(self, done: int) -> None:
        before, self._done = self._done, done
        if not self._progress.disable:
            self._show_all()
        elif done * LINES // self._runs > before * LINES // self._runs:
            self._say(f"{done:,} of {self._runs:,} runs done")

    def _show_all(self) -> None:
        """Above those that are running."""
        self._hide("prepare")
        self._show(ALL, f"{self._done:,} of {self._runs:,}", self._done / self._runs)

    def _show(self, name: str, phase: str, fraction: float) -> None:
        if name not in self._tasks:
            if len(self._tasks) > RUNNING_SHOWN:
                return
            self._tasks[name] = self._progress.add_task(name, total=DONE, phase=phase)
        self._progress.update(self._tasks[name], completed=fraction, phase=phase)

    def _hide(self, name: str) -> None:
        if name in self._tasks:
            self._progress.remove_task(self._tasks.pop(name))

    def _say(self, line: str) -> None:
        """Not twice in a row."""
        if line != self._said:
            self._said = line
            self._progress.console.print(line, soft_wrap=True, markup=False)


class _What(ProgressColumn):
    """What a bar is of and what is being done, cut rather than wrapped."""

    def render(self, task: Task) -> Text:
        return Text(
            f"{task.description}: {task.fields['phase']}", overflow="ellipsis", no_wrap=True
        )


@contextmanager
def phases(name: str) -> Iterator[Report]:
    """A bar of one piece of work, or a line for each of its phases."""
    with _progress() as progress:
        shown = Bars(progress, 1)
        yield lambda phase, fraction: shown.phase(name, phase, fraction)


@contextmanager
def bars(runs: int, named: Named = _scheduler_and_seed) -> Iterator[Bars]:
    """Bars of so many runs for as long as the block lasts; then they are gone."""
    with _progress() as progress:
        yield Bars(progress, runs, named)


def _progress() -> Progress:
    console = Console(stderr=True, highlight=False)
    return Progress(
        _What(),
        BarColumn(bar_width=20),
        TimeElapsedColumn(),
        console=console,
        disable=not console.is_terminal,
        transient=True,
    )
