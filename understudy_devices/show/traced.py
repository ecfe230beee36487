# SPDX-License-Identifier: MIT
"""The figures of a trace as tables and sentences."""

from collections.abc import Iterator, Sequence

from rich.console import Console

from understudy_devices.show.grid import Grid
from understudy_devices.traces.characterise import BINS, LAGS, PERCENTS, Character, Series
from understudy_devices.traces.faults import fault, pauses_note
from understudy_devices.traces.runs import listed
from understudy_devices.traces.trace import Trace

FIGURES = (
    ("mean", "std", "cv"),
    tuple(f"acf {lag}" for lag in LAGS),
    tuple(f"p{percent}" for percent in PERCENTS),
)
NONE = "-"


def show(trace: Trace, character: Character, console: Console) -> None:
    """Print everything."""
    _say(headline(trace, character), console)
    for grid in grids(character):
        grid.show(console)
    for line in sentences(trace, character):
        _say(line, console)


def headline(trace: Trace, character: Character) -> str:
    """Return the trace's name and what is in it."""
    kinds = f"{counted(character.reads, 'read')}, {counted(character.writes, 'write')}"
    return (
        f"{trace.name}: {counted(character.requests, 'request')} ({kinds}) "
        f"of {counted(character.owners, 'owner')} in {character.duration_s:,.3f} s"
    )


def grids(character: Character) -> list[Grid]:
    """Return the tables of the figures and of the sizes."""
    series = {
        "size (KiB)": character.size,
        "interarrival (ms)": character.interarrival,
        "response (ms)": character.response,
    }
    lines = zip(*map(_cells, series.values()), strict=True)
    blocks = [[(name, next(lines)) for name in names] for names in FIGURES]
    shares = [f"{100 * count / character.requests:.1f}" for count in character.bins]
    counts = [f"{count:,}" for count in character.bins]
    sizes = [("requests", counts), ("%", shares)]
    return [
        Grid(tuple(series), blocks),
        Grid(BINS, [sizes], "sizes, up to this many blocks of 4 kB"),
    ]


def sentences(trace: Trace, character: Character) -> Sequence[str]:
    """Return the lines below the tables."""
    return (*_device(character), _extent(trace), *losses(trace))


def counted(number: int, word: str) -> str:
    """Return a number of things in words."""
    return f"{number:,} {word}" if number == 1 else f"{number:,} {word}s"


def _say(line: str, console: Console) -> None:
    console.print(line, soft_wrap=True, markup=False, emoji=False)


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
        yield (
            f"utilisation: {character.utilisation:.1%} of the time the device had a request"
            f"{', pauses left out' if character.pauses_s else ''}"
        )


def _extent(trace: Trace) -> str:
    """Return the smallest disk on which the trace can be replayed."""
    if not trace.placed:
        return "it can't be replayed: the trace does not say where on the disk requests were"
    return f"to replay it: --virtual-size {trace.end_sector}s or more"


def losses(trace: Trace) -> Iterator[str]:
    """Yield sentences about several volumes, and records that were left out, out of order, or cut
    off."""
    if len(trace.volumes) > 1:
        yield (
            f"{len(trace.volumes):,} volumes, of which one at a time can be replayed, as "
            f"{trace.name}:{trace.volumes[0]}: {listed(trace.volumes)}"
        )
    if trace.assumed:
        yield f"assumed: {trace.assumed}"
    if trace.losses:
        yield trace.losses
    if trace.out_of_order:
        yield f"{trace.out_of_order:,} came after a later arrival in the file, and were sorted"
    yield from pauses_note(trace)
    if reason := fault(trace):
        yield f"{'incomplete' if trace.broken else 'not usable'}: {reason}"
