# SPDX-License-Identifier: MIT
"""Measures the seek curve, with pairs of sectors all over the disk.

The second read of a pair takes the seek time, plus less than one rotation.  If sectors have fixed
angles, the probe bisects the possible range of seek times: it pauses between the two reads such
that the second sector passes in the middle of the range.  Either the arm arrives before that pass,
or the read takes another rotation.  (Worthington and others 1995, section 3.3.1, find the minimum
time between request completions in this way.)  Seven bisections leave a range of 1/128 rotation.
Each bisection reads the sectors just before those of the previous bisection, to avoid hits.

At short distances, where the drive prefetches, and if latencies are random, the probe reads many
pairs instead: the middle of the range of their times is half a rotation above the seek time.
"""

import math
from dataclasses import dataclass, field

import numpy as np

from understudy_devices.profiler.findings.finding import Finding, Points
from understudy_devices.profiler.findings.statistics import ascending, median
from understudy_devices.profiler.probes.hits import Hits
from understudy_devices.profiler.probes.medium import Medium
from understudy_devices.profiler.probes.rotation import Rotation
from understudy_devices.profiler.targets.bench import Bench

NEAR, FAR = 8, 28  # number of distances up to NEAR_END of the disk, and beyond
NEAR_END = 0.01
NEAREST = 16  # sectors
LAST = 0.995
PAIRS = 12
SCATTER = 0.02  # of a rotation: if the mean's error is larger, the probe uses more pairs
HALVINGS = 7
CHANCES = 8  # tries to find a pair that is not in the cache
NEAR_READS = 256
WINDOW = 7  # samples smoothed together
READS = 360  # if latencies are random


@dataclass(frozen=True)
class Seek:
    """The seek curve: times `ns` at distances `at` (fractions of the disk), and their error; `seen`
    has the measured pairs.
    """

    at: tuple[float, ...]
    ns: tuple[float, ...]
    error_ns: float
    how: str
    seen: Points = field(default=(), repr=False)
    over: str = "sectors"

    def findings(self) -> list[Finding]:
        """Convert to findings."""
        confidence = f"+- {self.error_ns / 1e6:.2g} ({self.how})"
        seen = [(at, ns / 1e6) for at, ns in self.seen]
        return [
            Finding("seek.at", [round(at, 8) for at in self.at]),
            Finding("seek.ms", [round(ns / 1e6, 6) for ns in self.ns], confidence, seen),
            Finding("seek.over", self.over),
        ]


def measure(
    bench: Bench,
    rotation: Rotation | None,
    medium: Medium | None,
    hits: Hits | None,
    reach_sectors: int,
) -> Seek:
    """Measure the seek curve; `reach_sectors` is the longest prefetch."""
    surveyor = _Surveyor(bench, rotation, medium, hits, reach_sectors)
    at = _distances(bench.capacity_sectors)
    samples = [surveyor.sample(distance) for distance in at]
    ns = [value for value, _ in samples]
    if rotation:
        ns[-FAR:] = _smooth(at[-FAR:], ns[-FAR:])
    ns = ascending(ns)
    error_ns = median([error for _, error in samples])
    at_whole = [0.0, *(distance / bench.capacity_sectors for distance in at), 1.0]
    slope = (ns[-1] - ns[-4]) / (at_whole[-2] - at_whole[-5])
    last_ns = ns[-1] + slope * (1 - at_whole[-2])
    seen = [(distance / bench.capacity_sectors, value) for distance, value in surveyor.seen]
    return Seek(tuple(at_whole), (ns[0], *ns, last_ns), error_ns, surveyor.how, seen)


def _distances(capacity_sectors: int) -> list[int]:
    """Return the distances of the samples, in sectors; short distances are denser."""
    near = np.geomspace(1e-5, NEAR_END, NEAR, endpoint=False)
    far = np.linspace(NEAR_END**0.5, LAST**0.5, FAR) ** 2
    return sorted({max(NEAREST, round(at * capacity_sectors)) for at in (*near, *far)})


