# SPDX-License-Identifier: MIT
"""Progress on stderr: on a terminal bars, of all runs and of those that are running; else a
few lines, of what is prepared and of every tenth of the runs that is done, or of a
single run's phases.  Each says how long the rest takes, once that can be told.
"""

import threading
from collections import defaultdict
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
MANY = 100  # of a unit: then the next larger one


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
        self._paces: defaultdict[str, _Pace] = defaultdict(_Pace)
        self._said = ""
        self._lock = threading.Lock()

    def prepare(self, phase: str, fraction: float) -> None:
        """What is fetched and built before the runs."""
        self.phase("prepare", phase, fraction)

    def phase(self, name: str, phase: str, fraction: float) -> None:
        """What one piece of work is doing."""
        with self._lock:
            if self._progress.disable:
                self._say(f"{name}: {phase}", self._to_go(name, fraction))
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
                self._say(f"{name}: {phase}", self._to_go(name, fraction))

    def count(self, done: int, total: int) -> None:
        """How many runs of many are done."""
        with self._lock:
            self._count(done)

    def _count(self, done: int) -> None:
        before, self._done = self._done, done
        if not self._progress.disable:
            self._show_all()
            return
        to_go = self._to_go(ALL, done / self._runs)
        if done * LINES // self._runs > before * LINES // self._runs:
            self._say(f"{done:,} of {self._runs:,} runs done", to_go)

    def _show_all(self) -> None:
        """Above those that are running."""
        self._hide("prepare")
        self._show(ALL, f"{self._done:,} of {self._runs:,}", self._done / self._runs)

    def _show(self, name: str, phase: str, fraction: float) -> None:
        if name not in self._tasks:
            if len(self._tasks) > RUNNING_SHOWN:
                return
            self._tasks[name] = self._progress.add_task(name, total=DONE, phase=phase, to_go="")
        to_go = self._to_go(name, fraction)
        self._progress.update(self._tasks[name], completed=fraction, phase=phase, to_go=to_go)

    def _to_go(self, name: str, fraction: float) -> str:
        return self._paces[name].to_go(self._progress.get_time(), fraction)

    def _hide(self, name: str) -> None:
        if name in self._tasks:
            self._progress.remove_task(self._tasks.pop(name))

    def _say(self, line: str, to_go: str) -> None:
        """Not twice in a row."""
        if line != self._said:
            self._said = line
            whole = f"{line}, {to_go}" if to_go else line
            self._progress.console.print(whole, soft_wrap=True, markup=False)


class _Pace:
    """How long the rest takes, if it goes on as since the first report."""

    def __init__(self) -> None:
        self._began = 0.0
        self._first = self._last = DONE

    def to_go(self, now: float, fraction: float) -> str:
        """In words; empty, if there is none or nobody knows yet."""
        if fraction < self._last:
            self._began, self._first = now, fraction
        self._last = fraction
        done = fraction - self._first
        if done <= 0 or fraction >= DONE:
            return ""
        seconds = (now - self._began) * (DONE - fraction) / done
        if seconds < MANY:
            return f"{seconds:.0f} s to go"
        return (
            f"{seconds / 60:.0f} min to go"
            if seconds < 60 * MANY
            else f"{seconds / 3600:.1f} h to go"
        )


class _ToGo(ProgressColumn):
    """As of the last report."""

    def render(self, task: Task) -> Text:
        return Text(task.fields["to_go"], no_wrap=True)


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
        _ToGo(),
        console=console,
        disable=not console.is_terminal,
        transient=True,
    )
