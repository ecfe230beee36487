# SPDX-License-Identifier: MIT
"""Writes: whether they are taken before they are on the medium, how many, and when they go there.

A write that an idle drive takes at a cost that does not depend on the platter has gone into
its cache.  Places that are written without a pause are taken until there is no room for
another; one write is, up to the cache's size.  Once the cache is full the next write shows
by its time whether anything has been put away meanwhile, so the pause that it takes says how long
the drive waits before it begins.  What is left, the order and a write's settling, is what
brings the model of all this to the drive's mean time for random writes without a pause.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from understudy.profiler.found import Finding, not_seen
from understudy.profiler.hits import Hits
from understudy.profiler.statistics import median, spread
from understudy.profiler.target import Bench

A_WRITE = 8  # sectors
LENGTHS = (1, A_WRITE, 64)
TRIES = 7
IDLE_NS = 2_000_000_000
MOST = 256  # WRITES_MAX in understudy/device/profile.py
LARGEST = 2**18
SUSTAINED = 1000
SHORTER = 0.95  # of the mean in the order in which they came: another order
LONGEST_PAUSE_NS = 1_000_000_000
LONGER = 1.2  # than a single access, which varies: less of a wait is not told from none
NAMES = ("us", "settle_ms", "back", "back_sectors", "back_idle_ms", "back_order")
KEYS = {name: f"buffer.write_{name}" for name in NAMES}
IDLE_SAID = "+- some ms; less than a fifth of an access is not told from none"
MUCH_LONGER = 1.4  # where settling can't be told from waiting
ORDERS = ("as they came", "nearest")

Model = Callable[[Sequence[Finding]], Bench]  # of what was found, and that


@dataclass(frozen=True)
class Taken:
    """What a drive's write cache is like."""

    overhead_ns: float
    number: int
    agree: int
    sectors: int
    idle_ns: float


def is_seen(found: Finding) -> bool:
    """A figure of writes."""
    return found.key in KEYS.values() and found.value is not None


def unseen(why: str) -> list[Finding]:
    """Nothing is known of writes."""
    return [not_seen(key, why) for key in KEYS.values()]


def measure(bench: Bench, hits: Hits | None, model: Model) -> list[Finding]:
    """In the profile's words."""
    if not hits:
        return unseen("without hits the bus is not known")
    found = _findings(_taken(bench, hits))
    mean_ns, error_ns = _sustained(bench)
    return found + _settling(model, found, mean_ns, error_ns)


def _taken(bench: Bench, hits: Hits) -> Taken | None:
    """None: a write waits for the medium."""
    costs = []
    for sectors in LENGTHS:
        times = [_after_idleness(bench, sectors) for _ in range(TRIES)]
        if spread(times) > 2 * hits.tolerance_ns + 0.05 * median(times):
            return None
        costs.append(median(times) - sectors * hits.bus_sector_ns)
    overhead_ns = max(0.0, costs[LENGTHS.index(A_WRITE)])
    cache = _Cache(bench, hits, overhead_ns)
    bench.milestone()
    bursts = [cache.burst() for _ in range(TRIES)]
    bench.milestone()
    repeated = [number for number in bursts if bursts.count(number) > 1]
    number = max(1, min(repeated or bursts))  # a single one may be a host that was away
    sectors = cache.sectors()
    bench.milestone()
    idle_ns = cache.idle_ns(number)
    bench.milestone()
    return Taken(overhead_ns, number, bursts.count(number), sectors, idle_ns)


def _after_idleness(bench: Bench, sectors: int) -> int:
    bench.wait(IDLE_NS)
    return bench.write(bench.place(sectors), sectors)


