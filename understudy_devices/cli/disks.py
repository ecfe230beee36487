# SPDX-License-Identifier: MIT
"""`understudy disks`: list the disks, and show the contents of a disk's profile."""

import json
from collections.abc import Iterator
from pathlib import Path

import click
from rich.console import Console

from understudy_devices.cli.names import Names
from understudy_devices.cli.session import console
from understudy_devices.cli.vesper import tables_text
from understudy_devices.device import averages, c_table, profile
from understudy_devices.device.check import IN_WORDS, standing
from understudy_devices.device.profile import DiskProfile
from understudy_devices.show import checks
from understudy_devices.show.grid import Grid

SECTOR_BYTES = 512
PAGE_SECTORS = 8
SECTORS = 2**31  # disk size at which profiles' fractions of the disk are resolved well enough
GB = 10**9
WORDS = ("kind", "segments")


@click.group(invoke_without_command=True)
@click.option("--json", "as_json", is_flag=True, help="Print a JSON array instead of a table.")
@click.pass_context
def command(context: click.Context, as_json: bool) -> None:
    """List the disks that come with the project.

    \b
    For a disk of your own, give --disk a short file: write it from the data sheet
    (docs/disks.md), or let understudy profile measure the disk.

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
    rows = [(disk.name, (*_figures(disk), _kind(disk), _cache(disk))) for disk in disks]
    Grid(("size", "rpm", "page (ms)", *WORDS), [rows], words=WORDS).show(Console())
    click.echo("page: a random read of 4 KiB, on average; more: understudy disks show NAME")


@command.command()
@click.argument("name", type=Names(profile.catalogue))
@click.option("--out", type=click.Path(path_type=Path), help="Picture: a .png, .svg or .pdf file.")
@click.option("--json", "as_json", is_flag=True, help="Print the disk as JSON.")
def show(name: str, out: Path | None, as_json: bool) -> None:
    """Show what is known about one disk: NAME, or FILE.toml."""
    disk = profile.load(name)
    if as_json:
        click.echo(json.dumps(_as_json(disk), indent=2))
    else:
        click.echo(f"{disk.name}: {disk.summary}")
        for label, text in _lines(disk):
            click.echo(f"  {label:12}{text}")
        if disk.checks:
            checks.grid(disk.checks).show(console())
    if out:
        from understudy_devices.show import disk as picture  # Matplotlib takes half a second

        picture.draw(disk, out)
        click.echo(f"wrote {out}")


@command.command(epilog="Example: understudy disks export cheetah-15k4 --out cheetah.c")
@click.argument(
    "names", metavar="NAME|FILE.toml...", nargs=-1, required=True, type=Names(profile.catalogue)
)
@click.option(
    "--out",
    metavar="FILE.c",
    required=True,
    type=click.Path(path_type=Path),
    help="C file to write.",
)
@click.option(
    "--virtual-size",
    "size",
    metavar="SIZE",
    help="Size of the disk; without it, the table has every size.",
)
@click.option(
    "--list",
    "listed",
    is_flag=True,
    help="Add the list in which libvesper finds profiles by name (vesper/profiles.c).",
)
def export(names: tuple[str, ...], out: Path, size: str | None, listed: bool) -> None:
    """Write profiles as tables in C, for libvesper.

    A kernel needs no parser for them; give config.table the address of vesper_NAME. Some profiles
    need --virtual-size. Tracks of a disk below 16 MB are scaled as in SIGCSE 2006 section 2.3.
    """
    options = [f"--virtual-size {size}"] * bool(size) + ["--list"] * listed
    made_by = " ".join(["understudy disks export", *names, *options, "--out", out.name])
    out.write_text(tables_text(names, size, made_by, listed=listed), encoding="utf-8")
    click.echo(
        f"wrote {out}: {', '.join(c_table.symbol(profile.load(name).name) for name in names)}"
    )


def _lines(disk: DiskProfile) -> Iterator[tuple[str, str]]:
    size, rpm, page = _figures(disk)
    yield "size", size or "any: --virtual-size"
    yield "kind", f"{_kind(disk)}, {rpm} rpm" if rpm else _kind(disk)
    yield "page", f"{page} ms for a random read of 4 KiB from the medium"
    if disk.seek:
        yield "seek", f"{max(disk.seek.ms):.3g} ms at most"
    if disk.throughput:
        rates = disk.throughput.mb_per_s
        yield "medium", f"{max(rates):.4g} to {min(rates):.4g} MB/s{_zones(disk)}"
    elif disk.seek and not disk.knows_positions:
        yield "medium", "transfer takes no time"
    if positions := _positions(disk):
        yield "positions", positions
    yield ("inside" if disk.array else "segments"), _cache(disk) or "no cache"
    if disk.queue:
        yield (
            "queue",
            f"at most {disk.queue.depth} commands; --queue-depth says how many are used",
        )
    if disk.limits:
        yield "made from", disk.limits
    yield "checks", standing(disk.checks)
    if disk.holds_for:
        yield "holds for", ", ".join(IN_WORDS[ask] for ask in disk.holds_for)
    for key, section in disk:
        if source := getattr(section, "source", None):
            yield "source", f"[{key}] {' '.join(source.split())}"


def _positions(disk: DiskProfile) -> str:
    """Return whether rotational latencies are known, in words.

    The text is empty if the layout has no angles of sectors.
    """
    if not disk.layout or not disk.layout.knows_angles:
        return ""
    if not disk.knows_positions:
        return 'known, but not used: rotation.phase is not "known"'
    zones, slips = len(disk.layout.zones), len(disk.layout.slips)
    slipped = f" and {slips:,} slips" if slips else ""
    return f"known for each sector in {zones} zone{'s' * (zones > 1)}{slipped}: no latency is drawn"


def _figures(disk: DiskProfile) -> tuple[str, str, str]:
    """Return size, rpm, and the mean time of a random read of a page, as text."""
    period_ms = disk.rotation.period_ms if disk.rotation else 0
    rpm = 60_000 / period_ms if period_ms else (disk.facts and disk.facts.rpm) or 0
    return _size(disk), f"{rpm:,.0f}" if rpm else "", f"{_page_ms(disk):.3g}"


def _size(disk: DiskProfile) -> str:
    if not disk.facts:
        return ""
    size = disk.facts.capacity_sectors * SECTOR_BYTES / GB
    return f"{size:.1f} GB" if size < 999 else f"{size / 1000:.1f} TB"


def _page_ms(disk: DiskProfile) -> float:
    if disk.array:
        return disk.array.service_ms
    return averages.random_read_ms(disk.timing(SECTORS), PAGE_SECTORS)


def _kind(disk: DiskProfile) -> str:
    if disk.array:
        return "array"
    if disk.sheet:
        return "sheet"
    return "line" if disk.model else "curve"


def _zones(disk: DiskProfile) -> str:
    if disk.throughput and disk.throughput.zones:
        return f" in {len(disk.throughput.mb_per_s)} zones"
    return ""


def _cache(disk: DiskProfile) -> str:
    if disk.array:
        return f"{disk.array.servers} servers"
    if disk.buffer:
        writes = ", write-back" if disk.buffer.write_back else ""
        return f"{disk.buffer.segments} timed{writes}"
    return f"{disk.cache.segments}" if disk.cache else ""


def _as_json(disk: DiskProfile) -> dict[str, object]:
    checks = [check.as_json() for check in disk.checks]
    return {**disk.model_dump(exclude_none=True), "checks": checks, "holds_for": disk.holds_for}
