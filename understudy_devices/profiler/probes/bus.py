# SPDX-License-Identifier: MIT
"""Measures the bus's watermark: the share of a read that is in the buffer when the bus begins to
transfer the read.

Some drives begin as soon as the first sector is in the buffer.  To keep the bus free, other drives
wait until the buffer holds a share of the read (SCSI's buffer full ratio; Ruemmler and Wilkes 1994,
"Simulating disk drives").  The times of long reads that miss show the difference.  The probe sends
such reads to the drive and to models with different watermarks, at the same times.  The watermark
is that of the model whose times are nearest to the drive's, if they are much nearer than those of
the model without a watermark.
"""

import numpy as np

from understudy_devices.profiler.findings.finding import Finding
from understudy_devices.profiler.probes.writes import Model
from understudy_devices.profiler.targets.bench import Bench

KEY = "buffer.bus_watermark_percent"
READS = 160
SHORTEST_POWER, LONGEST_POWER = 3, 8  # of reads, sectors
PAUSE_NS = 100_000_000  # time for slower models to complete
STEPS = (25, 12, 6, 3, 1)  # percent, around the best watermark of the previous step
MUCH_NEARER = 0.5

Read = tuple[int, int, int]  # sector, sectors, when it was sent


def measure(bench: Bench, model: Model) -> Finding:
    """Measure the watermark; return it as a finding."""
    reads, seen_ns = _seen(bench)
    off_ns: dict[int, float] = {}

    def off(percent: int) -> float:
        if percent not in off_ns:
            took_ns = _modelled(model([Finding(KEY, percent)]), reads)
            off_ns[percent] = float(np.mean(np.abs(np.sort(took_ns) - np.sort(seen_ns))))
        return off_ns[percent]

    nearest = min(range(0, 101, STEPS[0]), key=off)
    for step in STEPS[1:]:
        around = (nearest, nearest - step, nearest + step)
        nearest = min((each for each in around if 0 <= each <= 100), key=off)
    if off(nearest) > MUCH_NEARER * off(0):
        return Finding(
            KEY, 0, f"{READS} reads are off by {off(0) / 1e6:.3f} ms, with others similar"
        )
    error = f"{READS} reads are off by {off(nearest) / 1e6:.3f} ms, by {off(0) / 1e6:.3f} without"
    return Finding(KEY, nearest, error)


def _seen(bench: Bench) -> tuple[list[Read], list[int]]:
    """Read random sectors; return the reads and their service times."""
    reads, took_ns = [], []
    for _ in range(READS):
        bench.wait(bench.random.uniform(1, 2) * PAUSE_NS)
        sectors = round(2 ** bench.random.uniform(SHORTEST_POWER, LONGEST_POWER))
        sectors = min(sectors, bench.longest_sectors)
        sector = bench.place(sectors)
        took_ns.append(bench.read(sector, sectors))
        reads.append((sector, sectors, bench.sent_ns))
    return reads, took_ns


def _modelled(model: Bench, reads: list[Read]) -> list[int]:
    took_ns = []
    for sector, sectors, sent_ns in reads:
        model.wait(max(0, sent_ns - model.now_ns))
        took_ns.append(model.read(sector, sectors))
    return took_ns
