# SPDX-License-Identifier: MIT
"""Service time by distance on the throttled virtual disk, beside the papers' line: Jones 2010
Figure 4.3."""

import numpy as np
import numpy.typing as npt
import polars as pl
from matplotlib.figure import Figure

from understudy_devices.api.predict import ask
from understudy_devices.campaign.result import environment
from understudy_devices.papers.printed import JONES
from understudy_devices.papers.tables import PAPERS_DISK
from understudy_devices.reproduce import Asked, Reproduced
from understudy_devices.reproduce.disk_tables import Reporting
from understudy_devices.show import inline
from understudy_devices.show.grid import Grid

PRINTED = ((JONES, "Figure 4.3"),)
SECONDS = {"sim": 1, "vm": 8}
DIFFERS = """
The dissertation samples 100,000 pages of a virtual disk with k = 10 in the wall clock, smooths
their times, and prints 42.5 + 52.5 d/D, which is 10 times the papers' line. We read 10,000 pages,
in the virtual clock with k = 1, and fit our line to the pages themselves, since their times have no
noise to be smoothed away. A service time ends when the kernel sees the completion, so in VMs it
includes the kernel's own time for a request.
"""
REQUESTS = 10_000
PAPER_MS = (4.25, 5.25)
MS = 10**6
POINTS = 300  # in the picture

Values = npt.NDArray[np.float64]


def run(asked: Asked) -> Reproduced:
    """Read random pages, one at a time, and fit a line to their service times."""
    question = ask(
        "predict",
        disk=PAPERS_DISK,
        workload="random",
        schedulers="fcfs",
        on=asked.platform,
        processes=1,
        requests=REQUESTS,
        jobs=asked.jobs,
    )
    [answer] = question.answer(watch=Reporting(asked.report)).answers.values()
    at, ms = _by_distance(answer.outcomes[0].requests, answer.outcomes[0].facts["capacity_sectors"])
    slope, intercept = np.polyfit(at, ms, 1)
    ours = {"at distance 0": float(intercept), "whole disk, more": float(slope)}
    off_us = 1000 * (ms - PAPER_MS[0] - PAPER_MS[1] * at)
    rows = [
        (name, (f"{paper:.2f}", f"{value:.4f}"))
        for paper, (name, value) in zip(PAPER_MS, ours.items(), strict=True)
    ]
    mean_us, most_us = (round(float(value), 2) + 0.0 for value in (off_us.mean(), off_us.max()))
    return Reproduced(
        [Grid(("paper / k", "ours"), [rows], f"the line in ms, on {asked.platform}")],
        {
            "line_ms": ours,
            "longer_than_the_line_us": {"mean": mean_us, "most": most_us},
            "pages": len(ms),
        },
        [_drawing(at, ms)],
        [
            f"A page takes {mean_us:.2f} us longer than the papers' line on average, and "
            f"{most_us:.2f} us at most."
        ],
        environment(answer.outcomes),
    )


def _by_distance(requests: pl.DataFrame, capacity_sectors: int) -> tuple[Values, Values]:
    """Return distances, as fractions of the disk, in ascending order, and service times in ms; hits
    and the first page, whose distance is unknown, are left out."""
    found = (
        requests.sort("dispatch_ns")
        .filter(~pl.col("hit"))
        .with_columns(before=(pl.col("sector") + pl.col("sectors")).shift(1))
        .drop_nulls("before")
        .select(
            distance=(pl.col("sector").cast(pl.Int64) - pl.col("before").cast(pl.Int64)).abs(),
            service_ns=pl.col("completion_ns") - pl.col("dispatch_ns"),
        )
        .sort("distance", "service_ns")
    )
    at = found["distance"].to_numpy() / capacity_sectors
    return at, found["service_ns"].to_numpy() / MS


def _drawing(at: Values, ms: Values) -> inline.Drawing:
    chosen = np.linspace(0, len(at) - 1, POINTS).astype(int)
    with inline.styled():
        figure = Figure(figsize=(8, 4))
        figure.subplots_adjust(left=0.09, right=0.98, top=0.97, bottom=0.13)
        axes = figure.subplots()
        line = PAPER_MS[0] + PAPER_MS[1] * at[chosen]
        axes.plot(100 * at[chosen], ms[chosen], ".", color=inline.COLOURS[0], label="ours")
        axes.plot(100 * at[chosen], line, color=inline.COLOURS[1], label="the papers' line")
        axes.set(xlabel="distance (% of the disk)", ylabel="service time (ms)", ylim=(0, None))
        axes.legend(loc="lower right")
        return inline.Drawing("Service time by distance, and the papers' line.", inline.svg(figure))
