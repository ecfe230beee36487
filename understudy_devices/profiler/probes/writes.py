# SPDX-License-Identifier: MIT
"""Measures the write cache: whether it exists, its size, and when and in which order it destages.

If writes on an idle drive always take the same time, they do not wait for the platter: the drive
has a write cache.  The number of writes that the drive accepts without a wait is the cache's size
in writes, and the longest write that it accepts is the size in sectors.  Some drives destage only
after they have been idle for some time.  To find that time, the probe writes at the disk's end,
pauses, and reads at the arm's previous location.  If the pause was longer than that time, the drive
has begun to destage, and the read has to move the arm back.

Three values remain: the destage order, how much data stays in a cache that was full, and the
settling time of a write.  The probe selects the values with which the model's times are nearest to
the drive's under seven loads.  Settling time is selected by the mean times of six of the loads.
The other two values are selected by the means and by the sorted times of all seven loads, since a
wrong order may have the right mean.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from understudy_devices.device.drive_buffer import WRITE_ORDERS
from understudy_devices.profiler.findings.finding import Finding, not_seen
from understudy_devices.profiler.findings.statistics import first, median, spread
from understudy_devices.profiler.probes.hits import Hits
from understudy_devices.profiler.targets.bench import Bench

A_WRITE = 8  # sectors
LENGTHS = (1, A_WRITE, 64)
TRIES = 7
CHANCES = 2
IDLE_NS = 2_000_000_000
MOST = 256  # WRITES_MAX in understudy_devices/device/profile.py
SUSTAINED = 2000 + MOST
LONGEST_PAUSE_NS = 1_000_000_000
SHORTEST_PAUSE_NS = 50_000
FOUND = ("us", "settle_ms", "back", "back_idle_ms", "back_order")
KEYS = {name: f"buffer.write_{name}" for name in FOUND}
THROUGH_SAID = "on an idle drive a write waits for the platter"
IDLE_SAID = "+- 1 % and 0.05 ms; 0: at once"
NEAR, AROUND, FAR = (0.0, 0.01), (0.0, 0.05), (0.99, 1.0)  # of the disk
UNLIKELY = 0.1  # penalty for long settling, as a share of the mean: orders differ by more than this
A_SWEEP = 20
THINK_NS = 10_000_000
A_RUN = 16
A_STRAY = 8  # among so many writes, one goes to the other end of the disk
OPS_MIXED = ("read", "read", "write")
ROOM_SAID = "the longest write taken; what a full drive keeps, to a quarter, fits the times best"
AN_INSTANT_MS = 1e-6
SETTLE_SAID = "from the means of six loads"
SOME_SETTLING_NS = 1e6
ORDER_SAID = (
    "nearest to those times: all over, with strays, close together, among reads, with pauses, in "
    "sweeps, in runs"
)

Times = npt.NDArray[np.float64]
Model = Callable[[Sequence[Finding]], Bench]  # makes a model of all findings and these
Choice = tuple[Finding, ...]  # the wait, the room, and the order
Served = Callable[[Sequence[Finding]], list[Times]]


@dataclass(frozen=True)
class Taken:
    """The properties of a drive's write cache."""

    overhead_ns: float
    number: int
    agree: int
    sectors: int
    idle_ns: float

    def rooms(self) -> list[Finding]:
        """Return candidates for the cache's size.

        If the drive waits before it destages, each candidate includes how much data stays in a
        cache that was full, from none to all.
        """
        tries = f"{self.agree} of {TRIES} tries, others took more"
        whole = [self.number, self.sectors]
        short = self.number * A_WRITE
        lows = {0, *(most * n // 4 for most in (self.sectors, short) for n in (1, 2, 3))}
        triples = [[*whole, low] for low in sorted(lows)] if self.idle_ns else []
        return [Finding(KEYS["back"], room, f"{tries}; {ROOM_SAID}") for room in (*triples, whole)]

    def waits(self) -> list[Finding]:
        """Return candidates for the time without requests after which the drive destages.

        One candidate has an instant as its second value, for a cache that was full: it decides
        which of two simultaneous events is first.
        """
        idle_ms = round(self.idle_ns / 1e6, 3)
        waits = (idle_ms, [idle_ms, AN_INSTANT_MS]) if idle_ms else (0.0,)
        return [Finding(KEYS["back_idle_ms"], wait, IDLE_SAID) for wait in waits]


def is_seen(finding: Finding) -> bool:
    """Return whether the finding is about writes and has a value."""
    return finding.key in KEYS.values() and finding.value is not None


def unseen(why: str) -> list[Finding]:
    """Return the findings for an unknown write cache."""
    return [not_seen(key, why) for key in KEYS.values()]


def measure(bench: Bench, hits: Hits | None, model: Model) -> list[Finding]:
    """Measure the write cache; return the findings."""
    if not hits:
        return unseen("the bus's speed is not known without hits")
    cache = _taken(bench, hits)
    overhead = _findings(cache)
    draws = bench.random.getstate()

    def served(findings: Sequence[Finding]) -> list[Times]:
        """Run the loads on a model, at the same sectors; return the times."""
        modelled = model(findings)
        modelled.random.setstate(draws)
        return _loaded(modelled)

    return overhead + _by_loads(served, cache, overhead, _loaded(bench))


def _taken(bench: Bench, hits: Hits) -> Taken | None:
    """Measure the write cache; return None if writes wait for the medium."""
    costs = []
    for sectors in LENGTHS:
        steady_ns = _steady_ns(bench, hits, sectors)
        if steady_ns is None:
            return None
        costs.append(steady_ns - sectors * hits.bus_sector_ns)
    overhead_ns = max(0.0, costs[LENGTHS.index(A_WRITE)])
    cache = _Cache(bench, hits, overhead_ns)
    bench.milestone()
    bursts = [cache.burst() for _ in range(TRIES)]
    repeated = [number for number in bursts if bursts.count(number) > 1]
    number = max(1, min(repeated or bursts))  # a single larger number may be due to a late host
    bench.milestone()
    sectors = cache.sectors()
    bench.milestone()
    idle_ns = cache.idle_ns()
    bench.milestone()
    return Taken(overhead_ns, number, bursts.count(number), sectors, idle_ns)


def _steady_ns(bench: Bench, hits: Hits, sectors: int) -> float | None:
    """Return the time of a write on an idle drive; None if it differs from try to try."""
    for _ in range(CHANCES):
        times = [_after_idleness(bench, sectors) for _ in range(TRIES)]
        if spread(times) <= 2 * hits.tolerance_ns + 0.05 * median(times):
            return median(times)
    return None


def _after_idleness(bench: Bench, sectors: int) -> int:
    bench.wait(IDLE_NS)
    return bench.write(bench.place(sectors), sectors)


class _Cache:
    """Tests which writes the cache accepts without a wait."""

    def __init__(self, bench: Bench, hits: Hits, overhead_ns: float) -> None:
        self._bench = bench
        self._hits = hits
        self._overhead_ns = overhead_ns

    def burst(self) -> int:
        """Return how many random writes in succession an idle drive accepts without a wait."""
        self._bench.wait(IDLE_NS)
        for number in range(MOST):
            if not self._is_taken(self._write(A_WRITE), A_WRITE):
                return number
        return MOST

    def sectors(self) -> int:
        """Return the longest write that the cache accepts, in sectors."""
        most = min(self._bench.longest_sectors, self._bench.capacity_sectors // 16)
        low = A_WRITE
        while low < most and self._takes(min(2 * low, most)):
            low = min(2 * low, most)
        return first(lambda sectors: not self._takes(sectors), low, min(2 * low, most + 1)) - 1

    def _takes(self, sectors: int) -> bool:
        times = (_after_idleness(self._bench, sectors) for _ in range(2))
        return all(self._is_taken(ns, sectors) for ns in times)

    def idle_ns(self) -> float:
        """Return the time without requests after which the drive destages, ns.

        The probe writes at the disk's other end: from then on, a read at the arm's previous
        location takes longer, since it has to move the arm back.
        """
        stays_ns = self._back_ns(lambda: None)
        leaves_ns = self._back_ns(lambda: self._bench.read(self._bench.place(A_WRITE, *FAR)))
        limit_ns = (stays_ns + leaves_ns) / 2
        low, high = 0.0, float(LONGEST_PAUSE_NS)
        while high - low > 0.01 * high + SHORTEST_PAUSE_NS:
            middle = (low * high) ** 0.5 if low else high / 8
            stays = self._back_ns(lambda: self._leave_write(middle)) < limit_ns  # noqa: B023
            low, high = (middle, high) if stays else (low, middle)
        return (low + high) / 2 if low else 0.0

    def _leave_write(self, pause_ns: float) -> None:
        self._bench.write(self._bench.place(A_WRITE, *FAR), A_WRITE)
        self._bench.wait(pause_ns)

    def _back_ns(self, between: Callable[[], Any]) -> float:
        """Return the time of a second read near a first read, with a call of `between` after the
        first.

        The result is a low quantile of several tries, so that some late completions and a single
        hit do not matter.
        """
        times = []
        for _ in range(TRIES):
            self._bench.wait(IDLE_NS)
            self._bench.read(self._bench.place(A_WRITE, *AROUND), A_WRITE)
            between()
            times.append(self._bench.read(self._bench.place(A_WRITE, *AROUND), A_WRITE))
        return float(np.quantile(times, 1 / 3))

    def _write(self, sectors: int) -> int:
        return self._bench.write(self._bench.place(sectors), sectors)

    def _is_taken(self, service_ns: float, sectors: int) -> bool:
        cost_ns = self._overhead_ns + sectors * self._hits.bus_sector_ns
        return service_ns <= cost_ns + max(self._hits.tolerance_ns, 0.02 * cost_ns)


def _findings(cache: Taken | None) -> list[Finding]:
    if not cache:
        return [not_seen(KEYS["us"], THROUGH_SAID)]
    us = round(cache.overhead_ns / 1e3, 3)
    return [Finding(KEYS["us"], us, f"{TRIES} on an idle drive")]


def _scattered(bench: Bench) -> Sequence[int]:
    """Write all over the disk."""
    return [bench.write(bench.place(A_WRITE), A_WRITE) for _ in range(SUSTAINED)]


def _with_strays(bench: Bench) -> Sequence[int]:
    """Write at one end, and sometimes at the other end: nearest-first order destages those stray
    writes last.
    """
    ends = [NEAR if n % A_STRAY else FAR for n in range(SUSTAINED)]
    return [bench.write(bench.place(A_WRITE, *end), A_WRITE) for end in ends]


def _gathered(bench: Bench) -> Sequence[int]:
    """Write in a small area, where seeks are negligible: a drive that orders writes by angle is
    faster.
    """
    middle = (0.5, 0.51)
    return [bench.write(bench.place(A_WRITE, *middle), A_WRITE) for _ in range(SUSTAINED)]


def _among_reads(bench: Bench) -> Sequence[int]:
    """Send random requests, a third of them writes."""
    ops = [bench.random.choice(OPS_MIXED) for _ in range(SUSTAINED)]
    return [bench.serve(op, bench.place(A_WRITE), A_WRITE) for op in ops]


def _in_sweeps(bench: Bench) -> Sequence[int]:
    """Send random requests, a third of them writes, in batches sorted by sector, as an elevator
    would.
    """
    times = []
    for _ in range(SUSTAINED // A_SWEEP):
        for place in sorted(bench.place(A_WRITE) for _ in range(A_SWEEP)):
            times.append(bench.serve(bench.random.choice(OPS_MIXED), place, A_WRITE))
    return times


def _in_runs(bench: Bench) -> Sequence[int]:
    """Write sequential runs: a drive that joins writes destages a whole run at once; other drives
    need a rotation for each write.
    """
    times = []
    for _ in range(SUSTAINED // A_RUN):
        place = bench.place(A_RUN * A_WRITE)
        times += [bench.write(place + n * A_WRITE, A_WRITE) for n in range(A_RUN)]
    return times


def _with_pauses(bench: Bench) -> Sequence[int]:
    """Send random requests, a third of them writes, with think times: a drive that waits longer
    than the think times destages only when its cache is full.
    """
    times = []
    for _ in range(SUSTAINED):
        bench.wait(bench.random.expovariate(1 / THINK_NS))
        times.append(bench.serve(bench.random.choice(OPS_MIXED), bench.place(A_WRITE), A_WRITE))
    return times


LOADS = (_scattered, _with_strays, _gathered, _among_reads, _with_pauses, _in_sweeps, _in_runs)


def _loaded(bench: Bench) -> list[Times]:
    """Return each load's times, without its first requests, during which the cache fills up.

    Before each load the drive is idle, since writes of the previous load might stay in the cache.
    """
    times = []
    for load in LOADS:
        bench.wait(IDLE_NS)
        times.append(np.array(load(bench)[MOST:], float))
    return times


def _by_loads(
    served: Served, cache: Taken | None, findings: list[Finding], seen: list[Times]
) -> list[Finding]:
    """Return the findings (settling time, waiting time, cache size, order) with which the model's
    times are nearest to the drive's.

    First select the order, with only the extremes of how much data stays in a cache that was full:
    the amount shows only with the right order.  Without a waiting time, the last order cannot be
    distinguished from ascending order, and is not tried.
    """
    if cache:
        waits, rooms = cache.waits(), cache.rooms()
        orders = WRITE_ORDERS if cache.idle_ns else WRITE_ORDERS[:3]
    else:
        waits = [not_seen(KEYS["back_idle_ms"], THROUGH_SAID)]
        rooms = [Finding(KEYS["back"], 0, THROUGH_SAID)]
        orders = WRITE_ORDERS[:1]
    nearest = _Nearest(served, findings, seen)
    fits = []
    for name in orders:
        order = Finding(KEYS["back_order"], name, ORDER_SAID)
        fit = nearest.fitted((waits[0], rooms[-1], order))
        fits += [fit, *(nearest.like(fit, (wait, rooms[0], order)) for wait in waits)]
    fit = nearest.best(fits)
    order = fit.choice[-1]
    fits = [nearest.like(fit, (*pair, order)) for pair in product(waits, rooms)]
    fit = nearest.fitted(nearest.best(fits).choice)
    confidence = f"{SETTLE_SAID}; times off by {fit.off:.1%}"
    return [Finding(KEYS["settle_ms"], round(fit.settle_ns / 1e6, 6), confidence), *fit.choice]


class Fit(NamedTuple):
    """A choice of findings with a settling time, and the deviation of the model's times."""

    choice: Choice
    settle_ns: float
    off: float


class _Nearest:
    """Evaluates choices by how far the model's times deviate from the drive's."""

    def __init__(self, served: Served, findings: list[Finding], seen: list[Times]) -> None:
        self._served = served
        self._found = findings
        self._seen = seen

    def best(self, fits: Sequence[Fit]) -> Fit:
        """Return the fit with the smallest deviation; long settling times count as less likely."""
        mean_ns = float(np.mean(self._seen[0]))
        return min(fits, key=lambda fit: fit.off + UNLIKELY * fit.settle_ns / mean_ns)

    def fitted(self, choice: Choice) -> Fit:
        """Return the choice with the settling time that fits best."""
        without, with_some = (
            _relative_means(self._settling(choice, ns), self._seen)
            for ns in (0.0, SOME_SETTLING_NS)
        )
        return self.like(Fit(choice, _settle_ns(without, with_some), 0.0), choice)

    def like(self, fit: Fit, choice: Choice) -> Fit:
        """Return the choice with the settling time of another fit."""
        return Fit(choice, fit.settle_ns, _off(self._settling(choice, fit.settle_ns), self._seen))

    def _settling(self, choice: Choice, ns: float) -> list[Times]:
        settle = Finding(KEYS["settle_ms"], round(ns / 1e6, 6))
        return self._served([*self._found, *choice, settle])


def _settle_ns(without: Times, with_some: Times) -> float:
    """Return the best settling time, ns.

    Each load's mean is a linear function of the settling time, known from two points.  So the sum
    of the means' deviations is smallest where one of these deviations is zero, or at 0.
    """
    slope, lacking = (with_some - without) / SOME_SETTLING_NS, 1 - without
    exact = [float(one / by) for one, by in zip(lacking, slope, strict=True) if one > 0 and by > 0]
    return min((0.0, *exact), key=lambda ns: float(np.mean(np.abs(lacking - slope * ns))))


def _relative_means(served: list[Times], seen: list[Times]) -> Times:
    """Return the ratio of means, model to drive, for each load except sequential runs: there lost
    rotations hide settling.
    """
    pairs = list(zip(served, seen, strict=True))[:-1]
    return np.array([np.mean(a) / np.mean(b) for a, b in pairs])


def _off(served: list[Times], seen: list[Times]) -> float:
    """Return the deviation of the sorted times plus that of the means, relative to the mean and
    averaged over all loads.
    """
    apart = [
        (np.mean(np.abs(np.sort(a) - np.sort(b))) + abs(np.mean(a) - np.mean(b))) / np.mean(b)
        for a, b in zip(served, seen, strict=True)
    ]
    return float(np.mean(apart))