class _Cache:
    """Tells writes that are taken from those that wait."""

    def __init__(self, bench: Bench, hits: Hits, overhead_ns: float) -> None:
        self._bench = bench
        self._hits = hits
        self._overhead_ns = overhead_ns

    def burst(self) -> int:
        """How many an idle drive takes, in as many places, with those put away meanwhile."""
        self._bench.wait(IDLE_NS)
        for number in range(MOST):
            if not self._is_taken(self._write(A_WRITE), A_WRITE):
                return number
        return MOST

    def sectors(self) -> int:
        """The longest write that it takes."""
        low, high = A_WRITE, 2 * A_WRITE
        most = min(LARGEST, self._bench.capacity_sectors // 16)
        while high <= most and self._takes(high):
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._takes(middle) else (low, middle)
        return low

    def idle_ns(self, number: int) -> float:
        """From the last write until the first is put away, without the time that takes.

        A drive that does not wait needs no longer than for a single access.  On one that does, the
        second write is put away without the wait.
        """
        first_ns = self._pause_ns(number, 1)
        single_ns = self._single_ns()
        if first_ns < (LONGER if number > 1 else MUCH_LONGER) * single_ns:
            return 0.0
        away_ns = self._pause_ns(number, 2) - first_ns if number > 1 else single_ns
        return max(0.0, first_ns - away_ns)

    def _pause_ns(self, number: int, more: int) -> float:
        """After which a full cache takes so many more, mostly."""
        low, high = 0.0, float(LONGEST_PAUSE_NS)
        while high - low > 0.02 * high + 100_000:
            middle = (low * high) ** 0.5 if low else high / 8
            has_room = sum(self._room(number, more, middle) for _ in range(TRIES)) > TRIES / 2
            low, high = (low, middle) if has_room else (middle, high)
        return high

    def _write(self, sectors: int) -> int:
        return self._bench.write(self._bench.place(sectors), sectors)

    def _takes(self, sectors: int) -> bool:
        times = (_after_idleness(self._bench, sectors) for _ in range(2))
        return all(self._is_taken(ns, sectors) for ns in times)

    def _is_taken(self, service_ns: float, sectors: int) -> bool:
        cost_ns = self._overhead_ns + sectors * self._hits.bus_sector_ns
        return service_ns <= cost_ns + max(self._hits.tolerance_ns, 0.02 * cost_ns)

    def _room(self, number: int, more: int, pause_ns: float) -> bool:
        """It was full that long ago: are more taken at once?"""
        self._bench.wait(IDLE_NS)
        for _ in range(number):
            self._write(A_WRITE)
        self._bench.wait(pause_ns)
        return all(self._is_taken(self._write(A_WRITE), A_WRITE) for _ in range(more))

    def _single_ns(self) -> float:
        """About what it takes to put one away: a read costs as much."""
        self._bench.wait(IDLE_NS)
        return median([self._bench.read(self._bench.place(A_WRITE)) for _ in range(64)])


def _findings(taken: Taken | None) -> list[Finding]:
    if not taken:
        said = "an idle drive makes a write wait for the platter"
        unknown = [not_seen(KEYS[name], said) for name in NAMES[3:5]]
        return [not_seen(KEYS["us"], said), Finding(KEYS["back"], 0, said), *unknown]
    tries = f"{taken.agree} of {TRIES} tries, the others took more"
    return [
        Finding(KEYS["us"], round(taken.overhead_ns / 1e3, 3), f"{TRIES} on an idle drive"),
        Finding(KEYS["back"], taken.number, tries),
        Finding(KEYS["back_sectors"], taken.sectors, "the longest write that is taken"),
        Finding(KEYS["back_idle_ms"], round(taken.idle_ns / 1e6, 3), IDLE_SAID),
    ]


def _sustained(bench: Bench) -> tuple[float, float]:
    """Mean time of random writes without a pause, once the cache is full, and its error."""
    times = [bench.write(bench.place(A_WRITE), A_WRITE) for _ in range(SUSTAINED + MOST)][MOST:]
    return float(np.mean(times)), float(np.std(times)) / SUSTAINED**0.5


def _settling(model: Model, found: list[Finding], mean_ns: float, error_ns: float) -> list[Finding]:
    """Order and settling: what the model lacks without them."""
    modelled = {
        order: _sustained(model([*found, Finding(KEYS["back_order"], order)]))[0]
        for order in ORDERS
    }
    came, nearest = (modelled[order] for order in ORDERS)
    takes_nearest = nearest < SHORTER * came and mean_ns < (came + nearest) / 2
    settle_ns = max(0.0, mean_ns - (nearest if takes_nearest else came))
    said = f"+- {2**0.5 * error_ns / 1e6:.2g}, from the mean of {SUSTAINED} random writes"
    return [
        Finding(KEYS["settle_ms"], round(settle_ns / 1e6, 6), said),
        Finding(KEYS["back_order"], ORDERS[takes_nearest], "whichever is nearer to that mean"),
    ]