def _smooth(distances: list[int], ns: list[float]) -> list[float]:
    """Smooth each sample by a parabola fitted to its neighbours, over the square root of the
    distance.
    """
    roots = np.sqrt(np.array(distances, float))
    smoothed = []
    for index, root in enumerate(roots):
        low = min(max(0, index - WINDOW // 2), len(ns) - WINDOW)
        near = slice(low, low + WINDOW)
        smoothed.append(float(np.polyval(np.polyfit(roots[near] - root, ns[near], 2), 0.0)))
    return smoothed


def _close(times: list[float], period_ns: float) -> list[float]:
    """Return the times within half a rotation of the median: the others are of late completions."""
    middle = sorted(times)[len(times) // 2]
    return [ns for ns in times if abs(ns - middle) <= period_ns / 2]


def _error(times: list[float]) -> float:
    return float(np.std(times)) / math.sqrt(len(times))


class _Surveyor:
    """Measures seek times and their errors, ns."""

    def __init__(
        self,
        bench: Bench,
        rotation: Rotation | None,
        medium: Medium | None,
        hits: Hits | None,
        reach: int,
    ) -> None:
        self._bench = bench
        self._rotation = rotation
        self._medium = medium
        self._hits = hits
        self._reach = reach
        self.seen: list[tuple[int, float]] = []
        self.how = "rotational latency is not subtracted"
        if rotation:
            self.how = (
                f"{PAIRS} pairs a distance or more"
                if rotation.everywhere
                else f"{READS} reads each"
            )

    def sample(self, distance: int) -> tuple[float, float]:
        """Return the seek time over a distance, and its error, ns."""
        if not self._rotation:
            times = [self._single(distance, 0.0) for _ in range(NEAR_READS)]
            self.seen += ((distance, ns) for ns in times)
            return max(float(np.mean(times)), 1.0), _error(times)
        if not self._rotation.everywhere:
            reads = READS if distance > NEAR_END * self._bench.capacity_sectors else 2 * READS
            return self._middle(distance, self._rotation.period_ns, reads)
        if distance < 4 * self._reach + 1024:
            return self._middle(distance, self._rotation.period_ns, NEAR_READS)
        times = [self._halved(distance, self._rotation.period_ns) for _ in range(PAIRS)]
        if _error(times) > SCATTER * self._rotation.period_ns:
            times += [self._halved(distance, self._rotation.period_ns) for _ in range(2 * PAIRS)]
        close = _close(times, self._rotation.period_ns)
        self.seen += ((distance, ns) for ns in close)
        return float(np.mean(close)), _error(close)

    def _transfer_ns(self, sector: int) -> float:
        if not self._medium:
            return 0.0
        return self._medium.sector_ns_at(sector / self._bench.capacity_sectors)

    def _pair(self, distance: int, room: int) -> tuple[int, int]:
        """Return two sectors at that distance, with `room` before them.

        The pair goes in either direction, but only backwards if it is near.
        """
        low = room + self._bench.place(distance + room + 2)
        low = min(low, self._bench.capacity_sectors - distance - 2)
        is_near = distance < 4 * self._reach + 1024
        if is_near or self._bench.random.random() < 0.5:
            return low + distance, low
        return low, low + distance

    def _single(self, distance: int, wait_ns: float) -> float:
        """Return the time of the second read of a pair, without its transfer, ns; use a pair that
        misses the cache, so that the arm moves.
        """
        for _ in range(CHANCES):
            a, b = self._pair(distance, 0)
            first_ns = self._bench.read(a)
            self._bench.wait(self._bench.random.uniform(0, wait_ns))
            service_ns = self._bench.read(b)
            if not self._hits or not (self._hits.is_hit(first_ns) or self._hits.is_hit(service_ns)):
                break
        return service_ns - self._transfer_ns(b)

    def _middle(self, distance: int, period_ns: float, reads: int) -> tuple[float, float]:
        """Return the seek time, from the middle of the range of many pairs' times, and its error,
        ns.
        """
        times = [self._single(distance, period_ns) for _ in range(reads)]
        seek_ns = max((min(times) + max(times) - period_ns) / 2, 1.0)
        self.seen.append((distance, seek_ns))
        return seek_ns, period_ns / 2**0.5 / reads

    def _halved(self, distance: int, period_ns: float) -> float:
        """Return the seek time by bisection near one pair of sectors, ns."""
        a, b = self._pair(distance, 2 * HALVINGS)
        low_ns, high_ns, last_ns, wait_ns = 0.0, float("inf"), 0.0, 0.0
        for behind in range(HALVINGS + 1):
            self._bench.read(a - behind)
            before_ns = self._bench.now_ns
            if math.isfinite(high_ns):
                wait_ns = (wait_ns + last_ns - (low_ns + high_ns) / 2) % period_ns
                self._bench.wait(wait_ns)
            last_ns = self._bench.read(b - behind)
            wait_ns = self._bench.sent_ns - before_ns
            if self._hits and self._hits.is_hit(last_ns):
                continue
            low_ns = max(low_ns, last_ns - period_ns)
            high_ns = min(high_ns, last_ns)
        if not math.isfinite(high_ns):
            return last_ns
        middle_ns = (max(low_ns, high_ns - period_ns) + high_ns) / 2
        return max(middle_ns - self._transfer_ns(b), 1.0)
