# SPDX-License-Identifier: MIT
"""Measures angles of single sectors.

A read of one sector completes when the sector has passed under the head, wherever the arm was
before.  So the completion time modulo the rotation period is the angle at which the sector ends.
Cache hits do not show an angle; they are recognised by their short time.  To keep hits rare, the
arm moves elsewhere before the probe reads a sector that may have been prefetched.  The platter's
speed drifts relative to the clock.  So some sectors with known angles are read from time to time,
and all other angles are relative to them (Worthington and others 1995, section 3.1).
"""

from collections.abc import Callable
from itertools import pairwise

from understudy_devices.profiler.findings.statistics import median, spread
from understudy_devices.profiler.layout.layout import centred
from understudy_devices.profiler.probes.hits import Hits
from understudy_devices.profiler.probes.rotation import Behind
from understudy_devices.profiler.targets.bench import Bench

TRIES = 40
CHANCES = 4
NOISE = 5  # times the noise: readings farther apart are of two angles
BESIDE = 2**13  # sectors: the longest prefetch that a drive may have
REFER_EVERY = 50  # reads
REFERENCES = 3
DRIFT_MAX = 1e-5  # of the period, between two corrections: more means that the host was late

Known = Callable[[], tuple[int, float]]  # a sector, and the angle at which it ends


class HeldError(Exception):
    """The drive keeps a sector in its cache although many others were read."""


class Protractor:
    """Measures the angles at which sectors end, in rotations; `noise` is the spread of repeated
    measurements of an angle.
    """

    def __init__(self, bench: Bench, period_ns: float, hits: Hits | None, forget: int) -> None:
        """Measure the noise; `forget` is the number of random reads that clear the cache."""
        self._bench = bench
        self._period_ns = period_ns
        self._hits = hits
        self._forget = forget
        self._known: Known | None = None
        self._reads = 0
        self._last = -BESIDE
        self._from_ns = 0.0
        self._since_ns = 0
        self.noise = self._noise()

    def refer_to(self, known: Known) -> None:
        """Use these sectors to correct the drift from now on."""
        self._known = known
        self._since_ns = self._bench.now_ns
        self._reads = 0

    def end(self, sector: int) -> float | None:
        """Return the angle of that sector; None if the read hit the cache."""
        self._reads += 1
        if self._known and self._reads > REFER_EVERY:
            self._refer(self._known)
        if 0 <= sector - self._last < BESIDE:
            self._bench.elsewhere(1)
        return self._read(sector)

    def surely(self, sector: int) -> float:
        """Return the angle of that sector, after removing it from the drive's cache if
        necessary.
        """
        for _ in range(CHANCES):
            turn = self.end(sector)
            if turn is not None:
                return turn
            self._bench.elsewhere(self._forget)
        raise HeldError

    def _read(self, sector: int) -> float | None:
        service_ns = self._bench.read(sector)
        self._last = sector
        if self._hits and self._hits.is_hit(service_ns):
            return None
        return (self._bench.now_ns - self._from_ns) / self._period_ns % 1

    def _refer(self, known: Known) -> None:
        """Correct the drift by the median of REFERENCES reads, since a single read may complete
        late.
        """
        off = []
        for _ in range(REFERENCES):
            sector, there = known()
            turn = self._read(sector)
            if turn is not None:
                off.append(centred(turn - there))
        if off:
            self._correct(median(off))
        self._reads = 0

    def _correct(self, off: float) -> None:
        """Correct later angles by the deviation `off`, in rotations, and the period by half of the
        drift that this deviation shows.
        """
        now_ns = self._bench.now_ns
        turn = (now_ns - self._from_ns) / self._period_ns - off
        drift = off * self._period_ns / (now_ns - self._since_ns)
        self._period_ns *= 1 + min(max(drift / 2, -DRIFT_MAX), DRIFT_MAX)
        self._from_ns = now_ns - turn % 1 * self._period_ns
        self._since_ns = now_ns

    def _noise(self) -> float:
        """Return the spread of the angles between neighbouring sectors; the arm moves elsewhere
        before each read.

        Use these sectors to correct the drift until `refer_to` names better ones.
        """
        place = Behind(self._bench, TRIES)
        ends = []
        for _ in range(TRIES):
            self._bench.elsewhere(1)
            place.sector -= 1
            turn = self._read(place.sector)
            if turn is not None:
                ends.append((place.sector, turn))
        steps = [centred(a - b) for (_, a), (_, b) in pairwise(ends)]
        if ends:
            self.refer_to(lambda: self._bench.random.choice(ends))
        return spread(steps) if steps else 0.0
