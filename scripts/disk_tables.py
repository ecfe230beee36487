# SPDX-License-Identifier: MIT
"""Write the tables of real drives into docs/disks.md, from profiles/.

.venv/bin/python scripts/disk_tables.py
"""

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from understudy_devices.device import averages, profile
from understudy_devices.device.check import standing
from understudy_devices.device.profile import DiskProfile
from understudy_devices.native.drive import Drive
from understudy_devices.native.request import READ

PAGE = Path(__file__).parents[1] / "docs" / "disks.md"
PAGE_SECTORS = 8
READS = 100_000
SYNTHETIC = ("vesper", "array", "detailed", "nachos")

TOLD = ("drive", "what it is", "where its figures are from", "made from, and checks")
HELD = (
    "random page",
    "seek is",
    "seek (ms)",
    "overhead",
    "half a rotation",
    "transfer",
    "sum",
    "predicted",
    "off",
)

Row = tuple[str, ...]


def drives() -> list[DiskProfile]:
    """Return the profiles of real drives, without the synthetic ones."""
    names = [name for name in profile.catalogue() if not name.startswith(SYNTHETIC)]
    return [profile.load(name) for name in names]


def told(disk: DiskProfile) -> Row:
    """Return a row that describes the drive, the sources of its figures, and the limits of its
    profile.
    """
    sources = [section.source for _, section in disk if getattr(section, "source", None)]
    holds = "; ".join(filter(None, (disk.limits, standing(disk.checks))))
    return f"`{disk.name}`", disk.summary, " ".join("; ".join(sources).split()), holds


def held(disk: DiskProfile) -> Row | None:
    """Return a row with the mean service time of a random page: as a sum of averages, and by the
    drive's model. Return None if the profile lacks the figures.
    """
    if disk.array or not disk.seek or not disk.facts or not disk.rotation:
        return None
    timing = disk.timing(disk.facts.capacity_sectors)
    overhead = disk.sheet.overhead_ms if disk.sheet else 0.0
    seek = disk.sheet.average_seek_ms if disk.sheet else averages.seek_ms(timing)
    half = disk.rotation.period_ms / 2
    transfer = averages.transfer_ms(timing, PAGE_SECTORS)
    by_hand = seek + overhead + half + transfer
    served = predicted_ms(disk, disk.facts.capacity_sectors)
    whose = "sheet" if disk.sheet else "timed"
    figures = (seek, overhead, half, transfer, by_hand, served)
    off = round(served / by_hand - 1, 3) + 0.0  # no minus before a zero
    return f"`{disk.name}`", whose, *(f"{figure:.2f}" for figure in figures), f"{off:+.1%}"


def predicted_ms(disk: DiskProfile, capacity: int) -> float:
    """Return core/drive's mean service time, in ms, for random reads of a page, one at a time."""
    random = np.random.default_rng(1)
    sector = random.integers(0, capacity // PAGE_SECTORS, READS) * PAGE_SECTORS
    drive = Drive(disk.timing(capacity), seed=1)
    service_ns, _ = drive.serve(np.full(READS, READ), sector, np.full(READS, PAGE_SECTORS))
    return float(service_ns.mean()) / 1e6


def tables() -> dict[str, str]:
    """Return the tables as Markdown, by the heading of their first column."""
    pages = [row for row in map(held, drives()) if row]
    return {
        head[0]: "".join(lines(head, rows))
        for head, rows in ((TOLD, map(told, drives())), (HELD, iter(pages)))
    }


def lines(head: Row, rows: Iterator[Row]) -> Iterator[str]:
    """Yield the lines of a table in Markdown."""
    for row in (head, ("---",) * len(head), *rows):
        yield f"| {' | '.join(row)} |\n"


def with_tables(page: str) -> str:
    """Return the page with its tables replaced."""
    for heading, table in tables().items():
        place = re.compile(rf"\| {heading} \|.*?\n(?=\n)", re.DOTALL)
        page, count = place.subn(lambda old, new=table: new, page)
        assert count == 1, f"{count} tables that begin with {heading} in {PAGE}"
    return page


if __name__ == "__main__":
    PAGE.write_text(with_tables(PAGE.read_text()))
