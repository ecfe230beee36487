# SPDX-License-Identifier: MIT
"""`understudy consolidate`: response times when VMs share one storage device (ICPE 2011)."""

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from understudy.base import run_folder, scratch
from understudy.base.errors import UserError
from understudy.base.progress import Report
from understudy.cli.progress import phases
from understudy.cli.session import console
from understudy.consolidate import answer, prediction, vm, what_if
from understudy.consolidate.arrivals import LIMIT_BLOCKS
from understudy.consolidate.fit import Fitted, fit
from understudy.consolidate.prediction import COMMON, MOST, PER_VM, PRECISION, Effort, Prediction
from understudy.consolidate.replications import Replications
from understudy.consolidate.scenario import (
    SERVERS,
    SERVERS_MOST,
    WEIGHT_MOST,
    Scenario,
    Tenant,
)
from understudy.consolidate.vm import VirtualMachine

EXAMPLE = "Example: understudy consolidate web=vm1/ mail=vm2/ vm3.csv.gz --depth 32"
MERGE_MOST = 10_000.0
LABEL = 80  # letters of a run folder's name
UNSPLIT = 2**31  # blocks: longer than any request


@dataclass(frozen=True)
class Asked:
    """What was asked for, checked."""

    vms: dict[str, Path]
    weights: dict[str, int]
    servers: int
    limit_blocks: int
    by: vm.Arrival
    accept_poor_fit: bool


@click.command("consolidate", epilog=EXAMPLE)
@click.argument("vms", metavar="[NAME=]TRACE|FOLDER...", nargs=-1, required=True)
@click.option(
    "--depth",
    type=click.IntRange(1, SERVERS_MOST),
    default=SERVERS,
    help="Requests that the device serves at once: its servers.",
)
@click.option(
    "--weights", metavar="NAME=N,...", default="", help="Shares of the device, where not 1."
)
@click.option(
    "--split",
    metavar="BLOCKS|none",
    default=str(LIMIT_BLOCKS),
    help="What is longer is split by the hypervisor, in blocks of 4 kB.",
)
@click.option(
    "--merge",
    metavar="common|per-vm|VALUE",
    default=COMMON,
    help="Requests that a server takes as one: found for all, for each VM, or given (1: none).",
)
@click.option(
    "--arrivals",
    type=click.Choice(["issue", "queue"]),
    default="issue",
    help="When a request arrives, in traces that tell: as the VM issues it, or as it is queued.",
)
@click.option(
    "--replications",
    type=click.IntRange(1, 100_000),
    help=f"Simulate so often [default: until --precision is reached, at most {MOST}].",
)
@click.option(
    "--precision",
    type=click.FloatRange(0.001, 1),
    default=PRECISION,
    help="Half the width of each mean's 95 % interval, as part of the mean.",
)
@click.option(
    "--what-if",
    "changes",
    multiple=True,
    metavar="CHANGE",
    help="Also with depth=16,64, or NAME.weight=2,4, or NAME.copies=2,3 (so many such VMs).",
)
@click.option("--accept-poor-fit", is_flag=True, help="Go on with service times that fit poorly.")
@click.option("--seed", type=click.IntRange(0, 2**63 - 1), default=1, help="Of all draws.")
@click.option(
    "--jobs",
    type=click.IntRange(1, 1000),
    help="Replications at a time [default: one a processor].",
)
@click.option("--json", "as_json", is_flag=True, help="Print result.json instead of the table.")
@click.option("--out", type=click.Path(path_type=Path), help="New folder for the results.")
@click.pass_obj
def command(
    line: str,
    vms: tuple[str, ...],
    depth: int,
    weights: str,
    split: str,
    merge: str,
    arrivals: vm.Arrival,
    replications: int | None,
    precision: float,
    changes: tuple[str, ...],
    accept_poor_fit: bool,
    seed: int,
    jobs: int | None,
    as_json: bool,
    out: Path | None,
) -> None:
    """Predict response times of VMs that will share one storage device.

    Each VM is a trace of it alone, or a folder with traces of several of its runs, in any format
    that has response times (docs/traces.md). How it is done: docs/consolidation.md.
    """
    named = vm.named(vms)
    asked = Asked(
        vms=named,
        weights=_weights(weights, named),
        servers=depth,
        limit_blocks=_limit(split),
        by=arrivals,
        accept_poor_fit=accept_poor_fit,
    )
    effort = Effort(_merge(merge), replications, precision)
    variations = what_if.parse(changes, list(named))
    jobs = jobs or os.cpu_count() or 1
    click.echo(f"$ {line}", err=True)
    with (
        run_folder.reserved(out, "-".join(["consolidate", *named])[:LABEL]) as folder,
        scratch.folder("understudy-consolidate-") as kept,
    ):
        with phases("consolidate") as report:
            scenario = _scenario(asked, kept, report)
            others = [what_if.changed(scenario, one, kept / str(one)) for one in variations]
            found = [
                prediction.predict(Replications(each, seed, jobs), effort, report)
                for each in (scenario, *others)
            ]
        _put(line, seed, found, variations, folder, as_json)


