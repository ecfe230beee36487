# SPDX-License-Identifier: MIT
"""A table that compares runs on the real disk with predicted runs, like the papers' Tables 2 and
3, with errors and ranks.
"""

from collections.abc import Sequence

from rich.console import Console

from understudy.campaign.result_files import Kept
from understudy.measure.agreement import Agreement
from understudy.measure.comparison import Estimate
from understudy.show import table
from understudy.show.grid import Block, Grid

RANKS = "ranked alike"


def show(
    real: Kept, virtual: Kept, found: Sequence[Agreement], seeds: Sequence[int], console: Console
) -> None:
    """Print the table, and a line that explains its last column."""
    table.say(_headline(real, virtual, seeds), console)
    labels = _labels(real, virtual)
    blocks = [_block(each, labels) for each in found]
    Grid([*found[0].real, RANKS], blocks, words=(RANKS,)).show(console)
    table.say(_note(seeds), console)


def _headline(real: Kept, virtual: Kept, seeds: Sequence[int]) -> str:
    asked = real.inputs
    draws = f"seed {seeds[0]}" if len(seeds) == 1 else f"{len(seeds)} seeds"
    return (
        f"{asked['workload']}: {asked['requests']:,} requests, {asked['processes']} processes, "
        f"{draws}; {real.disk} ({real.platform}) and {virtual.disk} ({virtual.platform})"
    )


def _labels(real: Kept, virtual: Kept) -> tuple[str, str]:
    """Return labels for the two sets of runs; the labels differ."""
    if real.platform != virtual.platform:
        return real.platform, virtual.platform
    return str(real.folder), str(virtual.folder)


def _block(found: Agreement, labels: tuple[str, str]) -> Block:
    """Return the row of one measure: both figures, their ranks, and the error."""
    real, virtual = found.ranks()
    errors = [found.error(name) for name in found.real]
    tau = "" if found.tau is None else f", tau {found.tau:.2f}"
    alike = f"{found.alike} of {found.differ} pairs{tau}"
    return [
        (
            f"{found.measure.label} ({found.measure.unit}), {labels[0]}",
            [*_cells(found.real, real), ""],
        ),
        (f"  {labels[1]}", [*_cells(found.virtual, virtual), alike]),
        ("  error", ["-" if error is None else f"{error:+.1%}" for error in errors] + [""]),
    ]


def _cells(found: dict[str, Estimate], ranks: dict[str, int]) -> list[str]:
    return [f"{table.number(value)} ({ranks[name]})" for name, value in found.items()]


def _note(seeds: Sequence[int]) -> str:
    if len(seeds) == 1:
        return "rank in brackets; one seed: no pair can be called equal"
    return "rank in brackets; pairs count that the first one's seeds tell apart (95 %)"
