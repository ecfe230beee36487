# SPDX-License-Identifier: MIT
"""Decides whether prefetched sectors overwrite requested sectors, if tracks' ends stop the
prefetch.

Usually a single read shows this (ahead.py).  But if the track ends before the segment is full, a
single read's prefetch overwrites nothing.  In a stream of reads the segment does fill up, and a
drive that overwrites requested sectors prefetches farther before it stops.  So the probe reads
streams from the drive and from two models, one that overwrites and one that does not, at the same
times.  The model whose times are nearer to the drive's decides.
"""

from understudy_devices.profiler.findings.finding import Finding
from understudy_devices.profiler.probes.ahead import KEEPS_KEY
from understudy_devices.profiler.probes.segments import A_READ
from understudy_devices.profiler.probes.writes import Model
from understudy_devices.profiler.targets.bench import Bench

STREAMS = 12
READS = 160  # enough for some tracks
PAUSE_NS = 500_000_000  # time for slower models to complete


def measure(bench: Bench, model: Model) -> Finding:
    """Measure streams; return the finding."""
    answers = {keeps: model([Finding(KEEPS_KEY, keeps)]) for keeps in ("request", "ahead")}
    off_ns = dict.fromkeys(answers, 0)
    for _ in range(STREAMS):
        bench.wait(PAUSE_NS)
        place, begin_ns = bench.place(READS * A_READ), bench.now_ns
        took_ns = _took_ns(bench, place)
        for keeps, its in answers.items():
            its.wait(max(0, begin_ns - its.now_ns))
            off_ns[keeps] += abs(_took_ns(its, place) - took_ns)
    request, ahead = (off_ns[keeps] / STREAMS / 1e6 for keeps in answers)
    if request == ahead:
        return Finding(KEEPS_KEY, "request", f"it makes no difference to {STREAMS} streams")
    confidence = (
        f"{STREAMS} streams are off by {ahead:.2f} ms each with ahead, {request:.2f} with request"
    )
    return Finding(KEEPS_KEY, "ahead" if ahead < request else "request", confidence)


def _took_ns(bench: Bench, place: int) -> int:
    return sum(bench.read(place + n * A_READ, A_READ) for n in range(READS))
