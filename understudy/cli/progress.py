# SPDX-License-Identifier: MIT
"""Progress on stderr: a bar for each run on a terminal, else a line for each phase."""

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from understudy.ask.experiment import Experiment


class Bars:
    """Reports that may be called from any thread."""

    def __init__(self, progress: Progress) -> None:
        """Show nothing until the first report."""
        self._progress = progress
        self._tasks: dict[str, TaskID] = {}
        self._phases: dict[str, str] = {}

    def prepare(self, phase: str, fraction: float) -> None:
        """What is fetched and built before the runs."""
        self._show("prepare", phase, fraction)

    def run(self, experiment: Experiment, phase: str, fraction: float) -> None:
        """What one run is doing."""
        self._show(f"{experiment.scheduler.name}, seed {experiment.seed}", phase, fraction)

    def count(self, done: int, total: int) -> None:
        """How many runs of many are done."""
        if self._progress.disable and done % max(1, total // 10) and done < total:
            return
        self._show("sweep", f"{done:,} of {total:,} runs", done / total)

    def _show(self, name: str, phase: str, fraction: float) -> None:
        if self._progress.disable:
            self._say(name, phase)
            return
        if name not in self._tasks:
            self._tasks[name] = self._progress.add_task(name, total=1.0, phase=phase)
        self._progress.update(self._tasks[name], completed=fraction, phase=phase)

    def _say(self, name: str, phase: str) -> None:
        if self._phases.get(name) != phase:
            self._phases[name] = phase
            self._progress.console.print(f"{name}: {phase}", soft_wrap=True, markup=False)


@contextmanager
def bars() -> Iterator[Bars]:
    """Bars for as long as the block lasts."""
    console = Console(stderr=True, highlight=False)
    progress = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[phase]}"),
        TimeElapsedColumn(),
        console=console,
        disable=not console.is_terminal,
    )
    with progress:
        yield Bars(progress)
