# SPDX-License-Identifier: MIT
"""`understudy consolidate`: predict response times of VMs that share a device (ICPE 2011)."""

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from understudy_devices.base import parquet, run_folder, scratch
from understudy_devices.base.errors import UserError
from understudy_devices.cli import depth as depths
from understudy_devices.cli import kernel_check
from understudy_devices.cli import vms as vms_given
from understudy_devices.cli.progress import phases
from understudy_devices.cli.session import console
from understudy_devices.consolidation import answer, prediction, vm, what_if
from understudy_devices.consolidation.prediction import (
    COMMON,
    MOST,
    PER_VM,
    PRECISION,
    UNMERGED,
    Effort,
    Prediction,
)
from understudy_devices.consolidation.replications import Replications
from understudy_devices.consolidation.scenario import SERVERS_MOST, WEIGHT_MOST, Scenario

EXAMPLE = "Example: understudy consolidate web=vm1/ mail=vm2/ vm3.csv.gz --queue-depth 32"
NOT_CHECKED = (
    "depth",
    "disk",
    "weights",
    "service",
    "changes",
    "split",
    "arrivals",
    "accept_poor_fit",
)
SERVED, RESPONSE = "served", "response"
LABEL = 80  # most letters of the label in a run folder's name


@click.command("consolidate", epilog=EXAMPLE)
@click.argument("vms", metavar=vms_given.METAVAR, nargs=-1)
@click.option(
    "--queue-depth",
    "depth",
    type=click.IntRange(1, SERVERS_MOST),
    help="Number of requests that the device serves at once (its servers)  [default: the servers "
    "of --disk, or of the disk that all run folders were recorded on].",
)
@click.option(
    "--disk",
    metavar="NAME|FILE",
    help="The device's profile, of which only the number of servers is used (1 for a disk).",
)
@click.option(
    "--weights", metavar="NAME=N,...", default="", help="Shares of the device; 1 if not named."
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
    type=click.IntRange(1, 100_000),
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
    "--self-check",
    is_flag=True,
    help="Check predictions against a kernel: Postmark and FFSB run in VMs, alone and together, in "
    "a virtual machine (a quarter of an hour). Instead of VMs, name some of the six "
    "configurations, such as PM-1.",
)
@vms_given.with_options
@click.pass_obj
def command(
    line: str,
    vms: tuple[str, ...],
    depth: int | None,
    disk: str | None,
    weights: str,
    split: str,
    merge: str,
    service: str,
    arrivals: vm.Arrival,
    replications: int | None,
    precision: float,
    changes: tuple[str, ...],
    accept_poor_fit: bool,
    seed: int,
    jobs: int | None,
    as_json: bool,
    out: Path | None,
    self_check: bool,
) -> None:
    """Predict response times of VMs that will share one storage device.

    Each VM is given by a trace recorded while it ran alone, or by a folder with traces of several
    such runs, in any format with response times (docs/traces.md). Method: docs/consolidation.md.
    """
    jobs = jobs or os.cpu_count() or 1
    effort = Effort(_merge(merge), replications, precision)
    if self_check:
        _refuse_useless()
        kernel_check.carry_out(line, vms, effort, seed, jobs, out, as_json)
        return
    named = vm.named(vms)
    if not named:
        raise UserError("no VM: name a trace for each, as in web=vm1/")
    shares = _weights(weights, named)
    variations = what_if.parse(changes, list(named))
    limit = vms_given.limit_blocks(split)
    device = depths.find(depth, disk, named)
    alone = None if service == RESPONSE else device.servers
    reduction = vm.Reduction(limit, arrivals, alone)
    reading = vms_given.Reading(reduction, accept_poor_fit, jobs)
    click.echo(f"$ {line}", err=True)
    if not depth:
        click.echo(f"--queue-depth {device.servers}: {device.source}", err=True)
    with (
        run_folder.reserved(out, "-".join(["consolidate", *named])[:LABEL]) as folder,
        scratch.folder("understudy-consolidate-") as workspace,
    ):
        with phases("consolidate") as report:
            tenants = tuple(reading.tenants(named, shares, workspace, report))
            scenario = Scenario(tenants, device.servers)
            others = [what_if.changed(scenario, one, workspace / str(one)) for one in variations]
            predictions = [
                prediction.predict(Replications(each, seed, jobs), effort, report)
                for each in (scenario, *others)
            ]
        _put(line, seed, device.source, predictions, variations, folder, as_json)


def _refuse_useless() -> None:
    """Refuse options that have no effect with --self-check."""
    context = click.get_current_context()
    for parameter in context.command.params:
        given = context.get_parameter_source(parameter.name or "") is ParameterSource.COMMANDLINE
        if given and parameter.name in NOT_CHECKED:
            raise UserError(f"{parameter.opts[0]}: not with --self-check, which sets it itself")


def _weights(text: str, names: Mapping[str, Path]) -> dict[str, int]:
    weights = {}
    for name, value in vms_given.pairs("--weights", text).items():
        if name not in names:
            raise UserError(f"--weights: no VM is called {name}; there are {', '.join(names)}")
        wrong = f"--weights: {name}={value}: write NAME=N, N from 1 to {WEIGHT_MOST:,}"
        weights[name] = vms_given.whole(value, WEIGHT_MOST, wrong)
    return weights


def _merge(text: str) -> str | float:
    if text in (COMMON, PER_VM):
        return text
    wrong = f"--merge: {text}: write {COMMON}, {PER_VM}, or a value from 1 (no merging)"
    return vms_given.number(text, 1, vms_given.MERGE_MOST, wrong)


def _put(
    line: str,
    seed: int,
    depth_from: str,
    predictions: Sequence[Prediction],
    changes: Sequence[what_if.Change],
    folder: Path,
    as_json: bool,
) -> None:
    from understudy_devices.show import consolidated  # Matplotlib takes half a second

    document: dict[str, Any] = answer.document(line, seed, depth_from, predictions, changes)
    if as_json:
        click.echo(json.dumps(document, indent=2))
    else:
        consolidated.show(predictions, changes, console())
    with run_folder.filled(folder) as partial:
        parquet.write(answer.replications(predictions[0]), partial / "replications.parquet")
        run_folder.write(partial, document, consolidated.render(document, predictions, changes))
    for doubt in consolidated.doubts(predictions[0]):
        click.echo(f"understudy: {doubt}", err=True)
    click.echo(f"wrote {folder}: result.json, replications.parquet, report.html", err=True)
