# SPDX-License-Identifier: MIT
"""`understudy profile`: measure a drive, and write its profile."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path

import click

from understudy_devices.base import scratch
from understudy_devices.base.errors import RunFailed, UserError
from understudy_devices.cli.progress import phases
from understudy_devices.cli.session import console
from understudy_devices.device.check import standing
from understudy_devices.device.profile import load as load_profile
from understudy_devices.device.target import Target
from understudy_devices.profiler import methods, profile_fit
from understudy_devices.profiler.from_trace import fit
from understudy_devices.profiler.from_trace.services import Served
from understudy_devices.profiler.profile_fit import Fitted
from understudy_devices.profiler.targets import factory, journal
from understudy_devices.profiler.targets.bench import capacity
from understudy_devices.profiler.targets.disk import facts
from understudy_devices.profiler.targets.disk.device_file import Disk
from understudy_devices.profiler.targets.journal import Journal
from understudy_devices.show import checks
from understudy_devices.traces.read import load

EXAMPLE = (
    "Examples: understudy profile --device /dev/sdX --out mydrive.toml; "
    "understudy profile --trace recorded.txt --out mydrive.toml; "
    "understudy profile --target mydrive:make --out mydrive.toml"
)
SEEDS = click.IntRange(0, 2**63 - 1)


@click.command("profile", epilog=EXAMPLE)
@click.option(
    "--device",
    type=click.Path(path_type=Path, readable=False),
    help="A whole disk, or an image file.",
)
@click.option(
    "--target", "name", metavar="MODULE:FACTORY", help="Python code that acts as a drive."
)
@click.option("--trace", metavar="FILE", help="Trace of a drive that is not in this machine.")
@click.option(
    "--keep",
    metavar="PROFILE",
    help="With --trace: the profile that supplies the values that no trace reveals.",
)
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Profile to write.")
@click.option(
    "--method",
    type=click.Choice(methods.names()),
    default=methods.FULL,
    help="full: a separate probe for each part of the drive; others: a paper's method.",
)
@click.option(
    "--picture",
    type=click.Path(path_type=Path),
    help="Draw the profile: a .png, .svg or .pdf file.",
)
@click.option(
    "--seed", type=SEEDS, default=1, help="Seed for the sectors that are read or written."
)
@click.option(
    "--minutes",
    type=click.FloatRange(min=0, min_open=True),
    help="Limit in minutes of the drive's time; the most important probes run first.",
)
@click.option(
    "--as",
    "kind",
    type=click.Choice(["disk"]),
    help="Profile the device as a disk, even if it has neither arm nor rotation.",
)
@click.option("--destroy-data", is_flag=True, help="Measure writes too, anywhere on the drive.")
@click.option("--json", "as_json", is_flag=True, help="Print what was found as JSON.")
def command(
    device: Path | None,
    name: str | None,
    trace: str | None,
    keep: str | None,
    out: Path,
    method: str,
    picture: Path | None,
    seed: int,
    minutes: float | None,
    kind: str | None,
    destroy_data: bool,
    as_json: bool,
) -> None:
    """Measure a drive by timing requests, fit a profile to it, and say how well it predicts.

    Reads of a device bypass the page cache.  No other program may use the device at the same
    time.  The factory of a target returns an object with `capacity_sectors`, `writable` and
    `request(op, sector, sectors, at_ns)`, which returns when the "read" or "write" completes, in
    ns.  One request is sent at a time.  Nothing is written to a drive without --destroy-data.

    A trace must have response times (docs/traces.md).  A trace reveals less than a measurement.
    --keep takes cache, facts and short seeks from another profile.

    In the file, a comment above each value has the confidence in the value, or "not seen". --disk
    accepts the file.  The same command given again resumes a run that was interrupted.
    """
    if [device, name, trace].count(None) != 2:
        raise UserError("profile: name what to profile: one of --device, --target and --trace")
    if out.suffix != ".toml":
        raise UserError(f"--out: {out}: a profile is a .toml file")
    if not out.parent.is_dir():
        raise UserError(f"--out: {out.parent}: no such folder")
    draw = _drawing(picture)
    scratch.say_if_interrupted(f"{out} was not written")
    if trace:
        if destroy_data:
            raise UserError("--destroy-data: nothing can be written to a trace")
        if method != methods.FULL:
            raise UserError(f"--method: {method} sends its own requests, and can't use a trace")
        if minutes is not None or kind:
            raise UserError("--minutes, --as: nothing is measured with --trace; leave them out")
        profile = _fitted(trace, seed, keep)
        _write(profile, out)
    elif keep:
        raise UserError("--keep: only with --trace; a drive is measured instead")
    else:
        with _target(device, name, destroy_data) as target:
            code = factory.code(name) if name else ""
            identity = {"target": str(device or name), "code": code, "method": method}
            how = How(seed, destroy_data, minutes, kind == "disk")
            profile = _measured(target, identity, out, how)
    draw(profile, out.stem)
    if as_json:
        click.echo(json.dumps(profile.as_json(), indent=2))
    else:
        _show(profile)
    click.echo(f"wrote {out}: {profile.requests:,} requests", err=True)
    if picture:
        click.echo(f"wrote {picture}", err=True)


def _drawing(picture: Path | None) -> Callable[[Fitted, str], None]:
    """Return a function that draws the profile into the file `picture`.

    The file's name is checked here, before any measurement.
    """
    if not picture:
        return lambda *_: None
    from understudy_devices.show import picture as pictures  # Matplotlib takes half a second
    from understudy_devices.show import profiled

    pictures.check(picture)
    return partial(profiled.draw, file=picture)


def _fitted(trace: str, seed: int, keep: str | None) -> Fitted:
    """Return the profile fitted to a trace."""
    base = load_profile(keep) if keep else None
    recording = load(trace)
    try:
        completion_ns = recording.completed_ns()
    except UserError as error:
        raise UserError(f"--trace: {error}") from error
    if recording.losses:
        click.echo(f"{trace}: {recording.losses}", err=True)
    sent_ns = recording.arrival_ns if recording.dispatch_ns is None else recording.dispatch_ns
    columns = (recording.op, recording.sector, recording.sectors, sent_ns, completion_ns)
    try:
        return fit.profile(Served.of(*columns), seed, base)
    except RunFailed as error:
        raise RunFailed(f"--trace: {trace}: {error}") from error


@dataclass(frozen=True)
class How:
    """The options of a measurement; only a command with the same options can resume its journal."""

    seed: int
    destroy_data: bool
    minutes: float | None
    as_disk: bool


def _measured(target: Target, named_as: dict[str, str], out: Path, how: How) -> Fitted:
    """Measure the target and write its profile."""
    identity = {**named_as, "capacity_sectors": capacity(target), **asdict(how)}
    with journal.kept(target, out, identity) as journaled, phases("profile") as report:
        _say_it_goes_on(journaled)
        profile = profile_fit.profile(
            journaled,
            method=named_as["method"],
            report=report,
            told=lambda duration: click.echo(duration.said(), err=True),
            **asdict(how),
        )
    if isinstance(target, Disk):
        own = facts.findings(facts.ask(target.descriptor), target.capacity_sectors)
        profile = replace(profile, findings=facts.said_better(profile.findings, own))
    _write(profile, out)
    journaled.done()
    return profile


def _write(profile: Fitted, out: Path) -> None:
    with ExitStack() as written:
        for name, text in reversed(profile.files(out.stem).items()):  # the profile is renamed last
            file = written.enter_context(scratch.replacing(out.with_name(name)))
            file.write_text(text, encoding="utf-8")


def _say_it_goes_on(record: Journal) -> None:
    if record.told:
        click.echo(f"{record.told:,} requests were answered before; resuming from there", err=True)


@contextmanager
def _target(device: Path | None, name: str | None, destroy_data: bool) -> Iterator[Target]:
    """Yield the named target, which is open while the block runs."""
    if name:
        target = factory.target(name)
        if destroy_data and not target.writable:
            raise UserError(f"--destroy-data: {name} can't be written")
        yield target
    elif device:
        with Disk(device, destroy_data=destroy_data) as disk:
            if destroy_data:
                lost = f"what is on {device} ({disk.capacity_sectors:,} sectors) is being lost"
                click.echo(f"--destroy-data: {lost}", err=True)
            yield disk


def _show(profile: Fitted) -> None:
    """Print how well the profile predicts, and which values were not seen."""
    checks.grid(profile.checks).show(console())
    click.echo(standing(profile.checks))
    for why in dict.fromkeys(each.confidence for each in profile.findings if each.value is None):
        keys = (each.key for each in profile.findings if each.confidence == why)
        click.echo(f"{', '.join(keys)}: {why}")
