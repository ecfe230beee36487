# SPDX-License-Identifier: MIT
"""`understudy place`: assign each VM to a storage device."""

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from understudy_devices.base import run_folder, scratch
from understudy_devices.base.errors import RunFailed, UserError
from understudy_devices.base.progress import Report
from understudy_devices.cli import vms as vms_given
from understudy_devices.cli.progress import phases
from understudy_devices.cli.session import console
from understudy_devices.consolidation import trust, vm
from understudy_devices.consolidation.placement import answer
from understudy_devices.consolidation.placement.guests import Guest, demands, guests, multiplied
from understudy_devices.consolidation.placement.problem import Device, Problem
from understudy_devices.consolidation.placement.search import BUDGET, FOUND, Outcome, place
from understudy_devices.consolidation.placement.simulation import Simulated
from understudy_devices.consolidation.scenario import SERVERS_MOST, Tenant
from understudy_devices.measure.trust import Trust

EXAMPLE = (
    "Example: understudy place --each vms/ --queue-depths fast=64,slow=32,slow2=32 --p95-ms 50 "
    "--targets-ms mail=20"
)
TARGET_MOST_MS = 1e9
TARGET_LEAST_MS = 1e-6
COPIES_MOST = 1000
LENGTHS = 2.0  # warn if the longest trace is more than this many times as long as the shortest


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
    metavar="NAME=SERVERS,...",
    required=True,
    help="The devices, and the number of requests that each serves at once.",
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
    help="Number of servers of the device that the traces were recorded on: service time then "
    "starts when a server is free [default: service times are the response times].",
)
@click.option(
    "--budget",
    type=click.IntRange(1, 1_000_000),
    default=BUDGET,
    help="Limit on the number of simulations, each of one device with some of the VMs.",
)
@vms_given.with_options
@click.pass_obj
def command(
    line: str,
    vms: tuple[str, ...],
    folders: tuple[Path, ...],
    devices: str,
    p95: float | None,
    targets: str,
    copies: str,
    merge: str,
    traced_on: int | None,
    budget: int,
    split: str,
    arrivals: vm.Arrival,
    accept_poor_fit: bool,
    seed: int,
    jobs: int | None,
    as_json: bool,
    out: Path | None,
) -> None:
    """Find a storage device for each VM, so that all meet their targets.

    Name the VMs as for understudy consolidate, with traces of each VM running alone.  Exit code 1
    if no assignment is found.  The command then prints why none exists, or the best assignment
    that it found.  Method: docs/consolidation.md.
    """
    where = _devices(devices)
    named = vm.named([*vms, *(text for folder in folders for text in _entries(folder))])
    if not named:
        raise UserError("no VM: name a trace for each, as in web=vm1/, or a folder with --each")
    guest_list = _guests(named, copies, p95, targets)
    value = vms_given.number(
        merge, 1, vms_given.MERGE_MOST, f"--merge: {merge}: write a value from 1"
    )
    jobs = jobs or os.cpu_count() or 1
    reduction = vm.Reduction(vms_given.limit_blocks(split), arrivals, traced_on)
    reading = vms_given.Reading(reduction, accept_poor_fit, jobs)
    click.echo(f"$ {line}", err=True)
    with (
        run_folder.reserved(out, f"place-{len(guest_list)}-vms") as folder,
        scratch.folder("understudy-place-") as workspace,
    ):
        with phases("place") as report:
            read = _read(named, reading, workspace / "vms", report)
            judge = Simulated(
                multiplied(guest_list, read, workspace / "copies"),
                [guest.target_ms for guest in guest_list],
                value,
                seed,
                jobs,
            )
            problem = Problem(demands(guest_list, read, value), where)
            outcome = place(problem, judge, budget, report)
        trusted = trust.of_placement(list(read.values()), value)
        inputs = {"seed": seed, "merge": value, "traced_on": traced_on, "budget": budget}
        _put(line, inputs, problem, outcome, trusted, folder, as_json)
    if outcome.kind != FOUND:
        raise RunFailed(f"{outcome.kind}: {outcome.reason}")


