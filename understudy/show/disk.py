# SPDX-License-Identifier: MIT
"""A disk's profile as a picture: what a seek costs by distance, and how fast each place is."""

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from understudy.base.errors import UserError
from understudy.device.profile import DiskProfile
from understudy.device.timing import Curve
from understudy.show import picture

SECTOR_BYTES = 512
SECTORS = 2**31  # fine enough to draw fractions of the disk


def draw(disk: DiskProfile, file: Path) -> None:
    """Write the picture; its name's ending says in which format."""
    picture.check(file)
    if disk.array:
        raise UserError(f"{disk.name} is an array: it has no head to draw, see `disks show`")
    with picture.styled():
        figure = Figure(figsize=(9, 3.6), layout="constrained")
        seek, medium = figure.subplots(1, 2)
        _draw_seek(seek, disk)
        _draw_medium(medium, disk)
        figure.suptitle(f"{disk.name}: {disk.summary}")
        picture.save(figure, file)


def _draw_seek(axes: Axes, disk: DiskProfile) -> None:
    timing = disk.timing(SECTORS)
    at, ns = _points(timing.seek)
    half_ms = timing.rotation_ns / 2e6
    axes.plot(100 * at, (ns + timing.intercept_ns) / 1e6, label="intercept and seek")
    if half_ms:
        reached = (ns + timing.intercept_ns) / 1e6 + half_ms
        axes.plot(100 * at, reached, linestyle="--", label="with half a rotation")
        axes.legend()
    axes.set(xlabel="seek distance (% of the disk)", ylabel="ms", xlim=(0, 100), ylim=(0, None))


def _draw_medium(axes: Axes, disk: DiskProfile) -> None:
    timing = disk.timing(SECTORS)
    axes.set(xlabel="place (% of the disk)", ylabel="throughput (MB/s)", xlim=(0, 100))
    if not timing.transfer:
        axes.text(50, 0.5, "transfer takes no time of its own", ha="center", va="center")
        axes.set(ylim=(0, 1), yticks=[])
        return
    at, ps = _points(timing.transfer)
    axes.plot(100 * at, SECTOR_BYTES * 1e6 / ps, label="medium")
    if timing.buffer:
        bus = SECTOR_BYTES * 1e6 / timing.buffer.bus_sector_ps
        axes.axhline(bus, linestyle="--", color="C1", label="bus")
        axes.legend()
    axes.set(ylim=(0, None))


def _points(curve: Curve) -> tuple[Any, Any]:
    places, values = np.array(curve, float).T
    return places / SECTORS, values
