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
from understudy_devices.traces.trace import Trace


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
def info(files: tuple[str, ...], as_json: bool, picture: Path | None) -> None:
    """Describe each trace: request sizes, times between arrivals, response times.

    If a file is truncated, or a large part of its requests is lost, the complete requests are
    still described, and the exit code is 1.
    """
    draw = _drawing(picture)
    documents, traces = [], []
    for name in files:
        recorded = trace(name)
        traces.append(recorded.trace)
        if as_json:
            documents.append(recorded.as_json())
        else:
            traced.show(recorded.trace, recorded.character, console())
    if as_json:
        click.echo(json.dumps(documents, indent=2))
    draw(traces)
    if any(each.fault for each in traces):
        raise click.exceptions.Exit(EXIT_FAILED)


@command.command(epilog="Example: understudy trace convert hm_1.csv.gz hm_1.parquet")
@click.argument("file")
@click.argument("out", metavar="OUT.parquet", type=click.Path(path_type=Path))
def convert(file: str, out: Path) -> None:
    """Write a trace as Parquet, with the columns of requests.parquet (docs/method.md).

    If FILE is truncated, or a large part of its requests is lost, the complete requests are still
    written, and the exit code is 1.
    """
    check(out)
    recorded = trace(file)
    recorded.write(out)
    click.echo(f"wrote {out}: {traced.counted(len(recorded.trace), 'request')}", err=True)
    for line in recorded.notices:
        click.echo(plain(f"{file}: {line}"), err=True)
    if recorded.trace.fault:
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
