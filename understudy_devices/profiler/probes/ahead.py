# SPDX-License-Identifier: MIT
"""Measures the prefetch: its length, what stops it, and what makes it continue.

The probe reads new sectors, waits long enough for the prefetch, and then reads a sector farther on:
that read hits if the prefetch reached the sector.  Each try uses another area of the disk, so the
distance to the end of the track varies.  If tracks' ends stop the prefetch, the share of hits thus
decreases gradually with the distance, instead of abruptly.  In further tries the probe

* reads the first sectors again, which the prefetch may have overwritten (`overwrites`);
* causes a hit in between: a sequential hit after the prefetch has stopped, or a hit in an area that
  the arm has left; in both cases the drive may resume the prefetch (`after_hit`);
* reads ahead of the prefetch without a pause: nearby sectors, and sectors so far ahead that a seek
  would be faster than to wait for the prefetch (`reach`).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from understudy_devices.device.drive_buffer import TO_TRACK_END
from understudy_devices.profiler.findings.finding import Finding, not_seen
from understudy_devices.profiler.findings.statistics import first
from understudy_devices.profiler.probes.hits import Hits
from understudy_devices.profiler.probes.medium import Medium
from understudy_devices.profiler.probes.rotation import Rotation
from understudy_devices.profiler.probes.segments import A_READ, Segments
from understudy_devices.profiler.targets.bench import Bench

TRIES = 8
SHARE_TRIES = 40
OFTEN = 0.93  # if fewer tries hit at 3/4 of the distance, tracks' ends stop the prefetch
PAUSE_NS = 60_000_000
FARTHEST = 2**18  # sectors
NEARLY_A_TRACK = 0.75
WAITS = 3
MORE_THAN_A_TURN = 1.7
SLOW_SECTOR_NS = 50_000.0  # used if the medium's rate is not known
AHEAD_KEY, KEEPS_KEY = "buffer.read_ahead_sectors", "buffer.segment_keeps"
HIT_KEY, REACH_KEY = "buffer.after_hit", "buffer.read_reach_sectors"


@dataclass(frozen=True)
class Ahead:
    """The properties of the prefetch after a read of A_READ sectors."""

    sectors: int
    share: float
    overwrites: bool = False
    after_hit: str = "go on"
    reach: int | None = None

    @property
    def to_track_end(self) -> bool:
        """Return whether ends of tracks stop the prefetch."""
        return self.sectors > 0 and self.share < OFTEN

    @property
    def track_sectors(self) -> int:
        """Return the number of sectors of a track, if track ends stop the prefetch.

        The share of misses is the probability that a track ends before the tested sector.
        """
        return round(_way(self.sectors) / (1 - self.share))

    def limit(self, track_sectors: float | None) -> int | None:
        """Return the prefetch's own limit; None if only the track's end stops the prefetch."""
        if not self.to_track_end:
            return self.sectors
        track = track_sectors or self.track_sectors
        return self.sectors if self.sectors < NEARLY_A_TRACK * track else None


def _way(farthest: int) -> int:
    """Return three quarters of the distance."""
    return max(1, 3 * farthest // 4)


class Prober:
    """Tests the prefetch, each time in another area of the disk."""

    def __init__(self, bench: Bench, hits: Hits, medium: Medium | None) -> None:
        """Use the medium's rate if it is known."""
        self._bench = bench
        self._hits = hits
        self._medium = medium
        self._sector_ns = medium.slowest_ns if medium else SLOW_SECTOR_NS

    def hits_at(self, distance: int, meanwhile: Callable[[], object] = lambda: None) -> bool:
        """Return whether the prefetch reaches that distance, if `meanwhile` is called after the
        read.
        """
        place = self._bench.place(A_READ + distance + 1)
        self._bench.read(place, A_READ)
        meanwhile()
        self._bench.wait(PAUSE_NS + 3 * distance * self._sector_ns)
        return self._hits.is_hit(self._bench.read(place + A_READ + distance - 1))

    def first_is_held(self) -> bool:
        """Return whether the sectors of a read are still in the cache after its prefetch."""
        place = self._bench.place(A_READ)
        self._bench.read(place, A_READ)
        self._bench.wait(PAUSE_NS + FARTHEST * self._sector_ns)
        return self._hits.is_hit(self._bench.read(place))

    def resumed_at(self, distance: int) -> bool:
        """Return whether the prefetch reaches that distance if a sequential read hits after the
        prefetch has stopped.
        """
        place = self._bench.place(2 * A_READ + distance)
        self._bench.read(place, A_READ)
        self._bench.wait(PAUSE_NS + 3 * distance * self._sector_ns)
        self._bench.read(place + A_READ, A_READ)
        self._bench.wait(PAUSE_NS + 3 * distance * self._sector_ns)
        return self._hits.is_hit(self._bench.read(place + A_READ + distance - 1))

    def returned(self, there: int) -> bool:
        """Return whether a hit makes the drive move the arm back and resume the prefetch.

        The first read left `there` sectors more in the buffer when it completed.
        """
        behind = max(3 * A_READ, A_READ + 2 * there)
        place = self._bench.place(behind + A_READ)
        self._bench.read(place, A_READ)
        self._bench.read(self._bench.place(A_READ), A_READ)
        self._bench.wait(PAUSE_NS + FARTHEST * self._sector_ns)
        self._bench.read(place, A_READ)
        self._bench.wait(PAUSE_NS)
        return self._hits.is_hit(self._bench.read(place + behind))

    def is_there(self, distance: int) -> bool:
        """Return whether a read `distance` ahead hits without a pause, since the drive has read
        that sector while the bus was busy.
        """
        return self._mostly(distance, self._hits.is_hit)

    def comes_by(self, distance: int, period_ns: float) -> bool:
        """Return whether a read `distance` ahead of the head completes in the same rotation."""
        return self._mostly(distance, lambda service_ns: service_ns < period_ns / 2)

    def misses_the_next(self, period_ns: float) -> bool:
        """Return whether all tries miss even the next sector of the prefetch."""
        return self._number(0, lambda service_ns: service_ns >= period_ns / 2) == TRIES

    def _mostly(self, distance: int, is_so: Callable[[int], bool]) -> bool:
        return self._number(distance, is_so) > TRIES / 2

    def _number(self, distance: int, is_so: Callable[[int], bool]) -> int:
        """Return in how many tries `is_so` is true for the service time of a read that follows
        another read without a pause, `distance` sectors after its end.
        """
        so = 0
        for _ in range(TRIES):
            place = self._bench.place(A_READ + distance + 1)
            self._bench.read(place, A_READ)
            so += is_so(self._bench.read(place + A_READ + distance))
        return so

    def waits(self, distance: int, period_ns: float) -> bool:
        """Return whether a read at that distance waits until the prefetch has read the sector,
        although a seek would save rotations.
        """
        assert self._medium
        waited = 0
        for _ in range(WAITS):
            place = self._bench.place(A_READ + distance + 1)
            there_ns = distance * self._medium.sector_ns_at(place / self._bench.capacity_sectors)
            self._bench.read(place, A_READ)
            waited += self._bench.read(place + A_READ + distance) > there_ns - period_ns / 2
        return waited > WAITS / 2

    def share(self, distance: int, tries: int = SHARE_TRIES) -> float:
        """Return the share of tries that hit."""
        return sum(self.hits_at(distance) for _ in range(tries)) / tries

    def ever(self, distance: int, tries: int) -> bool:
        """Return whether at least two tries hit; a single hit may be chance."""
        return sum(self.hits_at(distance) for _ in range(tries)) >= 2


