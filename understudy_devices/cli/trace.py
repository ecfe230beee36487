# SPDX-License-Identifier: MIT
"""`understudy trace`: describe a trace (ICPE 2011, section 5.2), or convert it to a table."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
import numpy as np
import polars as pl

from understudy_devices.base import parquet, scratch
from understudy_devices.base.errors import UserError
from understudy_devices.base.plain import plain
from understudy_devices.cli.main import EXIT_FAILED
from understudy_devices.cli.session import console
from understudy_devices.show.grid import Grid
from understudy_devices.traces.characterise import (
    BINS,
    LAGS,
    PERCENTS,
    Character,
    Series,
    characterise,
)
from understudy_devices.traces.read import recorded
from understudy_devices.traces.trace import Trace

FIGURES = (
    ("mean", "std", "cv"),
    tuple(f"acf {lag}" for lag in LAGS),
    tuple(f"p{percent}" for percent in PERCENTS),
)
NONE = "-"


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

    If a file is truncated, the complete requests are still described, and the exit code is 1.
    """
    draw = _drawing(picture)
    documents, traces = [], []
    for name in files:
        trace = recorded(name)
        traces.append(trace)
        character = characterise(trace)
        if as_json:
            documents.append(_document(trace, character))
        else:
            _show(trace, character)
    if as_json:
        click.echo(json.dumps(documents, indent=2))
    draw(traces)
    if any(trace.broken for trace in traces):
        raise click.exceptions.Exit(EXIT_FAILED)


@command.command(epilog="Example: understudy trace convert hm_1.csv.gz hm_1.parquet")
@click.argument("file")
@click.argument("out", metavar="OUT.parquet", type=click.Path(path_type=Path))
def convert(file: str, out: Path) -> None:
    """Write a trace as Parquet, with the columns of requests.parquet (docs/method.md).

    If FILE is truncated, the complete requests are still written, and the exit code is 1.
    """
    if out.suffix != ".parquet":
        raise UserError(f"{out}: the name of a Parquet file ends in .parquet")
    trace = recorded(file)
    with scratch.replacing(out) as fresh:
        parquet.write(_table(trace), fresh)
    click.echo(f"wrote {out}: {_counted(len(trace), 'request')}", err=True)
    for line in _losses(trace):
        click.echo(plain(f"{file}: {line}"), err=True)
    if trace.broken:
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


def _table(trace: Trace) -> pl.DataFrame:
    """Return a table with one row per request, in order of arrival."""
    times = {"dispatch_ns": trace.dispatch_ns, "completion_ns": trace.completion_ns}
    return pl.DataFrame(
        {
            "arrival_ns": trace.arrival_ns,
            **{name: column for name, column in times.items() if column is not None},
            "sector": trace.sector,
            "sectors": trace.sectors,
            "op": np.where(trace.op == 1, "write", "read"),
            "owner": trace.owner,
        }
    )


def _show(trace: Trace, character: Character) -> None:
    kinds = f"{_counted(character.reads, 'read')}, {_counted(character.writes, 'write')}"
    click.echo(
        f"{trace.name}: {_counted(character.requests, 'request')} ({kinds}) "
        f"of {_counted(character.owners, 'owner')} in {character.duration_s:,.3f} s"
    )
    series = {
        "size (KiB)": character.size,
        "interarrival (ms)": character.interarrival,
        "response (ms)": character.response,
    }
    lines = zip(*map(_cells, series.values()), strict=True)
    blocks = [[(name, next(lines)) for name in names] for names in FIGURES]
    Grid(tuple(series), blocks).show(console())
    shares = [f"{100 * count / character.requests:.1f}" for count in character.bins]
    counts = [f"{count:,}" for count in character.bins]
    sizes = [("requests", counts), ("%", shares)]
    Grid(BINS, [sizes], "sizes, up to this many blocks of 4 kB").show(console())
    for line in (*_device(character), _extent(trace), *_losses(trace)):
        click.echo(line)


def _counted(number: int, word: str) -> str:
    return f"{number:,} {word}" if number == 1 else f"{number:,} {word}s"


def _cells(figures: Series | None) -> list[str]:
    if figures is None:
        return [NONE] * sum(map(len, FIGURES))
    shares = (figures.cv, *figures.autocorrelation.values())
    return [
        *(f"{value:,.3f}" for value in (figures.mean, figures.std)),
        *(NONE if share is None else f"{share:.3f}" for share in shares),
        *(f"{value:,.3f}" for value in figures.percentiles.values()),
    ]


def _device(character: Character) -> Iterator[str]:
    """Yield the figures that depend on completion times, and in part on dispatch times."""
    if character.response is None:
        yield "arrivals only: the trace has no response times"
    if waiting := character.outstanding:
        yield f"outstanding: {waiting.mean:.3f} on average, {waiting.most:,} at most"
    if character.utilisation is not None:
        yield f"utilisation: {character.utilisation:.1%} of the time the device had a request"


def _extent(trace: Trace) -> str:
    """Return the smallest disk on which the trace can be replayed."""
    return f"to replay it: --virtual-size {trace.end_sector}s or more"


def _losses(trace: Trace) -> Iterator[str]:
    """Yield sentences about records that were left out, out of order, or cut off."""
    if trace.losses:
        yield trace.losses
    if trace.out_of_order:
        yield f"{trace.out_of_order:,} came after a later arrival in the file, and were sorted"
    if trace.broken:
        yield f"incomplete: {trace.broken}"


def _document(trace: Trace, character: Character) -> dict[str, Any]:
    return {
        "file": trace.name,
        **asdict(character),
        "end_sector": trace.end_sector,
        "bins": dict(zip(BINS, character.bins, strict=True)),
        "left_out": dict(trace.left_out),
        "out_of_order": trace.out_of_order,
        "broken": trace.broken,
    }
