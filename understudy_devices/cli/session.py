# SPDX-License-Identifier: MIT
"""Print the results of runs as they come.

If there are several platforms, each platform's table is printed as soon as it is ready, and is
saved in a separate folder inside the run folder.  Then the differences between the platforms and
the recommended scheduler are printed.
"""

import json
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console

from understudy_devices.api.call import NoResult
from understudy_devices.api.predict import Question
from understudy_devices.api.settings import losses_of
from understudy_devices.api.watch import Progress, Watch
from understudy_devices.base.plain import plain
from understudy_devices.base.progress import Report
from understudy_devices.campaign.result import Result
from understudy_devices.cli import progress
from understudy_devices.cli.main import EXIT_FAILED
from understudy_devices.cli.options import Typed
from understudy_devices.show import side_by_side, table

if TYPE_CHECKING:
    from understudy_devices.api.consolidated import Consolidated
    from understudy_devices.api.placed import Placement

FILE_WIDTH = 120  # width, in characters, of a table that is written to a file or a pipe


def carry_out(question: Question, typed: Typed) -> None:
    """Carry out all runs, or with --dry-run only print their commands."""
    if typed.dry_run:
        _print_lines(question)
        return
    watch = Tables(question, as_json=typed.as_json)
    try:
        answer = question.answer(typed.out or True, watch)
    except NoResult:
        raise click.exceptions.Exit(EXIT_FAILED) from None
    finally:  # the results are printed even if they could not be written
        watch.conclude()
    if answer.failures or answer.trusted is False:
        raise click.exceptions.Exit(EXIT_FAILED)


def _print_lines(question: Question) -> None:
    if losses := losses_of(question.settings):
        click.echo(plain(losses), err=True)
    for experiment, words in question.dry_run():
        click.echo(f"# {experiment.scheduler.name}, seed {experiment.seed}")
        click.echo(shlex.join(words))


class Printed(Watch):
    """Print everything but the results on standard error."""

    def start(self, command: str) -> None:
        """Print the command."""
        click.echo(f"$ {command}", err=True)

    def notice(self, line: str) -> None:
        """Print the line."""
        click.echo(plain(line), err=True)

    def warn(self, message: str) -> None:
        """Print a line with the name of the command in front."""
        click.echo(plain(f"understudy: {message}"), err=True)

    def wrote(self, place: Path, what: str) -> None:
        """Print the names of the files."""
        click.echo(f"wrote {place}: {what}", err=True)

    @contextmanager
    def runs(self, count: int) -> Iterator[Progress]:
        """Show bars."""
        with progress.bars(count) as bars:
            yield bars

    @contextmanager
    def phases(self, name: str) -> Iterator[Report]:
        """Show a bar."""
        with progress.phases(name) as report:
            yield report


class Tables(Printed):
    """Print each platform's table; collect the results for the end."""

    def __init__(self, question: Question, *, as_json: bool) -> None:
        """Start without results."""
        self._layout = table.ranking if question.ranked else None
        self._several = len(question.settings.platforms) > 1
        self._as_json = as_json
        self._answers: list[Result] = []

    def answered(self, answer: Result) -> None:
        """Print the table of a platform."""
        self._answers.append(answer)
        if not self._as_json:
            table.show(answer, console(), self._layout)
            if not self._several:
                table.conclude([answer], console())

    def conclude(self) -> None:
        """Print the conclusions, which depend on the results of all platforms."""
        answers = self._answers
        if self._as_json and answers:
            documents = {answer.platform: answer.as_json() for answer in answers}
            whole = documents if len(answers) > 1 else answers[0].as_json()
            click.echo(json.dumps(whole, indent=2))
        elif self._several:
            if len(answers) > 1:
                side_by_side.show(answers[0], answers[1], console())
            table.conclude(answers, console())


class Answers(Printed):
    """Print one result."""

    def __init__(self, *, as_json: bool) -> None:
        """Store the form of the output."""
        self._as_json = as_json

    def answered(self, answer: "Consolidated | Placement") -> None:
        """Print the tables, or JSON."""
        if self._as_json:
            click.echo(json.dumps(answer.as_json(), indent=2))
        else:
            answer.show(console())


def console() -> Console:
    """Return a console for standard output; its width is that of the terminal, else FILE_WIDTH."""
    output = Console(highlight=False)
    return output if output.is_terminal else Console(width=FILE_WIDTH)