def measure(
    bench: Bench,
    hits: Hits,
    segments: Segments,
    medium: Medium | None,
    rotation: Rotation | None,
) -> Ahead:
    """Measure the prefetch; its length is 0 if the drive does not prefetch."""
    prober = Prober(bench, hits, medium)
    farthest = _farthest(bench, prober, TRIES) or _farthest(bench, prober, SHARE_TRIES)
    if not farthest:
        return Ahead(0, 1.0)
    share = prober.share(_way(farthest))
    if share < OFTEN:
        farthest = max(farthest, _farthest(bench, prober, SHARE_TRIES))
        share = prober.share(_way(farthest))
    there = _there(bench, prober, farthest)
    prefetch = Ahead(
        farthest, share, _overwrites(prober), _after_hit(prober, segments, farthest, share, there)
    )
    if medium and rotation and rotation.has_phase:
        turn = round(rotation.period_ns / medium.slowest_ns)
        reach = _reach(bench, prober, prefetch, there, turn, rotation.period_ns)
        prefetch = replace(prefetch, reach=reach)
    return prefetch


def _after_hit(prober: Prober, segments: Segments, farthest: int, share: float, there: int) -> str:
    if segments.number > 1 and sum(prober.returned(there) for _ in range(TRIES)) > TRIES / 2:
        return "return"
    return "go on" if _goes_on(prober, farthest, share) else "stop"


