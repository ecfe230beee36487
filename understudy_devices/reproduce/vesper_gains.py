# SPDX-License-Identifier: MIT
"""SIGCSE 2006 Figures 3 and 4: what schedulers and prefetching gain in the program of the Vesper
assignments, on the disk of Nachos and on two profiles."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from understudy_devices.api.predict import ask
from understudy_devices.device.profile import DiskProfile, load
from understudy_devices.papers import sigcse_2006 as paper
from understudy_devices.reproduce import Asked
from understudy_devices.show import inline
from understudy_devices.show.grid import Grid

NACHOS, IBM, SEAGATE = "nachos", "vesper-zoned-small", "vesper-flat-small"
DISKS = {NACHOS: "Nachos", IBM: "Vesper-IBM", SEAGATE: "Vesper-Seagate"}
FCFS, REDUCING = "fcfs", ("sstf", "clook")
SIZES = (1, 2, 4, 8, 16)  # pages of 512 bytes; 1: no prefetching
SEEDS = 10
PROGRAM: Mapping[str, Any] = {
    "workload": "concurrent-read",
    "virtual_size": "128K",
    "requests": 10_000,  # ten files of 10 KB, ten bytes at a time
    "seeds": SEEDS,
}
CACHE: Mapping[str, Any] = {"page_cache": "128K", "read_ahead": 8, "prefetch": "fixed"}
NS_PER_S = 10**9
WIDTH = 0.8  # of all bars of a disk

Elapsed = dict[str, float]


@dataclass(frozen=True)
class Gains:
    """Elapsed seconds of the program, by disk: with each scheduler, and with each prefetch size."""

    schedulers: Mapping[str, Elapsed]
    prefetch: Mapping[str, Elapsed]
    unbuffered: Elapsed  # with each scheduler, on the disk of Nachos without its track buffer

    def gain(self, disk: str, scheduler: str) -> float:
        """Return by how many % the program is faster than with FCFS."""
        return _gain(self.schedulers[disk], scheduler)

    @property
    def unbuffered_gains(self) -> dict[str, float]:
        """Return what the schedulers gain on the disk of Nachos without its track buffer."""
        return {name: _gain(self.unbuffered, name) for name in REDUCING}

    def speedup(self, disk: str, pages: int) -> float:
        """Return how many times as fast the program is as without prefetching."""
        seconds = self.prefetch[disk]
        return seconds[str(SIZES[0])] / seconds[str(pages)]

    @property
    def claims(self) -> dict[str, bool]:
        """Return which of the paper's claims came out."""
        gains = [{disk: self.gain(disk, name) for disk in DISKS} for name in REDUCING]
        speedups = [{disk: self.speedup(disk, pages) for disk in DISKS} for pages in SIZES]
        return {
            paper.SCHEDULERS_GAIN: all(min(each.values()) > 0 for each in gains),
            paper.NACHOS_GAINS_MORE: all(_first(each, NACHOS) for each in gains),
            paper.VESPER_ALIKE: all(
                abs(each[IBM] - each[SEAGATE]) < each[NACHOS] - max(each[IBM], each[SEAGATE])
                for each in gains
            ),
            paper.LARGER_IS_FASTER: all(
                less[disk] < more[disk] for less, more in pairwise(speedups) for disk in DISKS
            ),
            paper.IBM_GAINS_MOST: all(_first(each, IBM) for each in speedups[1:]),
        }


def _gain(seconds: Elapsed, scheduler: str) -> float:
    return 100 * (seconds[FCFS] / seconds[scheduler] - 1)


def _first(by_disk: Mapping[str, float], disk: str) -> bool:
    return all(by_disk[disk] > value for name, value in by_disk.items() if name != disk)


def measured(asked: Asked) -> Gains:
    """Run the program on each disk, with each scheduler, and with each prefetch size."""
    schedulers, prefetch = {}, {}
    for number, disk in enumerate(DISKS):
        asked.report(f"Figures 3 and 4: {disk}", number / len(DISKS))
        schedulers[disk] = _elapsed(asked, disk, (FCFS, *REDUCING))
        prefetch[disk] = {str(pages): _prefetching(asked, disk, pages) for pages in SIZES}
    unbuffered = load(NACHOS).model_copy(update={"cache": None})
    return Gains(schedulers, prefetch, _elapsed(asked, unbuffered, (FCFS, *REDUCING)))


def _prefetching(asked: Asked, disk: str, pages: int) -> float:
    return _elapsed(asked, disk, (FCFS,), **CACHE, tunables=[f"fixed.pages={pages}"])[FCFS]


