# SPDX-License-Identifier: MIT
"""`understudy cache`: list what the cache holds, and remove it."""

import json
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import click

from understudy_devices.base import cache
from understudy_devices.base.errors import UserError
from understudy_devices.base.paths import cache_dir
from understudy_devices.cli.session import console
from understudy_devices.show.grid import Grid

BLOCK_BYTES = 512  # the unit of st_blocks
MB = 10**6
DAY_SECONDS = 86_400
WORDS = {
    "dry-run": "files that the commands of --dry-run need",
    "images": "file systems",
    "kernel": "kernels, downloaded",
    "machines": "VMs, saved after their boot",
    "modules": "kernel modules",
    "programs": "programs for the guest and the host",
    "schedulers": "schedulers for the simulator",
    "prefetch": "prefetchers for the simulator",
    "replacement": "replacement policies for the simulator",
    "workloads": "users' own workloads, for the simulator",
}


@dataclass(frozen=True)
class Entry:
    """A folder of the cache, which can always be made again."""

    path: Path

    @property
    def kind(self) -> str:
        return self.path.parent.name

    def bytes(self) -> int:
        """Return the bytes that the folder uses on the disk; holes in files do not count."""
        files = (f"{at}/{name}" for at, _, names in os.walk(self.path) for name in names)
        return sum(os.lstat(file).st_blocks * BLOCK_BYTES for file in files)

    def days(self) -> float:
        """Return the number of days since the folder was last used."""
        return max(0.0, time.time() - self.path.stat().st_mtime) / DAY_SECONDS


@click.group(invoke_without_command=True)
@click.option("--json", "as_json", is_flag=True, help="Print a JSON array instead of a table.")
@click.pass_context
def command(context: click.Context, as_json: bool) -> None:
    """Show what the cache holds, how large it is, and when it was last used.

    Every folder can be made again; kernels need a network.  A folder with a truncated or changed
    file is made again automatically.

    \b
    Example:
      understudy cache
      understudy cache prune --older 30
    """
    if context.invoked_subcommand:
        return
    kinds: dict[str, list[Entry]] = {}
    for entry in _entries():
        kinds.setdefault(entry.kind, []).append(entry)
    totals = [
        (kind, len(entries), sum(map(Entry.bytes, entries)), min(map(Entry.days, entries)))
        for kind, entries in kinds.items()
    ]
    if as_json:
        keys = ("kind", "folders", "bytes", "last_used_days")
        click.echo(json.dumps([dict(zip(keys, each, strict=True)) for each in totals], indent=2))
        return
    rows = [
        (kind, (WORDS.get(kind, ""), str(folders), _mb(size), f"{days:.1f}"))
        for kind, folders, size, days in totals
    ]
    headings = ("what", "folders", "size (MB)", "last used (days ago)")
    Grid(headings, [rows], words=("what",)).show(console())
    click.echo(f"{_mb(sum(size for _, _, size, _ in totals))} MB in {cache_dir()}")


@command.command(epilog="Example: understudy cache prune --older 30")
@click.option(
    "--older",
    "days",
    type=click.FloatRange(0),
    metavar="DAYS",
    help="Remove folders not used for this long.",
)
@click.option(
    "--all", "everything", is_flag=True, help="Remove all folders that no running command uses."
)
def prune(days: float | None, everything: bool) -> None:
    """Remove folders from the cache, except those that a running command uses."""
    if (days is None) != everything:
        raise UserError("prune: write --older DAYS or --all")
    old = [entry for entry in _entries() if entry.days() >= (days or 0)]
    freed = used = 0
    for entry in old:
        size = entry.bytes()
        if cache.prune(entry.path):
            freed += size
        else:
            used += 1
    left = f"; kept {used} that running commands use" if used else ""
    click.echo(f"removed {len(old) - used} folders, {_mb(freed)} MB{left}")


def _entries() -> Iterator[Entry]:
    """Yield the finished folders of each kind."""
    for kind in sorted(cache_dir().glob("[!.]*/")):
        for path in sorted(kind.glob("[!.]*/")):
            yield Entry(path)


def _mb(size: int) -> str:
    return f"{size / MB:,.1f}"
