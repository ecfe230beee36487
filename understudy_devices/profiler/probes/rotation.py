# SPDX-License-Identifier: MIT
"""Measures the period of the rotation.

The probe reads backwards, sector by sector: such reads miss the cache, and each read waits for
nearly a whole rotation.  If sectors have fixed angles, the time between completions is the period
minus a sector's time.  Pauses between two reads, each three times the previous pause, then make the
period exact to a part in 10^7 (Worthington and others 1995, section 3.1).  A model with random
latencies has no fixed angles, but the range of its latencies is the period.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from understudy_devices.profiler.findings.finding import Finding, not_seen
from understudy_devices.profiler.findings.statistics import median, spread
from understudy_devices.profiler.targets.bench import NS_PER_S, Bench

WAIT_NS = 50_000_000  # some rotations of any drive
TRIES = 48
CONSTANT = 0.3  # of the median: with rotational latency, times vary by more
FAR = 33  # sectors, still on the same track
PLACES = 5
SEEKS = 8
LONGEST_NS = 5 * NS_PER_S
DRAWS = 1500
UNEVEN = 0.1  # of the range: how much the quarters of uniform times may differ in width
SAME_ANGLE = 0.025  # of a rotation
DIGITS = 10  # digits of a ms: enough for angles that are right to a us after hours
KEY, PHASE_KEY = "rotation.period_ms", "rotation.phase"


@dataclass(frozen=True)
class Rotation:
    """The rotation: its period, and the time `sector_ns` in which a sector passes (None if sectors
    have no fixed angles).

    `everywhere` says whether sectors have the same angles after seeks.
    """

    period_ns: float
    error_ns: float
    sector_ns: float | None
    everywhere: bool = False

    @property
    def has_phase(self) -> bool:
        """Return whether a sector is always at the same angle."""
        return self.sector_ns is not None

    def findings(self) -> list[Finding]:
        """Convert the period to a finding."""
        how = "phases of completions" if self.has_phase else "range of latencies, no phase"
        if self.has_phase and not self.everywhere:
            how += ", but none after seeks"
        confidence = f"+- {self.error_ns / 1e6:.2g} ({how})"
        return [Finding(KEY, round(self.period_ns / 1e6, DIGITS), confidence)]


class Behind:
    """Reads backwards in one area."""

    def __init__(self, bench: Bench, steps: int) -> None:
        """Choose a random area with room for `steps` steps back."""
        self._bench = bench
        self.sector = bench.place(1, steps / bench.capacity_sectors)

    def read(self, step: int = 1) -> int:
        """Read `step` sectors before the previous read; return the service time, ns."""
        self.sector -= step
        return self._bench.read(self.sector)


def measure(bench: Bench) -> Rotation | None:
    """Measure the rotation; return None if there is no rotational latency."""
    if not _waits_differ(bench):
        return None
    coarse = _coarse(bench)
    if coarse is None:
        return _range_of_latencies(bench)
    periods = [_refined(bench, *coarse) for _ in range(PLACES)]
    period_ns = median(periods)
    close = sorted(abs(each - period_ns) for each in periods)
    error_ns = max(close[PLACES // 2], 1e-3)
    return Rotation(period_ns, error_ns, coarse[1], _is_same_after_seeks(bench, period_ns))


def findings(rotation: Rotation | None, is_known: bool) -> list[Finding]:
    """Convert to findings; the latency is "known" only if each sector's angle is known."""
    if rotation:
        return [*rotation.findings(), Finding(PHASE_KEY, "known" if is_known else "random")]
    return [not_seen(KEY, "no latency that is uniform over a period")]


def _waits_differ(bench: Bench) -> bool:
    place = Behind(bench, 4 * TRIES)
    times = []
    for _ in range(TRIES):
        bench.wait(bench.random.uniform(0, WAIT_NS))
        times.append(place.read())
    return spread(times) > CONSTANT * median(times)


def _gap_ns(bench: Bench, step: int) -> tuple[float, float]:
    """Return the median time between completions of reads `step` sectors apart, and the share of
    times near the median.
    """
    gaps: list[float] = []
    for _ in range(PLACES):
        place = Behind(bench, FAR * TRIES)
        place.read()
        gaps += [_step_ns(bench, place, 0, step) for _ in range(TRIES // 4)]
    middle = median(gaps)
    return middle, sum(abs(gap - middle) < 0.01 * middle for gap in gaps) / len(gaps)


def _coarse(bench: Bench) -> tuple[float, float] | None:
    """Return the approximate period and a sector's time, ns.

    The time between completions is the period minus the time of the sectors in a step.
    """
    near_ns, agree = _gap_ns(bench, 1)
    far_ns, _ = _gap_ns(bench, FAR)
    sector_ns = (near_ns - far_ns) / (FAR - 1)
    if agree < 0.5 or not 0 < sector_ns < near_ns / FAR:
        return None
    return near_ns + sector_ns, sector_ns


def _refined(bench: Bench, period_ns: float, sector_ns: float) -> float:
    """Return the exact period, from reads in one area after growing pauses.

    Each time between completions is a whole number of periods minus one sector, so the difference
    of a long and a short time is a whole number of periods.
    """
    place = Behind(bench, 4 * TRIES)
    place.read()
    short_ns = _step_ns(bench, place, 0)
    wait_ns = period_ns
    while wait_ns < LONGEST_NS:
        passed_ns = _step_ns(bench, place, wait_ns) + sector_ns
        period_ns = passed_ns / round(passed_ns / period_ns)
        wait_ns *= 3
    long_ns = passed_ns - sector_ns
    return (long_ns - short_ns) / round((long_ns - short_ns) / period_ns)


def _step_ns(bench: Bench, place: Behind, wait_ns: float, step: int = 1) -> int:
    """Read `step` sectors before the previous read, after a pause; return the time between the two
    completions, ns.
    """
    begin_ns = bench.now_ns
    bench.wait(wait_ns)
    place.read(step)
    return bench.now_ns - begin_ns


def _is_same_after_seeks(bench: Bench, period_ns: float) -> bool:
    """Return whether sectors keep their angles when the arm has been elsewhere.

    All but two angles between neighbouring reads must agree: a track may end between two reads, or
    a completion may be late.
    """
    place = Behind(bench, 2 * TRIES)
    angles = []
    for _ in range(SEEKS):
        place.read()
        bench.elsewhere(1)
        place.read()
        angles.append(bench.now_ns % period_ns)
    turns = [(b - a + period_ns / 2) % period_ns for a, b in pairwise(angles)]
    usual = median(turns)
    return sum(abs(turn - usual) < SAME_ANGLE * period_ns for turn in turns) >= len(turns) - 2


def _range_of_latencies(bench: Bench) -> Rotation | None:
    """Return the period from the range of random latencies: n uniform latencies have an expected
    range of (n - 1) / (n + 1) periods.

    Return None if the times are not uniform, and thus not rotational latencies.
    """
    place = Behind(bench, 2 * DRAWS)
    place.read()
    times = [place.read() for _ in range(DRAWS)]
    quarters = np.quantile(times, (0, 0.25, 0.5, 0.75, 1))
    if np.ptp(np.diff(quarters)) > UNEVEN * np.ptp(quarters):
        return None
    period_ns = (max(times) - min(times)) * (DRAWS + 1) / (DRAWS - 1)
    return Rotation(period_ns, 2**0.5 * period_ns / DRAWS, None)