def _elapsed(
    asked: Asked, disk: str | DiskProfile, schedulers: Sequence[str], **more: Any
) -> Elapsed:
    """Return the seconds until the last thread has its last byte, by scheduler; mean of all seeds.

    The program begins at time 0.
    """
    question = ask("predict", disk=disk, schedulers=schedulers, jobs=asked.jobs, **PROGRAM, **more)
    [answer] = question.answer().answers.values()
    ends: dict[str, list[int]] = {name: [] for name in schedulers}
    for outcome in answer.outcomes:
        last: Any = outcome.requests["completion_ns"].max()
        ends[outcome.experiment.scheduler.name].append(last)
    return {name: sum(values) / len(values) / NS_PER_S for name, values in ends.items()}


def grids(gains: Gains) -> list[Grid]:
    """Return both figures as tables, and the paper's claims."""
    how = f"FCFS, {SEEDS} seeds of the program"
    by_scheduler = [
        (
            f"{DISKS[disk]} ({disk})",
            (
                *(f"{value:.2f}" for value in seconds.values()),
                *(f"{gains.gain(disk, name):+.1f} %" for name in REDUCING),
            ),
        )
        for disk, seconds in gains.schedulers.items()
    ]
    by_size = [
        (
            f"{DISKS[disk]} ({disk})",
            (
                f"{seconds[str(SIZES[0])]:.3f}",
                *(f"{gains.speedup(disk, pages):.2f}" for pages in SIZES[1:]),
            ),
        )
        for disk, seconds in gains.prefetch.items()
    ]
    claimed = [(claim, ("yes" if held else "no",)) for claim, held in gains.claims.items()]
    return [
        Grid(
            (FCFS, *REDUCING, *(f"{name} gains" for name in REDUCING)),
            [by_scheduler],
            f"Figure 3: elapsed seconds, and how much faster than {how}",
        ),
        Grid(
            ("none (s)", *(f"{pages} pages" for pages in SIZES[1:])),
            [by_size],
            f"Figure 4: speed-up by prefetch size over no prefetching; {how}",
        ),
        Grid(("came out",), [claimed], "what the paper says of Figures 3 and 4"),
    ]


def sentence(gains: Gains) -> str:
    """Say what the schedulers gain on the disk of Nachos without its track buffer."""
    each = " and ".join(
        f"{name} gains {gain:.1f} %" for name, gain in gains.unbuffered_gains.items()
    )
    return f"On the disk of Nachos without its track buffer, {each}."


def figures(gains: Gains) -> dict[str, Any]:
    """Return our figures for JSON."""
    return {
        "figure_3": {
            disk: {
                "elapsed_s": seconds,
                "gain_percent": {name: gains.gain(disk, name) for name in REDUCING},
            }
            for disk, seconds in gains.schedulers.items()
        },
        "figure_4": {
            disk: {
                "elapsed_s": seconds,
                "speedup": {str(pages): gains.speedup(disk, pages) for pages in SIZES},
            }
            for disk, seconds in gains.prefetch.items()
        },
        "figure_3_nachos_without_track_buffer": {
            "elapsed_s": gains.unbuffered,
            "gain_percent": gains.unbuffered_gains,
        },
        "claims": gains.claims,
    }


def drawings(gains: Gains) -> list[inline.Drawing]:
    """Return both figures as bars."""
    return [
        _bars(
            {name: [gains.gain(disk, name) for disk in DISKS] for name in REDUCING},
            "faster than FCFS (%)",
            "Figure 3: what schedulers gain over FCFS.",
        ),
        _bars(
            {
                f"{pages} pages": [gains.speedup(disk, pages) for disk in DISKS]
                for pages in SIZES[1:]
            },
            "speed-up",
            "Figure 4: speed-up by prefetch size over no prefetching.",
        ),
    ]


def _bars(series: Mapping[str, Sequence[float]], label: str, caption: str) -> inline.Drawing:
    """Draw a group of bars for each disk, each with its figure."""
    places, width = np.arange(len(DISKS)), WIDTH / len(series)
    with inline.styled():
        figure = Figure(figsize=(8, 4))
        figure.subplots_adjust(left=0.09, right=0.98, top=0.88, bottom=0.1)
        axes = figure.subplots()
        for number, (name, values) in enumerate(series.items()):
            at = places + (number - (len(series) - 1) / 2) * width
            bars = axes.bar(at, values, 0.95 * width, color=inline.COLOURS[number], label=name)
            axes.bar_label(bars, fmt="%.3g", fontsize=8)
        axes.set_axisbelow(True)
        axes.set_xticks(places, list(DISKS.values()))
        axes.set_ylabel(label)
        figure.legend(loc="upper center", ncols=len(series))
        return inline.Drawing(caption, inline.svg(figure))
