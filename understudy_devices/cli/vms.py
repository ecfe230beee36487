# SPDX-License-Identifier: MIT
"""The common options of commands with VMs as arguments."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from understudy_devices.consolidation.arrivals import NO_SPLIT
from understudy_devices.traces.form import COLUMNS_HELP, FORMAT_HELP

METAVAR = "[NAME=]TRACE[:VOLUME]|FOLDER..."

OPTIONS = (
    click.option(
        "--split",
        metavar="BLOCKS|none",
        default=NO_SPLIT,
        help="Longest request that the hypervisor does not split, in blocks of 4 kB: 128 in the "
        "paper. A trace of the device has the pieces.",
    ),
    click.option(
        "--arrivals",
        type=click.Choice(["issue", "queue"]),
        help="When a request arrives, in traces that have both times: when the VM issues it, or "
        "when it is queued [default: issue; on a simulated disk, queue].",
    ),
    click.option(
        "--accept-poor-fit", is_flag=True, help="Use fitted service times even if they fit poorly."
    ),
    click.option("--columns", metavar="NAME,...", help=COLUMNS_HELP),
    click.option("--format", metavar="NAME", help=FORMAT_HELP),
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
