# SPDX-License-Identifier: MIT
"""A disk's profile as a picture: seek time by distance, and throughput by location.

For an array, it shows throughput and response time by the number of requests.  The text below the
picture says what the profile is based on, and how its checks ended.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import StrMethodFormatter

from understudy_devices.device import averages
from understudy_devices.device.check import LIMIT_PERCENT, Check, standing
from understudy_devices.device.profile import DiskProfile, Servers
from understudy_devices.device.timing import Curve
from understudy_devices.show import picture

SECTOR_BYTES = 512
SECTORS = 2**31  # large enough to draw fractions of the disk
FARTHEST = 20.0  # largest error drawn, per cent


def draw(disk: DiskProfile, file: Path) -> None:
    """Write the picture; the name's ending chooses the format."""
    picture.check(file)
    with picture.styled():
        below = 0.6 + 0.22 * len(disk.checks) if disk.checks else 0.0
        figure = Figure(figsize=(9, 3.8 + below), layout="constrained")
        parts = figure.add_gridspec(2, 2, height_ratios=(3.8, max(below, 1e-3)))
        left, right = (figure.add_subplot(parts[0, column]) for column in (0, 1))
        if disk.checks:
            _draw_checks(figure.add_subplot(parts[1, :]), disk.checks)
        if disk.array:
            _draw_array(left, right, disk.array)
        else:
            _draw_seek(left, disk)
            _draw_medium(right, disk)
        figure.suptitle(f"{disk.name}: {disk.summary}", fontsize="medium")
        figure.supxlabel(_validity(disk), fontsize="small", color="0.4")
        picture.save(figure, file)


def _draw_seek(axes: Axes, disk: DiskProfile) -> None:
    timing = disk.timing(SECTORS)
    at, ns = _points(timing.seek)
    half_ms = timing.rotation_ns / 2e6
    axes.plot(100 * at, (ns + timing.intercept_ns) / 1e6, label="intercept and seek")
    if half_ms:
        reached = (ns + timing.intercept_ns) / 1e6 + half_ms
        axes.plot(100 * at, reached, linestyle="--", label="with half a rotation")
    mean_ms = averages.seek_ms(timing) + timing.intercept_ns / 1e6
    axes.axhline(mean_ms, linestyle=":", color="0.4", label=f"mean, {mean_ms:.3g} ms")
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
        bus = SECTOR_BYTES * 1e6 / timing.buffer["bus_sector_ps"]
        axes.axhline(bus, linestyle="--", color="C1", label="bus")
        axes.legend()
    axes.set(ylim=(0, None))


def _draw_array(throughput: Axes, response: Axes, array: Servers) -> None:
    depth = np.unique(np.geomspace(1, 8 * array.servers, 200).astype(int))
    per_s = np.minimum(depth, array.servers) / array.service_ms * 1000
    for axes, values in ((throughput, per_s), (response, depth / per_s * 1000)):
        axes.plot(depth, values)
        axes.set_xscale("log", base=2)
        axes.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
        axes.axvline(array.servers, linestyle="--", color="C1", label=f"{array.servers} servers")
        axes.legend()
        axes.set(xlabel="requests at a time", ylim=(0, None))
    throughput.yaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    throughput.set(ylabel="requests a second")
    response.set(ylabel="mean response (ms)")


def _draw_checks(axes: Axes, checks: Sequence[Check]) -> None:
    """Draw the error of each check's mean, with the demerit as an error bar, up to FARTHEST."""
    for row, check in enumerate(checks):
        colour = "C0" if check.within else "C3"
        percent = min(max(check.difference_percent, -FARTHEST), FARTHEST)
        axes.barh(row, percent, color=colour, xerr=min(check.demerit_percent, FARTHEST))
        if abs(check.difference_percent) > FARTHEST:
            axes.text(percent, row, f" {check.difference_percent:+.0f} %", va="center")
    axes.axvspan(-LIMIT_PERCENT, LIMIT_PERCENT, color="0.9", zorder=0)
    axes.set_yticks(range(len(checks)), [check.workload for check in checks])
    axes.invert_yaxis()
    axes.set(xlabel="model's mean off by (%), and demerit", xlim=(-FARTHEST, FARTHEST))


def _validity(disk: DiskProfile) -> str:
    """Return the text below the picture: what the profile is based on, and how its checks ended."""
    clauses = ["rotational positions are known"] if disk.knows_positions else []
    if disk.limits:
        clauses.append(f"made from {disk.limits}")
    clauses.append(standing(disk.checks))
    return "; ".join(clauses)


def _points(curve: Curve) -> tuple[Any, Any]:
    places, values = np.array(curve, float).T
    return places / SECTORS, values
