# SPDX-License-Identifier: MIT
"""Vesper's profiler: curves sampled from the beginning of the disk (SIGCSE 2006, section 2.1).

For 256 sectors, spread evenly over the disk, the method measures the mean time of a seek from the
beginning of the disk to that sector, and the throughput of a 16 MB read there.  The paper does not
say how many reads each mean has.  Here a mean has 64 reads, so random rotational latency leaves an
error of +- 4 % of a rotation.

The method keeps the paper's systematic error.  Outer tracks contain more sectors, so a number of
sectors is fewer cylinders at the beginning of the disk than elsewhere, and the curve's times are
too short.

A black box has no command that only seeks, so the samples are times of reads minus half a
rotation.  The paper used the rotation period from the manual; here a probe measures it.  The cache
can't be switched off either.  So the "beginning" is a small part of the disk, of which each read
uses a random sector, and reads that hit do not count.
"""

import numpy as np

from understudy_devices.base.progress import Report
from understudy_devices.profiler.findings.finding import Finding, not_seen
from understudy_devices.profiler.probes import hits, rotation
from understudy_devices.profiler.probes.hits import NS_TO_MB_PER_S, Hits
from understudy_devices.profiler.probes.rotation import Rotation
from understudy_devices.profiler.targets.bench import Bench

LIMITS = "reads from the beginning of the disk and of 16 MB, one at a time"
WRITES = False
SAMPLES = 256
REPEATS = 64
TRANSFER = 2**15  # sectors: 16 MB
PART = 1 / 1024  # of the disk: size of the "beginning", and of the range of each sample's sectors
CHANCES = 8  # tries to read a sector at the beginning that is not in the cache
MOST_MB_PER_S = 10**6  # the largest rate that a profile allows


def measure(bench: Bench, writing: bool, report: Report) -> list[Finding]:
    """Measure the seek curve, the throughput curve and the rotation period."""
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
    """Return the time of a read after a read at the beginning, ns; that first read must miss, since
    a hit would not move the arm to the beginning.
    """
    for _ in range(CHANCES):
        there_ns = bench.read(bench.place(1, 0.0, PART))
        if not (held and held.is_hit(there_ns)):
            break
    return bench.read(bench.place(1, at, at + PART))


def _starts(capacity_sectors: int) -> list[int]:
    """Return the first sectors of the transfers."""
    return [round(at) for at in np.linspace(1, capacity_sectors - TRANSFER, SAMPLES)]


def _mb_per_s(bench: Bench, sector: int) -> float:
    """Return the rate of a read to whose first sector the head has just moved."""
    bench.read(sector - 1)
    sectors = min(TRANSFER, bench.longest_sectors)
    sector_ns = bench.read(sector, sectors) / sectors
    return min(NS_TO_MB_PER_S / max(sector_ns, 1e-3), MOST_MB_PER_S)


def _seeks(ms: list[float], period: Rotation | None) -> list[Finding]:
    confidence = f"from the beginning of the disk, {REPEATS} averaged each"
    if period:
        error_ms = period.period_ns / 1e6 / (12 * REPEATS) ** 0.5
        confidence += f", half a rotation off, +- {error_ms:.2g} ms"
        ms = [max(value - period.period_ns / 2e6, 0.0) for value in ms]
    seen = [(index / (SAMPLES - 1), value) for index, value in enumerate(ms)]
    return [Finding("seek.ms", [round(value, 6) for value in ms], confidence, seen)]


def _rates(rates: list[float], capacity_sectors: int) -> list[Finding]:
    seen = [
        (start / capacity_sectors, rate)
        for start, rate in zip(_starts(capacity_sectors), rates, strict=True)
    ]
    return [
        Finding("throughput.mb_per_s", [round(rate, 4) for rate in rates], "16 MB each", seen),
    ]


def _rotation(period: Rotation | None) -> list[Finding]:
    """Return half a rotation for every request, if the period is known."""
    if not period:
        return [not_seen(rotation.KEY, "the samples include rotational latency")]
    return [period.findings()[0], Finding("rotation.phase", "mean")]