def _overwrites(prober: Prober) -> bool:
    return sum(prober.first_is_held() for _ in range(TRIES)) <= TRIES - 2


def _there(bench: Bench, prober: Prober, farthest: int) -> int:
    """Return how many sectors are already prefetched when a read completes: many, if the bus is
    slower than the medium.
    """
    draws = bench.random.getstate()
    low, high = -1, 0
    while high < farthest and prober.is_there(high):
        low, high = high, 2 * high + 1
    there = first(lambda distance: not prober.is_there(distance), low, high)
    bench.random.setstate(draws)
    return there


def _reach(
    bench: Bench, prober: Prober, prefetch: Ahead, there: int, turn: int, period_ns: float
) -> int:
    """Return how many sectors ahead a read may begin and still wait for the prefetch.

    The result is at most the measured length of a prefetch, or a rotation if that is longer: a
    stream's prefetch may continue much farther, but a read that waits for it takes long.
    """
    draws = bench.random.getstate()
    near = _near(prober, there, turn, period_ns)
    bench.random.setstate(draws)
    if near is not None:
        return near
    seen = not prefetch.to_track_end and prefetch.sectors >= MORE_THAN_A_TURN * turn
    if not seen or prober.waits(prefetch.sectors, period_ns):
        return max(turn, prefetch.sectors)
    return first(lambda distance: not prober.waits(distance, period_ns), turn, prefetch.sectors)


def _near(prober: Prober, there: int, turn: int, period_ns: float) -> int | None:
    """Return how many sectors ahead a read may begin and still complete in the same rotation.

    A drive that seeks instead just misses the sector and needs another rotation.  Return 0 if even
    the next sector is missed, and None if no near sector is missed.
    """
    if not there and prober.misses_the_next(period_ns):
        return 0
    farther = 1
    while farther < turn / 4:
        if not prober.comes_by(there + farther, period_ns):
            low = farther // 2
            late = first(lambda each: not prober.comes_by(there + each, period_ns), low, farther)
            return late if late - 1 > there // 2 else 1  # tracks differ in length
        farther *= 2
    return None


def _goes_on(prober: Prober, farthest: int, share: float) -> bool:
    """Return whether a hit makes the prefetch continue beyond its own limit, or beyond the track's
    end if that is the limit.
    """
    if share < OFTEN:
        distance, free = _way(farthest), share
    else:
        distance, free = farthest + A_READ // 2, 0.0
    resumed = sum(prober.resumed_at(distance) for _ in range(SHARE_TRIES // 2))
    return resumed > SHARE_TRIES // 2 * (1 + free) / 2


def _farthest(bench: Bench, prober: Prober, tries: int) -> int:
    """Return the longest distance at which reads hit."""
    low, high = 0, 1
    while prober.ever(high, tries):
        low, high = high, 2 * high
        if high > min(FARTHEST, bench.capacity_sectors // 16):
            return low
    while high - low > 1:
        middle = (low + high) // 2
        if prober.ever(middle, tries):
            low = middle
        else:
            high = middle
    return low


def findings(
    prefetch: Ahead | None, size: int | None, track_sectors: float | None
) -> list[Finding]:
    """Convert to findings; `size` is a segment's size."""
    if not prefetch or not prefetch.sectors:
        return [not_seen(AHEAD_KEY, "nothing behind a read is ever held")]
    limit, how = prefetch.limit(track_sectors), f"{TRIES} tries a step"
    share = f"{prefetch.share:.0%} of {SHARE_TRIES} tries hit at three quarters of the way"
    sectors: int | str = limit or TO_TRACK_END
    if limit and size and limit + A_READ >= size:
        sectors, how = size, "the segment's end stops it"
    return [
        Finding(AHEAD_KEY, sectors, f"{how}; {share}"),
        Finding(
            KEEPS_KEY,
            "ahead" if prefetch.overwrites else "request",
            f"{TRIES} tries to read the same place again, later",
        ),
        Finding(
            HIT_KEY,
            prefetch.after_hit,
            f"{SHARE_TRIES // 2} tries behind a hit, {TRIES} where the arm had left",
        ),
        _reached(prefetch.reach),
    ]


def _reached(reach: int | None) -> Finding:
    if reach is None:
        return not_seen(REACH_KEY, "no rotational latency")
    confidence = "reads farther ahead lose or save a turn, or are beyond the prefetch seen"
    return Finding(REACH_KEY, reach, confidence)
