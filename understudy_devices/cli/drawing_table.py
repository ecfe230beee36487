# SPDX-License-Identifier: MIT
"""`understudy reproduce table3.1`: a million smooth-shaded triangles (Jones 2010, Table 3.1)."""

import json

import click
from rich.console import Console

from understudy_devices.cli.progress import phases
from understudy_devices.papers.drawing import TABLE_3_1, TRIANGLES
from understudy_devices.platforms.vm.drawing import DrawingTimes, times
from understudy_devices.show.grid import Grid

PAPER_COLUMNS = ("real s", "virtual s", "slowdown")
DIFFERS = (
    "The last three columns are from the dissertation: a real Permedia 2v and its virtual "
    "stand-in, whose daemon drew under X, on a 2.8 GHz Pentium D. Our columns time one rasteriser "
    "in the virtual clock of one VM: called directly, and behind card, driver and daemon. So the "
    "two slowdowns have different baselines. At size 80 the dissertation prints a slowdown of "
    "13.93; its seconds give 19.67."
)


def reproduce(triangles: int, seed: int, as_json: bool) -> None:
    """Carry out the table's runs, and print the measured times next to the paper's."""
    with phases("table3.1") as report:
        timings = times(TABLE_3_1, triangles, seed, lambda line: report(line, 0.5))
    if as_json:
        click.echo(json.dumps(_as_json(timings, triangles, seed), indent=2))
        return
    columns = ("direct s", "card s", "slowdown", "a second", *PAPER_COLUMNS)
    rows = [(str(size), _row(size, timings[size], triangles)) for size in timings]
    click.echo(f"{triangles:,} smooth-shaded triangles, by size in pixels, seed {seed}")
    Grid(columns, [rows]).show(Console())
    if triangles != TRIANGLES:
        click.echo(f"The paper drew {TRIANGLES:,} triangles.")
    click.echo(DIFFERS)


def _row(size: int, ours: DrawingTimes, triangles: int) -> tuple[str, ...]:
    paper = TABLE_3_1[size]
    return (
        f"{ours.direct:.2f}",
        f"{ours.card:.2f}",
        f"{ours.slowdown:.2f}",
        f"{triangles / ours.card:,.0f}",
        f"{paper.real:.2f}",
        f"{paper.virtual:.1f}",
        f"{paper.slowdown:.2f}",
    )


def _as_json(timings: dict[int, DrawingTimes], triangles: int, seed: int) -> dict[str, object]:
    return {
        "triangles": triangles,
        "seed": seed,
        "sizes": {
            str(size): {
                "direct_seconds": ours.direct,
                "card_seconds": ours.card,
                "slowdown": ours.slowdown,
                "paper_real_seconds": TABLE_3_1[size].real,
                "paper_virtual_seconds": TABLE_3_1[size].virtual,
                "paper_slowdown": TABLE_3_1[size].slowdown,
            }
            for size, ours in timings.items()
        },
    }
