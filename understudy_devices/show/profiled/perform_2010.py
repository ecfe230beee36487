# SPDX-License-Identifier: MIT
"""Figure 1 of PERFORM 2010, "Stochastic sector to sector costs": filtered times by distance, and
the line fitted to them."""

import numpy as np
from matplotlib.figure import Figure

from understudy_devices.profiler.methods.perform_2010 import KEYS, WINDOW
from understudy_devices.profiler.profile_fit import Fitted
from understudy_devices.show.profiled.paper import MILLION, title


def figure(fit: Fitted, name: str) -> Figure:
    """Return the figure; `name` is the drive's name."""
    intercept_ms, full_seek_ms = (fit.value(key) for key in KEYS)
    filtered = fit.finding(KEYS[0])
    assert filtered
    at, ms = np.array(filtered.seen).T
    sectors = at * fit.capacity_sectors / MILLION
    whole = Figure(figsize=(8, 5), layout="constrained")
    whole.suptitle(title(fit, name, "Stochastic sector to sector costs"), fontsize=11)
    axes = whole.subplots()
    axes.plot(sectors, ms, linewidth=1, label=f"each the mean of up to {WINDOW:,} pages around it")
    line = f"least squares: {intercept_ms:.2f} + {full_seek_ms:.2f} d/D"
    axes.plot(sectors, intercept_ms + full_seek_ms * at, label=line)
    axes.set(xlabel="distance (millions of sectors)", ylabel="time (ms)")
    axes.set(xlim=(0, fit.capacity_sectors / MILLION), ylim=(0, None))
    axes.legend(loc="lower right")
    return whole
