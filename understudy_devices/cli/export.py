# SPDX-License-Identifier: MIT
"""`understudy export`: write the requests of a run for another program to show."""

from pathlib import Path

import click

from understudy_devices.api import recorded
from understudy_devices.base import scratch
from understudy_devices.show.perfetto import runs
from understudy_devices.show.traced import counted

SUFFIX = ".perfetto-trace"


@click.command(epilog="Example: understudy export --perfetto runs/NAME:cats")
@click.argument("run", metavar="RUN[:SCHEDULER[:SEED]]")
@click.option(
    "--perfetto", is_flag=True, required=True, help="For ui.perfetto.dev and trace_processor."
)
@click.option(
    "--out", type=click.Path(path_type=Path), help=f"The file; by default RUN{SUFFIX}, here."
)
def command(run: str, perfetto: bool, out: Path | None) -> None:
    """Write every request of a run folder as a trace that Perfetto opens.

    Each run has a track for the disk, one for each process, one for the head's position and one for
    the number of requests that wait.  A request is shown from its arrival to its completion, with
    the time on the disk and the reason of the pick.  Times are those of the disk, without its
    slowdown.
    """
    requests, left_out, slowdown = recorded.requests(run)
    file = out or Path(recorded.name(run) + SUFFIX)
    with scratch.replacing(file) as fresh, fresh.open("wb") as written:
        for part in runs.encoded(requests, slowdown):
            written.write(part)
    click.echo(f"wrote {file}: {counted(requests.height, 'request')}", err=True)
    if left_out:
        click.echo(f"left out: {counted(left_out, 'request')} that did not complete", err=True)
