# SPDX-License-Identifier: MIT
"""`understudy lab submissions`: what teams have handed in."""

import json
from dataclasses import asdict
from datetime import datetime
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

from understudy_devices.base import scratch
from understudy_devices.base.errors import RunFailed, UserError
from understudy_devices.base.plain import one_line
from understudy_devices.cli.lab_options import FILE, FOLDER, JSON, NAME
from understudy_devices.lab import owner, store, submissions
from understudy_devices.lab.store import Team

SCHEMA = "understudy.lab-submissions/1"


@click.command("submissions", epilog="Example: understudy lab submissions os822 --copy handed-in")
@NAME
@click.option("--team", help="Only of this team.")
@click.option(
    "--copy", "target", type=FILE, help="Copy the archives into this folder, and check them."
)
@click.option(
    "--last",
    "assignment",
    metavar="ASSIGNMENT",
    help="Only each team's last one of this assignment; --copy names it TEAM.tar.gz.",
)
@FOLDER
@JSON
def submissions_command(
    name: str,
    team: str | None,
    target: Path | None,
    assignment: str | None,
    labs: Path,
    as_json: bool,
) -> None:
    """Print what teams have handed in, by `submit` in their VMs: when, how large, its checksum.

    A team may hand in an assignment again: all that it has handed in is kept.  --last ASSIGNMENT
    --copy FOLDER makes a new folder, which understudy course grade-all grades.
    """
    lab = store.read(labs, name)
    if target:
        _check(target, is_last=bool(assignment))
    teams = [lab.team(team)] if team else lab.teams()
    closed = [each.name for each in teams if not owner.may_act(each.folder)]
    every, failures = [], []
    assignments: set[str] = set()
    for each in teams:
        if each.name not in closed:
            try:
                handed_in = [(each, one) for one in submissions.of(each)]
                assignments.update(one.assignment for _, one in handed_in)
                if assignment:
                    handed_in = [pair for pair in handed_in if pair[1].assignment == assignment]
                    handed_in = handed_in[-1:]
                every += handed_in
            except RunFailed as error:
                failures.append(str(error))
    if assignment and not every and not failures and not closed:
        there = ", ".join(sorted(assignments)) or "nothing"
        raise UserError(f"--last {one_line(assignment)[:40]}: nobody has; handed in was {there}")
    if target:
        for each, one in every:
            try:
                _copy(target, each, one, is_only=bool(assignment))
            except RunFailed as error:
                failures.append(str(error))
    if as_json:
        listed = [asdict(one) for _, one in every]
        click.echo(json.dumps({"schema": SCHEMA, "lab": lab.name, "submissions": listed}, indent=2))
    else:
        columns = ("team", "assignment", "number", "received", "bytes", "SHA-256")
        table = Table(*columns, box=None, pad_edge=False)
        for column in (2, 4):
            table.columns[column].justify = "right"
        for _, one in every:
            when = f"{datetime.fromtimestamp(one.seconds):%Y-%m-%d %H:%M:%S}"
            words = (str(one.number), when, f"{one.bytes:,}", one.sha256[:12])
            table.add_row(one.team, one.assignment, *words)
        Console(highlight=False).print(table)
    if closed:
        failures.append(f"you may not look into the folders of {', '.join(closed)}")
    if failures:
        lines = "\n".join(f"  {each}" for each in failures)
        raise RunFailed(f"{len(failures)} failures:\n{lines}")


def _check(target: Path, *, is_last: bool) -> None:
    """Raise UserError if a folder has archives that a grader would take for those of the copy."""
    try:
        names = [each.name for each in target.iterdir()] if target.exists() else []
    except OSError as error:
        raise UserError(f"--copy {target}: {error.strerror or error}") from None
    if is_last and names:
        raise UserError(
            f"--copy {target}: not empty, and what is there would be graded, too: name a new folder"
        )
    if any(name.endswith(submissions.ARCHIVE) for name in names):
        raise UserError(f"--copy {target}: has the copies of a --last: name another folder")


def _copy(target: Path, team: Team, one: submissions.Submission, *, is_only: bool) -> None:
    """Copy an archive and its record to TARGET/TEAM/, which nobody else may read; the only one of
    its team, without a record, to TARGET/TEAM.tar.gz."""
    content = submissions.archive(team, one)
    folder = target if is_only else target / team.name
    record = (f"{one.name}{submissions.RECORD}", submissions.record(one))
    files = [(f"{team.name}{submissions.ARCHIVE}", content)]
    try:
        target.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        for name, data in files if is_only else [(one.name, content), record]:
            with scratch.replacing(folder / name) as fresh:
                fresh.touch(mode=0o600)
                fresh.write_bytes(data)
    except OSError as error:
        raise RunFailed(f"{folder}: {error.strerror or error}") from None