def _read(
    named: dict[str, Path], reading: vms_given.Reading, folder: Path, report: Report
) -> dict[Path, Tenant]:
    """Read each trace once, even if several VMs use it."""
    first: dict[Path, str] = {}
    for name, path in named.items():
        first.setdefault(path.resolve(), name)
    tenants = reading.tenants({name: named[name] for name in first.values()}, {}, folder, report)
    _warn_of_lengths(tenants)
    return dict(zip(first, tenants, strict=True))


def _devices(text: str) -> tuple[Device, ...]:
    devices = []
    for name, value in vms_given.pairs("--queue-depths", text).items():
        wrong = f"--queue-depths: {name}={value}: write NAME=SERVERS, from 1 to {SERVERS_MOST:,}"
        devices.append(Device(name, vms_given.whole(value, SERVERS_MOST, wrong)))
    if not devices:
        raise UserError("--queue-depths: no device; write NAME=SERVERS,..., as in fast=64,slow=32")
    return tuple(devices)


def _entries(folder: Path) -> Iterator[str]:
    """Yield the folder's subfolders and traces; the per-CPU files of one trace are one entry."""
    entries = sorted(entry for entry in folder.iterdir() if not entry.name.startswith("."))
    if not entries:
        raise UserError(f"--each: {folder}: empty; name a folder with a trace of each VM")
    yield from (str(entry) for entry in entries if entry.is_dir())
    if any(entry.is_file() for entry in entries):
        yield from vm.runs_of(folder)


def _guests(named: dict[str, Path], copies: str, p95: float | None, targets: str) -> list[Guest]:
    counts = {}
    for name, value in vms_given.pairs("--copies", copies).items():
        _refuse_unknown("--copies", name, list(named))
        wrong = f"--copies: {name}={value}: write NAME=N, N from 1 to {COPIES_MOST:,}"
        counts[name] = vms_given.whole(value, COPIES_MOST, wrong)
    targets_ms = {"": p95} if p95 is not None else {}
    for name, value in vms_given.pairs("--targets-ms", targets).items():
        wrong = f"--targets-ms: {name}={value}: write NAME=MS, a time above 0"
        targets_ms[name] = vms_given.number(value, TARGET_LEAST_MS, TARGET_MOST_MS, wrong)
    guest_list = guests(named, counts, targets_ms)
    for name in targets_ms:
        _refuse_unknown("--targets-ms", name, ["", *(guest.name for guest in guest_list)])
    return guest_list


def _refuse_unknown(option: str, name: str, names: Sequence[str]) -> None:
    if name not in names:
        raise UserError(
            f"{option}: no VM is called {name}; there are {', '.join(filter(None, names))}"
        )


def _warn_of_lengths(tenants: Sequence[Tenant]) -> None:
    runs = [run for tenant in tenants for run in tenant.vm.runs]
    short, long = (choose(runs, key=lambda run: run.arrivals.last_ns) for choose in (min, max))
    if long.arrivals.last_ns > LENGTHS * short.arrivals.last_ns:
        click.echo(
            f"{short.name} lasts {short.arrivals.last_ns / 1e9:.4g} s and {long.name} "
            f"{long.arrivals.last_ns / 1e9:.4g} s: on each device, every trace is used only up to "
            "the length of the shortest one there",
            err=True,
        )


def _put(
    line: str,
    inputs: dict[str, Any],
    problem: Problem,
    outcome: Outcome,
    trusted: Trust,
    folder: Path,
    as_json: bool,
) -> None:
    from understudy_devices.show import placed  # Matplotlib takes half a second

    document = answer.document(line, inputs, problem, outcome, trusted)
    if as_json:
        click.echo(json.dumps(document, indent=2))
    else:
        placed.show(problem, outcome, trusted, console())
    with run_folder.filled(folder) as partial:
        run_folder.write(partial, document, placed.render(document, problem, outcome, trusted))
    click.echo(f"wrote {folder}: result.json, report.html", err=True)
