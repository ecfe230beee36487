# SPDX-License-Identifier: MIT
"""The common options of commands with VMs as arguments; reads the traces of these VMs."""

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from understudy_devices.base.errors import UserError
from understudy_devices.base.progress import Report
from understudy_devices.consolidation import vm
from understudy_devices.consolidation.arrivals import LIMIT_BLOCKS
from understudy_devices.consolidation.fits import fit_each
from understudy_devices.consolidation.scenario import Tenant

METAVAR = "[NAME=]TRACE|FOLDER..."
UNSPLIT = 2**31  # a limit in blocks that is longer than any request
MERGE_MOST = 10_000.0

OPTIONS = (
    click.option(
        "--split",
        metavar="BLOCKS|none",
        default=str(LIMIT_BLOCKS),
        help="Longest request that the hypervisor does not split, in blocks of 4 kB.",
    ),
    click.option(
        "--arrivals",
        type=click.Choice(["issue", "queue"]),
        default="issue",
        help="When a request arrives, in traces that have both times: when the VM issues it, or "
        "when it is queued.",
    ),
    click.option(
        "--accept-poor-fit", is_flag=True, help="Continue even if service times fit poorly."
    ),
    click.option("--seed", type=click.IntRange(0, 2**63 - 1), default=1, help="Random seed."),
    click.option(
        "--jobs",
        type=click.IntRange(1, 1000),
        help="Number of fits or replications in parallel [default: one per processor].",
    ),
    click.option("--json", "as_json", is_flag=True, help="Print result.json instead of the table."),
    click.option("--out", type=click.Path(path_type=Path), help="New folder for the results."),
)


def with_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add all of OPTIONS to a command."""
    for option in reversed(OPTIONS):
        function = option(function)
    return function


@dataclass(frozen=True)
class Reading:
    """The options for reading traces and fitting service times."""

    reduction: vm.Reduction
    accept_poor_fit: bool
    jobs: int

    def tenants(
        self, vms: Mapping[str, Path], weights: Mapping[str, int], folder: Path, report: Report
    ) -> list[Tenant]:
        """Read and fit all VMs; return them in the given order, with their data in files in
        `folder`.

        Print which requests are left out.
        """
        machines = [
            self._read(name, path, folder / str(rank), rank / len(vms), report)
            for rank, (name, path) in enumerate(vms.items())
        ]
        count = itertools.count(1)

        def advance(name: str) -> None:
            report("fit service times", next(count) / len(vms))

        try:
            fits = fit_each(machines, self.accept_poor_fit, self.jobs, advance)
        except ValueError as error:
            raise UserError(str(error)) from error
        except UserError as error:
            raise UserError(f"{error} (--accept-poor-fit)") from error
        for one, fitted in zip(machines, fits, strict=True):
            for reason in fitted.report.poor:
                click.echo(f"{one.name}: fitted poorly: {reason}", err=True)
        return [
            Tenant(one, fitted, weights.get(one.name, 1))
            for one, fitted in zip(machines, fits, strict=True)
        ]

    def _read(
        self, name: str, path: Path, folder: Path, fraction: float, report: Report
    ) -> vm.VirtualMachine:
        report("read traces", fraction)
        machine = vm.read(name, path, folder, self.reduction)
        for run in machine.runs:
            for note in run.notes:
                click.echo(f"{run.name}: {note}", err=True)
        return machine


def limit_blocks(text: str) -> int:
    """Return the value of --split in blocks."""
    if text == "none":
        return UNSPLIT
    return whole(text, UNSPLIT, f"--split: {text} is not a number of blocks, such as 128, or none")


def pairs(option: str, text: str) -> dict[str, str]:
    """Parse NAME=VALUE,... into a dictionary in the same order.

    Raise a UserError for a word without "=", or for a repeated name.
    """
    values: dict[str, str] = {}
    for word in filter(None, text.split(",")):
        name, equals, value = word.partition("=")
        if not name or not equals or not value:
            raise UserError(f"{option}: {word}: write NAME=VALUE,...")
        if name in values:
            raise UserError(f"{option}: {name} is named twice")
        values[name] = value
    return values


def whole(text: str, most: int, wrong: str) -> int:
    """Parse a whole number from 1 to `most`; raise a UserError for any other text."""
    if not (text.isascii() and text.isdigit() and 1 <= int(text[:10]) <= most):
        raise UserError(wrong)
    return int(text)


def number(text: str, least: float, most: float, wrong: str) -> float:
    """Parse a number from `least` to `most`; raise a UserError for any other text."""
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not least <= value <= most:
        raise UserError(wrong)
    return value
