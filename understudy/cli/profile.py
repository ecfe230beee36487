# SPDX-License-Identifier: MIT
"""`understudy profile`: measure a drive, and write its profile."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

import click
from rich import box
from rich.table import Table

from understudy.base import scratch
from understudy.base.errors import UserError
from understudy.cli.progress import phases
from understudy.cli.session import console
from understudy.profiler import fitted, methods, named
from understudy.profiler.fitted import Fitted

EXAMPLE = "Example: understudy profile --target mydrive:make --out mydrive.toml"
SEEDS = click.IntRange(0, 2**63 - 1)


@click.command("profile", epilog=EXAMPLE)
@click.option("--target", "name", required=True, metavar="MODULE:FACTORY", help="What to measure.")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Profile to write.")
@click.option(
    "--method",
    type=click.Choice(methods.names()),
    default=methods.FULL,
    help="Each part by a probe of its own, or as in a paper.",
)
@click.option(
    "--picture", type=click.Path(path_type=Path), help="Draw it: a .png, .svg or .pdf file."
)
@click.option("--seed", type=SEEDS, default=1, help="Of the places that are asked for.")
@click.option("--destroy-data", is_flag=True, help="Measure writes too, anywhere on the target.")
@click.option("--json", "as_json", is_flag=True, help="Print what was found as JSON.")
def command(
    name: str,
    out: Path,
    method: str,
    picture: Path | None,
    seed: int,
    destroy_data: bool,
    as_json: bool,
) -> None:
    """Measure a drive by timing requests, fit a profile to it, and say how well it predicts.

    The factory returns a target: `capacity_sectors`, `writable` and `request(op, sector,
    sectors, at_ns)`, which says when the "read" or "write" completes, in ns.  One request
    is sent at a time.  In the file each value has its confidence above it, or "not seen";
    --disk takes the file.  Nothing is written to the target without --destroy-data.
    """
    if out.suffix != ".toml":
        raise UserError(f"--out: {out}: a profile is a .toml file")
    if not out.parent.is_dir():
        raise UserError(f"--out: {out.parent}: no such folder")
    draw = _drawing(picture)
    target = named.target(name)
    if destroy_data and not target.writable:
        raise UserError(f"--destroy-data: {name} can't be written")
    scratch.say_if_interrupted(f"{out} was not written")
    with phases("profile") as report:
        found = fitted.profile(
            target, seed, destroy_data=destroy_data, method=method, report=report
        )
    with scratch.replacing(out) as file:
        file.write_text(found.to_toml(), encoding="utf-8")
    draw(found, out.stem)
    if as_json:
        click.echo(json.dumps(found.as_json(), indent=2))
    else:
        _show(found)
    click.echo(f"wrote {out}: {found.requests:,} requests", err=True)
    if picture:
        click.echo(f"wrote {picture}", err=True)


def _drawing(picture: Path | None) -> Callable[[Fitted, str], None]:
    """Whatever is wrong with its name is said before anything is measured."""
    if not picture:
        return lambda *_: None
    from understudy.show import picture as pictures  # Matplotlib takes half a second
    from understudy.show import profiled

    pictures.check(picture)
    return partial(profiled.draw, file=picture)


def _show(found: Fitted) -> None:
    """How well it predicts, and what was not seen."""
    headings = ("workload", "target (ms)", "model (ms)", "off by (%)", "demerit (ms)", "(%)")
    table = Table(*headings, box=box.HORIZONTALS)
    for check in found.checks:
        table.add_row(
            check.workload,
            f"{check.target_ms:.3f}",
            f"{check.model_ms:.3f}",
            f"{check.difference_percent:+.1f}",
            f"{check.demerit_ms:.3f}",
            f"{check.demerit_percent:.1f}",
        )
    console().print(table)
    for why in dict.fromkeys(each.confidence for each in found.findings if each.value is None):
        keys = (each.key for each in found.findings if each.confidence == why)
        click.echo(f"{', '.join(keys)}: {why}")
