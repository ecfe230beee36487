# SPDX-License-Identifier: MIT
"""What a call reports while it works.

The base class ignores everything.  The command line's watch prints, and shows progress bars.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from understudy_devices.ask.experiment import Experiment
from understudy_devices.base.progress import Report, silent


class Progress(Protocol):
    """The progress of several runs; the methods may be called from any thread."""

    def prepare(self, phase: str, fraction: float) -> None:
        """Report what is being fetched or built before the runs."""

    def run(self, experiment: Experiment, phase: str, fraction: float) -> None:
        """Report the phase of one run."""

    def count(self, done: int, total: int) -> None:
        """Report how many runs are done."""


class Watch:
    """The reports of a call, in the order in which they come."""

    def start(self, command: str) -> None:
        """All values are checked; the work begins."""

    def notice(self, line: str) -> None:
        """Something that the user should know about the result."""

    def warn(self, message: str) -> None:
        """The result lacks something, or is in doubt: a scheduler has failed, and others go on."""

    def answered(self, answer: Any) -> None:
        """A part of the result is ready, such as that of one platform."""

    def wrote(self, place: Path, what: str) -> None:
        """Files are written."""

    @contextmanager
    def runs(self, count: int) -> Iterator[Progress]:
        """Yield the progress of this many runs."""
        yield _Silent()

    @contextmanager
    def phases(self, name: str) -> Iterator[Report]:
        """Yield the progress of one task with several phases."""
        yield silent


class Heard:
    """A watch, and the notices that it got."""

    def __init__(self, watch: Watch) -> None:
        """Start without notices."""
        self.watch = watch
        self.notices: list[str] = []

    def say(self, line: str) -> None:
        """Report a notice."""
        self.notices.append(line)
        self.watch.notice(line)

    def doubt(self, line: str) -> None:
        """Report a reason to trust the result less."""
        self.notices.append(line)
        self.watch.warn(line)

    def fail(self, failures: Mapping[str, str]) -> None:
        """Report each scheduler that failed; what fails with every scheduler, once."""
        for message in dict.fromkeys(failures.values()):
            self.watch.warn(message)


class _Silent:
    def prepare(self, phase: str, fraction: float) -> None:
        """Ignore the phase."""

    def run(self, experiment: Experiment, phase: str, fraction: float) -> None:
        """Ignore the phase."""

    def count(self, done: int, total: int) -> None:
        """Ignore the number."""
