# SPDX-License-Identifier: MIT
"""Progress on stderr.

A terminal shows progress bars: one for all runs together, and one for each run in progress.
Elsewhere lines report the phases of the preparation or of a single run, and each finished tenth
of several runs.  Bars and lines show the remaining time as soon as it can be estimated.
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

from understudy_devices.ask.experiment import Experiment
from understudy_devices.base.progress import Report

ALL = "all runs"
RUNNING_SHOWN = 8  # most bars of single runs; more bars might not fit on the screen
LINES = 10  # lines about finished runs, if there are no bars
DONE = 1.0
MANY = 100  # of a unit of time; from here on a time is shown in the next larger unit


Named = Callable[[Experiment], str]


def _scheduler_and_seed(experiment: Experiment) -> str:
    return f"{experiment.scheduler.name}, seed {experiment.seed}"


class Bars:
    """The bars or lines; their methods may be called from any thread."""

    def __init__(self, progress: Progress, runs: int, named: Named = _scheduler_and_seed) -> None:
        """Show nothing before the first report."""
        self._progress = progress
        self._runs = runs
        self._named = named
        self._done = 0
        self._tasks: dict[str, TaskID] = {}
        self._paces: defaultdict[str, _Pace] = defaultdict(_Pace)
        self._said = ""
        self._lock = threading.Lock()

    def prepare(self, phase: str, fraction: float) -> None:
        """Show what is being fetched or built before the runs."""
        self.phase("prepare", phase, fraction)

    def phase(self, name: str, phase: str, fraction: float) -> None:
        """Show the phase of one task."""
        with self._lock:
            if self._progress.disable:
                self._say(f"{name}: {phase}", self._to_go(name, fraction))
            else:
                self._show(name, phase, fraction)

    def run(self, experiment: Experiment, phase: str, fraction: float) -> None:
        """Show the phase of one run; when the fraction is DONE, the run is done."""
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
        """Show how many runs are done."""
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
        """Show the bar of all runs, above those of single runs."""
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
        """Print a line, unless it is the same as the last one."""
        if line != self._said:
            self._said = line
            whole = f"{line}, {to_go}" if to_go else line
            self._progress.console.print(whole, soft_wrap=True, markup=False)


class _Pace:
    """Estimates the remaining time from the average pace since the first report."""

    def __init__(self) -> None:
        self._began = 0.0
        self._first = self._last = DONE

    def to_go(self, now: float, fraction: float) -> str:
        """Return the remaining time in words; empty if the work is done or the pace is unknown."""
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
    """The column with the remaining time that was estimated at the last report."""

    def render(self, task: Task) -> Text:
        return Text(task.fields["to_go"], no_wrap=True)


class _What(ProgressColumn):
    """The column with a bar's name and phase; text that is too long is cut, not wrapped."""

    def render(self, task: Task) -> Text:
        return Text(
            f"{task.description}: {task.fields['phase']}", overflow="ellipsis", no_wrap=True
        )


@contextmanager
def phases(name: str) -> Iterator[Report]:
    """Yield a report function that shows a bar for one task, or a line for each of its phases."""
    with _progress() as progress:
        phase_bars = Bars(progress, 1)
        yield lambda phase, fraction: phase_bars.phase(name, phase, fraction)


@contextmanager
def bars(runs: int, named: Named = _scheduler_and_seed) -> Iterator[Bars]:
    """Yield bars for this many runs, which are shown only while the block runs."""
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
