# SPDX-License-Identifier: MIT
"""Vesper's profiler: curves sampled from the beginning of the disk (SIGCSE 2006, section 2.1).

256 places, spread evenly over the disk.  To each the time from the very beginning of the disk is
taken, the mean of many; at each 16 MB are read.  How many the mean is of is not said in the
paper; here it is of 64, which leaves the wait for the platter +- 4 % of a rotation.

It is kept as the paper has it, with its bias: outer tracks hold more sectors, so from the
beginning a distance in sectors is fewer cylinders than elsewhere, and the curve comes out short.

A black box can't be told to seek only, so the samples are reads, and half a rotation is taken off
them; the period, for which the paper had the manual, comes from our own probe.
Nor can its cache be switched off: the beginning is a small part of the disk, so that places are
fresh, and reads that hit do not count.
"""

import numpy as np

from understudy.base.progress import Report
from understudy.profiler.findings.finding import Finding, not_seen
from understudy.profiler.probes import hits, rotation
from understudy.profiler.probes.hits import NS_TO_MB_PER_S, Hits
from understudy.profiler.probes.rotation import Rotation
from understudy.profiler.targets.bench import Bench

LIMITS = "reads from the beginning of the disk and of 16 MB, one at a time"
WRITES = False
SAMPLES = 256
REPEATS = 64
TRANSFER = 2**15  # sectors: 16 MB
PART = 1 / 1024  # of the disk: the beginning, and a place
CHANCES = 8  # of a read at the beginning that the cache holds
MOST_MB_PER_S = 10**6  # as a profile has it


def measure(bench: Bench, writing: bool, report: Report) -> list[Finding]:
    """Both curves, and the period."""
    report("rotation", 0.0)
    period = rotation.measure(bench)
    held = hits.measure(bench)
    report("seeks from the beginning", 0.1)
    seeks = [_seek_ms(bench, at, held) for at in np.linspace(0, 1 - PART, SAMPLES)]
    report("transfers of 16 MB", 0.7)
    rates = [_mb_per_s(bench, sector) for sector in _starts(bench.capacity_sectors)]
    return [*_seeks(seeks, period), *_rates(rates, bench.capacity_sectors), *_rotation(period)]


def _seek_ms(bench: Bench, at: float, held: Hits | None) -> float:
    times = [_from_the_beginning(bench, at, held) for _ in range(REPEATS)]
    missed = [ns for ns in times if not (held and held.is_hit(ns))]
    return max(float(np.mean(missed or times)), 1.0) / 1e6


def _from_the_beginning(bench: Bench, at: float, held: Hits | None) -> int:
    """ns; a hit there would leave the arm where it is."""
    for _ in range(CHANCES):
        there_ns = bench.read(bench.place(1, 0.0, PART))
        if not (held and held.is_hit(there_ns)):
            break
    return bench.read(bench.place(1, at, at + PART))


def _starts(capacity_sectors: int) -> list[int]:
    """The first sectors of the transfers."""
    return [round(at) for at in np.linspace(1, capacity_sectors - TRANSFER, SAMPLES)]


def _mb_per_s(bench: Bench, sector: int) -> float:
    """With the head there."""
    bench.read(sector - 1)
    sectors = min(TRANSFER, bench.longest_sectors)
    sector_ns = bench.read(sector, sectors) / sectors
    return min(NS_TO_MB_PER_S / max(sector_ns, 1e-3), MOST_MB_PER_S)


def _seeks(ms: list[float], period: Rotation | None) -> list[Finding]:
    said = f"from the beginning of the disk, the mean of {REPEATS} each"
    if period:
        said += f", half a rotation off, +- {period.period_ns / 1e6 / (12 * REPEATS) ** 0.5:.2g} ms"
        ms = [max(value - period.period_ns / 2e6, 0.0) for value in ms]
    seen = [(index / (SAMPLES - 1), value) for index, value in enumerate(ms)]
    return [Finding("seek.ms", [round(value, 6) for value in ms], said, seen)]


def _rates(rates: list[float], capacity_sectors: int) -> list[Finding]:
    seen = [
        (start / capacity_sectors, rate)
        for start, rate in zip(_starts(capacity_sectors), rates, strict=True)
    ]
    return [
        Finding("throughput.mb_per_s", [round(rate, 4) for rate in rates], "16 MB each", seen),
    ]


def _rotation(period: Rotation | None) -> list[Finding]:
    """Half a rotation for every request."""
    if not period:
        return [not_seen(rotation.KEY, "the samples contain whatever wait there is")]
    return [period.findings()[0], Finding("rotation.phase", "mean")]
