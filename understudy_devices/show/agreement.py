# SPDX-License-Identifier: MIT
"""A table that compares runs on the real disk with predicted runs, like the papers' Tables 2 and
3, with errors and ranks.
"""

from collections.abc import Sequence

from rich.console import Console

from understudy_devices.campaign.result_files import Kept
from understudy_devices.measure.agreement import Agreement
from understudy_devices.measure.comparison import Estimate
from understudy_devices.show import table
from understudy_devices.show.grid import Block, Grid

RANKS = "ranked alike"


def show(
    real: Kept,
    virtual: Kept,
    agreements: Sequence[Agreement],
    seeds: Sequence[int],
    console: Console,
) -> None:
    """Print the table, and a line that explains its last column."""
    table.say(_headline(real, virtual, seeds), console)
    labels = _labels(real, virtual)
    blocks = [_block(each, labels) for each in agreements]
    Grid([*agreements[0].real, RANKS], blocks, words=(RANKS,)).show(console)
    table.say(_note(seeds), console)


def _headline(real: Kept, virtual: Kept, seeds: Sequence[int]) -> str:
    inputs = real.inputs
    draws = f"seed {seeds[0]}" if len(seeds) == 1 else f"{len(seeds)} seeds"
    return (
        f"{inputs['workload']}: {inputs['requests']:,} requests, {inputs['processes']} processes, "
        f"{draws}; {real.disk} ({real.platform}) and {virtual.disk} ({virtual.platform})"
    )


def _labels(real: Kept, virtual: Kept) -> tuple[str, str]:
    """Return labels for the two sets of runs; the labels differ."""
    if real.platform != virtual.platform:
        return real.platform, virtual.platform
    return str(real.folder), str(virtual.folder)


def _block(agreement: Agreement, labels: tuple[str, str]) -> Block:
    """Return the row of one measure: both figures, their ranks, and the error."""
    real, virtual = agreement.ranks()
    errors = [agreement.error(name) for name in agreement.real]
    tau = "" if agreement.tau is None else f", tau {agreement.tau:.2f}"
    alike = f"{agreement.alike} of {agreement.differ} pairs{tau}"
    return [
        (
            f"{agreement.measure.label} ({agreement.measure.unit}), {labels[0]}",
            [*_cells(agreement.real, real), ""],
        ),
        (f"  {labels[1]}", [*_cells(agreement.virtual, virtual), alike]),
        ("  error", ["-" if error is None else f"{error:+.1%}" for error in errors] + [""]),
    ]


def _cells(estimates: dict[str, Estimate], ranks: dict[str, int]) -> list[str]:
    return [f"{table.number(value)} ({ranks[name]})" for name, value in estimates.items()]


def _note(seeds: Sequence[int]) -> str:
    if len(seeds) == 1:
        return "rank in brackets; one seed: no pair can be called equal"
    return "rank in brackets; pairs count that the first one's seeds tell apart (95 %)"
