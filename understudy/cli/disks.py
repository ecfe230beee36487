# SPDX-License-Identifier: MIT
"""understudy disks: which disks there are, and what is known of each."""

import json
from collections.abc import Iterator
from pathlib import Path

import click
from rich.console import Console

from understudy.device import profile
from understudy.device.profile import DiskProfile
from understudy.show.grid import Grid

SECTOR_BYTES = 512
GB = 10**9


@click.group(invoke_without_command=True)
@click.option("--json", "as_json", is_flag=True, help="Print a JSON array instead of a table.")
@click.pass_context
def command(context: click.Context, as_json: bool) -> None:
    """The disks that come with the project.

    \b
    Example:
      understudy disks
      understudy disks show cheetah-9lp --out cheetah.png
    """
    if context.invoked_subcommand:
        return
    disks = [profile.load(name) for name in profile.catalogue()]
    if as_json:
        click.echo(json.dumps([_as_json(disk) for disk in disks], indent=2))
        return
    rows = [(disk.name, (_size(disk), _mechanics(disk), _cache(disk))) for disk in disks]
    Grid(("size", "slowest seek", "segments"), [rows], words=("slowest seek", "segments")).show(
        Console()
    )


@command.command()
@click.argument("name")
@click.option("--out", type=click.Path(path_type=Path), help="Draw it: a .png, .svg or .pdf file.")
def show(name: str, out: Path | None) -> None:
    """What is known of one disk: NAME, or FILE.toml."""
    disk = profile.load(name)
    click.echo(f"{disk.name}: {disk.summary}")
    for label, text in _lines(disk):
        click.echo(f"  {label:12}{text}")
    if out:
        from understudy.show import disk as picture  # Matplotlib takes half a second

        picture.draw(disk, out)
        click.echo(f"wrote {out}")


def _lines(disk: DiskProfile) -> Iterator[tuple[str, str]]:
    yield "size", _size(disk) or "any: --virtual-size"
    yield "seek", _mechanics(disk)
    yield "segments", _cache(disk) or "no cache"
    if disk.limits:
        yield "valid for", disk.limits
    for key, section in disk:
        if source := getattr(section, "source", None):
            yield "source", f"[{key}] {' '.join(source.split())}"
    yield from (("doubt", doubt) for doubt in disk.doubts)


def _size(disk: DiskProfile) -> str:
    return f"{disk.facts.capacity_sectors * SECTOR_BYTES / GB:,.1f} GB" if disk.facts else ""


def _mechanics(disk: DiskProfile) -> str:
    if disk.array:
        return f"array, {disk.array.servers} x {disk.array.service_ms:g} ms"
    if disk.model:
        return f"line, {_slowest_ms(disk):g} ms"
    rpm = f", {60_000 / disk.rotation.period_ms:,.0f} rpm" if disk.rotation else ""
    return f"curve, {_slowest_ms(disk):.3g} ms{rpm}"


def _slowest_ms(disk: DiskProfile) -> float:
    if disk.model:
        return disk.model.intercept_ms + disk.model.full_seek_ms
    assert disk.seek
    return max(disk.seek.ms)


def _cache(disk: DiskProfile) -> str:
    if disk.buffer:
        writes = ", write-back" if disk.buffer.write_back else ""
        return f"{disk.buffer.segments} timed{writes}"
    return f"{disk.cache.segments}" if disk.cache else ""


def _as_json(disk: DiskProfile) -> dict[str, object]:
    return disk.model_dump(exclude_none=True)
