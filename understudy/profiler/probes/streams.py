# SPDX-License-Identifier: MIT
"""Whether prefetched sectors overwrite the requested ones, where tracks' ends stop the prefetch.

Elsewhere a single read shows the answer (ahead.py): the prefetch overwrites the read or not.  Here
a track's end comes before the segment is full.  But in a stream that goes on to the next track's
end the room matters: a drive that overwrites gets farther before it stops.  So the probe reads
streams from the drive and from models with either answer, all on the same clock.  The nearer model
gives the answer.
"""

from understudy.profiler.findings.finding import Finding
from understudy.profiler.probes.ahead import KEEPS_KEY
from understudy.profiler.probes.segments import A_READ
from understudy.profiler.probes.writes import Model
from understudy.profiler.targets.bench import Bench

STREAMS = 12
READS = 160  # some tracks
PAUSE_NS = 500_000_000  # in which slower models catch up


def measure(bench: Bench, model: Model) -> Finding:
    """Measure, and return a finding."""
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
    said = (
        f"{STREAMS} streams are off by {ahead:.2f} ms each with ahead, {request:.2f} with request"
    )
    return Finding(KEEPS_KEY, "ahead" if ahead < request else "request", said)


def _took_ns(bench: Bench, place: int) -> int:
    return sum(bench.read(place + n * A_READ, A_READ) for n in range(READS))
