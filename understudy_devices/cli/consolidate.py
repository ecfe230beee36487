# SPDX-License-Identifier: MIT
"""`understudy consolidate`: predict response times of VMs that share a device (ICPE 2011)."""

import os
from pathlib import Path

import click
from click.core import ParameterSource

from understudy_devices.api.consolidate import (
    REPLICATIONS_MOST,
    RESPONSE,
    SERVED,
    ask,
    effort_of,
)
from understudy_devices.base.errors import UserError
from understudy_devices.cli import kernel_check
from understudy_devices.cli import vms as vms_given
from understudy_devices.cli.cluster import with_cluster
from understudy_devices.cli.session import Answers
from understudy_devices.consolidation import vm
from understudy_devices.consolidation.alignment import BEGIN, CLOCK
from understudy_devices.consolidation.prediction import MOST, PRECISION, UNMERGED
from understudy_devices.consolidation.scenario import SERVERS_MOST
from understudy_devices.engine.cluster import Request

EXAMPLE = "Example: understudy consolidate web=vm1/ mail=vm2/ vm3.csv.gz --queue-depth 32"
NOT_CHECKED = (
    "depth",
    "disk",
    "schedulers",
    "virtual_size",
    "weights",
    "limits",
    "service",
    "changes",
    "split",
    "arrivals",
    "align",
    "columns",
    "format",
    "accept_poor_fit",
    "on_cluster",
)


@click.command("consolidate", epilog=EXAMPLE)
@click.argument("vms", metavar=vms_given.METAVAR, nargs=-1)
@click.option(
    "--queue-depth",
    "depth",
    type=click.IntRange(1, SERVERS_MOST),
    help="Number of requests that the device serves at once (its servers)  [default: the servers "
    "of --disk, or of the disk that all run folders were recorded on, or what the traces show; "
    "otherwise the answer is for the smallest and the largest D that make sense].",
)
@click.option(
    "--disk",
    metavar="NAME|FILE",
    help="The device's profile. A disk with a head is simulated with the recorded requests; of an "
    "array, only the number of servers is used.",
)
@click.option(
    "--schedulers",
    metavar="NAME,...",
    help="Schedulers of a simulated disk, as for understudy predict [default: sfq].",
)
@click.option(
    "--virtual-size",
    metavar="SIZE",
    help="Size of a simulated disk, as 73.4G or 2929687s (sectors) [default: that of the real "
    "disk].",
)
@click.option(
    "--weights", metavar="NAME=N,...", default="", help="Shares of the device; 1 if not named."
)
@click.option(
    "--cap",
    "limits",
    multiple=True,
    metavar="NAME=LIMIT,...",
    help="Hold a VM's requests back, as io.max or a cloud's volume: web=500iops,20MB/s, or with a "
    "burst web=300iops:3000iops:1800s.",
)
@click.option(
    "--merge",
    metavar="common|per-vm|VALUE",
    default=f"{UNMERGED:g}",
    help="Mean number of requests that a server merges into one: a VALUE (1: no merging), or found "
    "by search: one value for all VMs (common) or one for each (per-vm).",
)
@click.option(
    "--service-times",
    "service",
    type=click.Choice([SERVED, RESPONSE]),
    default=SERVED,
    help="Service time of a VM alone: from when a server was free (served), or the response time, "
    "as in the paper (response).",
)
@click.option(
    "--replications",
    type=click.IntRange(1, REPLICATIONS_MOST),
    help=f"Number of simulations [default: until --precision is reached, at most {MOST}].",
)
@click.option(
    "--precision",
    type=click.FloatRange(0.001, 1),
    default=PRECISION,
    help="Half the width of each mean's 95 % interval, as a fraction of the mean.",
)
@click.option(
    "--what-if",
    "changes",
    multiple=True,
    metavar="CHANGE",
    help="Predict again with a change: depth=16,64, or NAME.weight=2,4, or NAME.copies=2,3 (2 or 3 "
    "such VMs).",
)
@click.option(
    "--align",
    type=click.Choice([BEGIN, CLOCK]),
    default=BEGIN,
    help="Lay all VMs' runs at one begin, in any hour of each; or each at its own time, by the "
    "clock of its trace (clock).",
)
@click.option(
    "--self-check",
    is_flag=True,
    help="Check predictions against a kernel: Postmark and FFSB run in VMs, alone and together, in "
    "a virtual machine (a quarter of an hour). Instead of VMs, name some of the six "
    "configurations, such as PM-1.",
)
@vms_given.with_options
@with_cluster
@click.pass_obj
def command(
    line: str,
    vms: tuple[str, ...],
    depth: int | None,
    disk: str | None,
    schedulers: str | None,
    virtual_size: str | None,
    weights: str,
    limits: tuple[str, ...],
    split: str,
    merge: str,
    service: str,
    arrivals: vm.Arrival | None,
    align: str,
    replications: int | None,
    precision: float,
    changes: tuple[str, ...],
    accept_poor_fit: bool,
    columns: str | None,
    format: str | None,
    seed: int,
    jobs: int | None,
    as_json: bool,
    out: Path | None,
    cluster: Request | None,
    self_check: bool,
) -> None:
    """Predict response times of VMs that will share one storage device.

    Each VM is given by a trace recorded while it ran alone, or by a folder with traces of several
    such runs, in any format with response times (docs/traces.md). Method: docs/consolidation.md.

    With --on-cluster, the simulations are array jobs of Slurm (docs/cluster.md).
    """
    if self_check:
        effort = effort_of(merge, replications, precision)
        _refuse_useless()
        kernel_check.carry_out(line, vms, effort, seed, jobs or os.cpu_count() or 1, out, as_json)
        return
    question = ask(
        vms,
        queue_depth=depth,
        disk=disk,
        schedulers=schedulers,
        virtual_size=virtual_size,
        weights=weights,
        cap=limits,
        merge=merge,
        service_times=service,
        replications=replications,
        precision=precision,
        changes=changes,
        split=split,
        arrivals=arrivals,
        align=align,
        accept_poor_fit=accept_poor_fit,
        columns=columns,
        format=format,
        seed=seed,
        jobs=jobs,
        command=line,
    )
    question.answer(out or True, Answers(as_json=as_json), cluster)


def _refuse_useless() -> None:
    """Refuse options that have no effect with --self-check."""
    context = click.get_current_context()
    for parameter in context.command.params:
        given = context.get_parameter_source(parameter.name or "") is ParameterSource.COMMANDLINE
        if given and parameter.name in NOT_CHECKED:
            raise UserError(f"{parameter.opts[0]}: not with --self-check, which sets it itself")
