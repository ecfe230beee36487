# SPDX-License-Identifier: MIT
"""`understudy place`: assign each VM to a storage device."""

from contextlib import nullcontext
from pathlib import Path

import click

from understudy_devices.api.place import (
    BUDGET_MOST,
    MOVES_MOST,
    TARGET_LEAST_MS,
    TARGET_MOST_MS,
    ask,
)
from understudy_devices.api.place_traces import BAD_TRACES
from understudy_devices.api.placed import Placement
from understudy_devices.base import scratch
from understudy_devices.base.errors import RunFailed
from understudy_devices.base.stopping import Stops
from understudy_devices.cli import vms as vms_given
from understudy_devices.cli.cluster import with_cluster
from understudy_devices.cli.session import Answers
from understudy_devices.consolidation import vm
from understudy_devices.consolidation.placement.search import BUDGET
from understudy_devices.consolidation.scenario import SERVERS_MOST
from understudy_devices.engine.cluster import Request

EXIT_INTERRUPTED = 130  # docs/decisions/0027-stopping.md
REPORT_SECONDS = 20  # for the answer of a search that was interrupted
EXAMPLE = (
    "Example: understudy place --each vms/ --queue-depths fast=64,slow=32,slow2=32 --p95-ms 50 "
    "--targets-ms mail=20"
)


@click.command("place", epilog=EXAMPLE)
@click.argument("vms", metavar=vms_given.METAVAR, nargs=-1)
@click.option(
    "--each",
    "folders",
    metavar="FOLDER",
    multiple=True,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="A folder of VMs: each entry is a trace, or a folder with traces of several runs.",
)
@click.option(
    "--queue-depths",
    "devices",
    metavar="NAME[=SERVERS],...",
    required=True,
    help="The devices, and the number of requests that each serves at once. A device without a "
    "number is like the one that the traces were recorded on.",
)
@click.option(
    "--speeds",
    metavar="NAME=K,...",
    default="",
    help="Devices that serve a request K times as fast as the one that the traces were recorded "
    "on; K is 1 for the others.",
)
@click.option(
    "--p95-ms",
    "p95",
    type=click.FloatRange(TARGET_LEAST_MS, TARGET_MOST_MS),
    help="Limit for the 95th percentile of each VM's response times, in ms.",
)
@click.option(
    "--targets-ms",
    "targets",
    metavar="NAME=MS,...",
    default="",
    help="Limits for individual VMs, which override --p95-ms.",
)
@click.option(
    "--copies", metavar="NAME=N,...", default="", help="Place N VMs that behave like this one."
)
@click.option(
    "--capacities-gb",
    "capacities",
    metavar="NAME=GB,...",
    default="",
    help="The devices' capacities; needs --sizes-gb.",
)
@click.option(
    "--sizes-gb",
    "sizes",
    metavar="NAME=GB,...",
    default="",
    help="The VMs' sizes. A trace does not show them.",
)
@click.option(
    "--together",
    metavar="NAME,...",
    multiple=True,
    help="VMs that must share a device; repeat the option for other VMs.",
)
@click.option(
    "--apart",
    metavar="NAME,...",
    multiple=True,
    help="VMs of which no two may share a device; repeat the option for other VMs.",
)
@click.option(
    "--today",
    metavar="NAME=DEVICE,...|FILE",
    default="",
    help="Where VMs are now, or a file with that, such as a result.json of this command. Then as "
    "few VMs as possible move, or as few GB with --sizes-gb.",
)
@click.option(
    "--moves-at-most",
    metavar="N",
    type=click.IntRange(0, MOVES_MOST),
    help="Move at most N VMs; needs --today.",
)
@click.option(
    "--merge",
    metavar="VALUE",
    default="1",
    help="Number of requests that a server merges into one; understudy consolidate finds it. 1: no "
    "merging, which is the safe side.",
)
@click.option(
    "--traced-on",
    metavar="SERVERS",
    type=click.IntRange(1, SERVERS_MOST),
    help="Number of requests that the device served at once that the traces were recorded on "
    "[default: from the traces' run folders, or estimated; if unknown, the response times are the "
    "service times].",
)
@click.option(
    "--budget",
    type=click.IntRange(1, BUDGET_MOST),
    default=BUDGET,
    help="Limit on the number of simulations, each of one device with some of the VMs.",
)
@click.option(
    "--bad-traces",
    type=click.Choice(BAD_TRACES),
    default=BAD_TRACES[0],
    help="What to do if a trace can't be used: end with an error, "
    "or name its VM and place the others.",
)
@vms_given.with_options
@with_cluster
@click.pass_obj
def command(
    line: str,
    vms: tuple[str, ...],
    folders: tuple[Path, ...],
    devices: str,
    speeds: str,
    p95: float | None,
    targets: str,
    copies: str,
    capacities: str,
    sizes: str,
    together: tuple[str, ...],
    apart: tuple[str, ...],
    today: str,
    moves_at_most: int | None,
    merge: str,
    traced_on: int | None,
    budget: int,
    bad_traces: str,
    split: str,
    arrivals: vm.Arrival | None,
    accept_poor_fit: bool,
    columns: str | None,
    format: str | None,
    seed: int,
    jobs: int | None,
    as_json: bool,
    out: Path | None,
    cluster: Request | None,
) -> None:
    """Find a storage device for each VM, so that all meet their targets.

    Name the VMs as for understudy consolidate, with traces of each VM running alone.  Exit code 1
    if no assignment is found.  The command then prints why none exists, or the best assignment
    that it found.  Ctrl-C ends the search: the command then prints the best assignment so far, with
    exit code 130.  Method: docs/consolidation.md.

    With --on-cluster, the simulations are array jobs of Slurm (docs/cluster.md).
    """
    question = ask(
        vms,
        queue_depths=devices,
        each=folders,
        speeds=speeds,
        p95_ms=p95,
        targets_ms=targets,
        copies=copies,
        capacities_gb=capacities,
        sizes_gb=sizes,
        together=together,
        apart=apart,
        today=today,
        moves_at_most=moves_at_most,
        merge=merge,
        traced_on=traced_on,
        budget=budget,
        split=split,
        arrivals=arrivals,
        accept_poor_fit=accept_poor_fit,
        columns=columns,
        format=format,
        bad_traces=bad_traces,
        seed=seed,
        jobs=jobs,
        command=line,
    )
    stops = Stops(REPORT_SECONDS)
    watch = Answers(as_json=as_json)
    answer = question.answer(out or True, watch, cluster, nullcontext if cluster else stops)
    scratch.say_if_interrupted(_so_far(answer))
    if stops.asked:
        raise click.exceptions.Exit(EXIT_INTERRUPTED)
    if not answer.found:
        raise RunFailed(f"{answer.outcome}: {answer.reason}")


def _so_far(answer: Placement) -> str:
    """Return what a search found before the interruption."""
    if not answer.interrupted:
        return "the search had ended before, and the answer is complete"
    if answer.found:
        return "the assignment meets all targets; a longer search may find one with more room"
    if answer.assignment:
        return "the best assignment so far is not known to meet all targets"
    return "no assignment so far"
