# SPDX-License-Identifier: MIT
"""Figure 1 of SIGCSE 2006: (A) seek time by distance, (B) read throughput by location.

The paper's seek times exclude rotational latency, so half a rotation is subtracted here if the
profiler saw a rotation.
"""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from understudy_devices.profiler.methods.sigcse_2006 import REPEATS
from understudy_devices.profiler.profile_fit import Fitted
from understudy_devices.show.profiled.paper import DOTS, MILLION, title


def figure(fit: Fitted, name: str) -> Figure:
    """Return the figure; `name` is the drive's name."""
    whole = Figure(figsize=(10, 4.8), layout="constrained")
    whole.suptitle(title(fit, name, "Seek time and read throughput"), fontsize=11)
    seek, rate = whole.subplots(1, 2)
    _draw_seek(seek, fit)
    _draw_rate(rate, fit)
    for axes in (seek, rate):
        axes.set(xlim=(0, fit.capacity_sectors / MILLION), ylim=(0, 1.1 * axes.dataLim.y1))
    return whole


def _draw_seek(axes: Axes, fit: Fitted) -> None:
    at, ms = _points(fit, "seek.ms")
    half_ms = (fit.value("rotation.period_ms") or 0.0) / 2
    note = f"half a rotation, {half_ms:.2f} ms, taken off" if half_ms else "with the whole wait"
    axes.plot(at, ms - half_ms, **DOTS)
    axes.set(title=f"(A) Seek time: means of {REPEATS}\n{note}", ylabel="seek time (ms)")
    axes.set(xlabel="distance from the beginning (millions of blocks)")


def _draw_rate(axes: Axes, fit: Fitted) -> None:
    axes.plot(*_points(fit, "throughput.mb_per_s"), **DOTS)
    axes.set(title="(B) Read throughput: 16 MB each", ylabel="throughput (MB/s)")
    axes.set(xlabel="starting block (millions)")


def _points(fit: Fitted, key: str) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """Return the points of a curve; x is in millions of blocks."""
    finding = fit.finding(key)
    assert finding
    at, values = np.array(finding.seen).T
    return np.array([at * fit.capacity_sectors / MILLION, values])
