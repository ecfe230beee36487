# SPDX-License-Identifier: MIT
"""`understudy trace`: describe a trace (ICPE 2011, section 5.2), or convert it to a table."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import click

from understudy_devices.api.trace import check, trace
from understudy_devices.base.plain import plain
from understudy_devices.cli.main import EXIT_FAILED
from understudy_devices.cli.session import console
from understudy_devices.show import traced
from understudy_devices.traces.faults import fault
from understudy_devices.traces.form import COLUMNS_HELP, FORMAT_HELP
from understudy_devices.traces.trace import Trace


def _form(function: Callable[..., None]) -> Callable[..., None]:
    """Add the options that say what the form of the files is."""
    for option in (
        click.option("--format", metavar="NAME", help=FORMAT_HELP),
        click.option("--columns", metavar="NAME,...", help=COLUMNS_HELP),
    ):
        function = option(function)
    return function


@click.group()
def command() -> None:
    """Describe or convert recorded traces, in any format (docs/traces.md).

    \b
    Example:
      understudy trace info hm_1.csv.gz
      understudy trace convert hm_1.csv.gz hm_1.parquet
    """


@command.command(epilog="Example: understudy trace info hm_1.csv.gz fio.iolog --json")
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option("--json", "as_json", is_flag=True, help="Print a JSON array instead of tables.")
@click.option(
    "--picture", type=click.Path(path_type=Path), help="Draw the traces: a .png, .svg or .pdf file."
)
@_form
def info(
    files: tuple[str, ...],
    as_json: bool,
    picture: Path | None,
    columns: str | None,
    format: str | None,
) -> None:
    """Describe each trace: request sizes, times between arrivals, response times.

    If a file can't be used as a load (truncated, most requests lost, lines twice), the complete
    requests are still described, and the exit code is 1.
    """
    draw = _drawing(picture)
    documents, traces = [], []
    for name in files:
        recorded = trace(name, columns=columns, format=format)
        traces.append(recorded.trace)
        if as_json:
            documents.append(recorded.as_json())
        else:
            traced.show(recorded.trace, recorded.character, console())
    if as_json:
        click.echo(json.dumps(documents, indent=2))
    draw(traces)
    if any(fault(each) for each in traces):
        raise click.exceptions.Exit(EXIT_FAILED)


@command.command(epilog="Example: understudy trace convert hm_1.csv.gz hm_1.parquet")
@click.argument("file")
@click.argument("out", metavar="OUT.parquet", type=click.Path(path_type=Path))
@_form
def convert(file: str, out: Path, columns: str | None, format: str | None) -> None:
    """Write a trace as Parquet, with the columns of requests.parquet (docs/method.md).

    If FILE can't be used as a load (truncated, most requests lost, lines twice), the complete
    requests are still written, and the exit code is 1.
    """
    check(out)
    recorded = trace(file, columns=columns, format=format)
    recorded.write(out)
    click.echo(f"wrote {out}: {traced.counted(len(recorded.trace), 'request')}", err=True)
    for line in recorded.notices:
        click.echo(plain(f"{file}: {line}"), err=True)
    if fault(recorded.trace):
        raise click.exceptions.Exit(EXIT_FAILED)


def _drawing(file: Path | None) -> Callable[[Sequence[Trace]], None]:
    """Return a function that draws into the file; the file's name is checked here, before any trace
    is read."""
    if not file:
        return lambda traces: None
    from understudy_devices.show import picture, traces  # Matplotlib takes half a second

    picture.check(file)

    def draw(recordings: Sequence[Trace]) -> None:
        traces.draw(recordings, file)
        click.echo(f"wrote {file}", err=True)

    return draw