def _scenario(asked: Asked, folder: Path, report: Report) -> Scenario:
    tenants = []
    for rank, (name, path) in enumerate(asked.vms.items()):
        report(f"read {name}", rank / len(asked.vms))
        found = vm.read(name, path, folder / str(rank), asked.limit_blocks, asked.by)
        for run in found.runs:
            for note in run.notes:
                click.echo(f"{run.name}: {note}", err=True)
        report(f"fit {name}", rank / len(asked.vms))
        fitted = _fitted(found, asked.accept_poor_fit)
        tenants.append(Tenant(found, fitted, asked.weights.get(name, 1)))
    return Scenario(tuple(tenants), asked.servers)


def _fitted(found: VirtualMachine, accept_poor: bool) -> Fitted:
    try:
        fitted = fit(found.response_ms * vm.NS_PER_MS, accept_poor)
    except ValueError as error:
        raise UserError(f"{found.name}: {error}") from error
    except UserError as error:
        raise UserError(f"{found.name}: {error} (--accept-poor-fit)") from error
    for reason in fitted.report.poor:
        click.echo(f"{found.name}: fitted poorly: {reason}", err=True)
    return fitted


def _weights(text: str, names: dict[str, Path]) -> dict[str, int]:
    weights = {}
    for word in filter(None, text.split(",")):
        name, _, value = word.partition("=")
        if name not in names:
            raise UserError(f"--weights: no VM is called {name}; there are {', '.join(names)}")
        if not (value.isascii() and value.isdigit() and 1 <= int(value[:9]) <= WEIGHT_MOST):
            raise UserError(f"--weights: {word}: write NAME=N, N from 1 to {WEIGHT_MOST:,}")
        weights[name] = int(value)
    return weights


def _limit(text: str) -> int:
    if text == "none":
        return UNSPLIT
    if not (text.isascii() and text.isdigit() and 1 <= int(text[:9]) <= UNSPLIT):
        raise UserError(f"--split: {text} is not a number of blocks from 1, such as 128, or none")
    return int(text)


def _merge(text: str) -> str | float:
    if text in (COMMON, PER_VM):
        return text
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 1 <= value <= MERGE_MOST:
        raise UserError(f"--merge: {text}: write {COMMON}, {PER_VM}, or a value from 1")
    return value


def _put(
    line: str,
    seed: int,
    found: Sequence[Prediction],
    changes: Sequence[what_if.Change],
    folder: Path,
    as_json: bool,
) -> None:
    from understudy.show import consolidated  # Matplotlib takes half a second

    document: dict[str, Any] = answer.document(line, seed, found, changes)
    with run_folder.filled(folder) as partial:
        text = json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False)
        (partial / "result.json").write_text(text + "\n", encoding="utf-8")
        answer.replications(found[0]).write_parquet(partial / "replications.parquet")
        page = consolidated.render(document, found, changes)
        (partial / "report.html").write_text(page, encoding="utf-8")
    if as_json:
        click.echo(json.dumps(document, indent=2))
    else:
        consolidated.show(found, changes, console())
    for doubt in consolidated.doubts(found[0]):
        click.echo(f"understudy: {doubt}", err=True)
    click.echo(f"wrote {folder}: result.json, replications.parquet, report.html", err=True)
