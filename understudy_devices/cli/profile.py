# SPDX-License-Identifier: MIT
"""`understudy profile`: measure a drive, and write its profile."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

import click

from understudy_devices.api.profile import SEED_MOST, Profiled, ask
from understudy_devices.cli.session import Printed, console
from understudy_devices.profiler import methods
from understudy_devices.show import checks
from understudy_devices.traces.form import COLUMNS_HELP, FORMAT_HELP

EXAMPLE = (
    "Examples: understudy profile --device /dev/sdX --out mydrive.toml; "
    "understudy profile --trace recorded.txt --out mydrive.toml; "
    "understudy profile --target mydrive:make --out mydrive.toml"
)
SEEDS = click.IntRange(0, SEED_MOST)


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
@click.option("--columns", metavar="NAME,...", help=f"With --trace. {COLUMNS_HELP}")
@click.option("--format", metavar="NAME", help=f"With --trace. {FORMAT_HELP}")
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
@click.pass_obj
def command(
    line: str,
    device: Path | None,
    name: str | None,
    trace: str | None,
    keep: str | None,
    columns: str | None,
    format: str | None,
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
    question = ask(
        target=name,
        seed=seed,
        device=device,
        trace=trace,
        keep=keep,
        method=method,
        minutes=minutes,
        as_disk=kind == "disk",
        destroy_data=destroy_data,
        out=out,
        columns=columns,
        format=format,
        command=line,
    )
    draw = _drawing(picture)
    profile = question.answer(Printed())
    draw(profile, out.stem)
    if as_json:
        click.echo(json.dumps(profile.as_json(), indent=2))
    else:
        checks.show(profile, console())
    click.echo(f"wrote {out}: {profile.requests:,} requests", err=True)
    if picture:
        click.echo(f"wrote {picture}", err=True)


def _drawing(picture: Path | None) -> Callable[[Profiled, str], None]:
    """Return a function that draws the profile into the file `picture`.

    The file's name is checked here, before any measurement.
    """
    if not picture:
        return lambda *_: None
    from understudy_devices.show import picture as pictures  # Matplotlib takes half a second
    from understudy_devices.show import profiled

    pictures.check(picture)
    return partial(profiled.draw, file=picture)
