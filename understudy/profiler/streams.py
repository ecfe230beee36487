# SPDX-License-Identifier: MIT
"""Streams where tracks' ends stop reading ahead: do they overwrite what was asked for?

A single read shows it elsewhere (ahead.py): what follows takes its room.  Here a track's end comes
before the segment is full.  In a stream that goes on to the next track's end the room matters: who
overwrites comes farther before it stands still.  So streams are read from the drive and from the
model with either answer, all on the same clock, and the nearer one is it.
"""

from understudy.profiler.found import Finding
from understudy.profiler.held import A_READ
from understudy.profiler.target import Bench
from understudy.profiler.writes import Model

KEY = "buffer.read_ahead_overwrites"
STREAMS = 12
READS = 160  # some tracks
PAUSE_NS = 500_000_000  # in which models that are slower catch up


def measure(bench: Bench, model: Model) -> Finding:
    """In the profile's words."""
    answers = {answer: model([Finding(KEY, answer)]) for answer in (False, True)}
    off_ns = dict.fromkeys(answers, 0)
    for _ in range(STREAMS):
        bench.wait(PAUSE_NS)
        place, begin_ns = bench.place(READS * A_READ), bench.now_ns
        took_ns = _took_ns(bench, place)
        for answer, its in answers.items():
            its.wait(max(0, begin_ns - its.now_ns))
            off_ns[answer] += abs(_took_ns(its, place) - took_ns)
    no, yes = (off_ns[answer] / STREAMS / 1e6 for answer in (False, True))
    if yes == no:
        return Finding(KEY, False, f"it makes no difference to {STREAMS} streams")
    said = f"{STREAMS} streams are off by {yes:.2f} ms each if so, by {no:.2f} ms if not"
    return Finding(KEY, yes < no, said)


def _took_ns(bench: Bench, place: int) -> int:
    return sum(bench.read(place + n * A_READ, A_READ) for n in range(READS))
