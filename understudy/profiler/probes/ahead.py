# SPDX-License-Identifier: MIT
"""Reading ahead: how far it goes, what stops it, and what makes it go on.

A place that was never read is read, the drive is left alone for as long as the platter needs,
and a sector farther on is read: it hits or it doesn't, and each try costs a new place.  Where
a track ends differs from place to place: if that stops it, the share that hits falls with
the distance instead of at once.  In the same way, at new places:

* the place itself is read again, when what follows may have taken its room (overwrites);
* a hit comes in between: in sequence once reading ahead has stopped (does it go on?), or at a
  place that the arm had left (does it return?);
* a read comes at once, to where the medium has come meanwhile (there), a little farther ahead, or
  so far that it had better not wait for what lies between (reach).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from understudy.device.drive_buffer import TO_TRACK_END
from understudy.profiler.findings.finding import Finding, not_seen
from understudy.profiler.findings.statistics import first
from understudy.profiler.probes.hits import Hits
from understudy.profiler.probes.medium import Medium
from understudy.profiler.probes.rotation import Rotation
from understudy.profiler.probes.segments import A_READ, Segments
from understudy.profiler.targets.bench import Bench

TRIES = 8
SHARE_TRIES = 40
OFTEN = 0.93  # of tries: if less hit at three quarters of the way, tracks' ends stop it
PAUSE_NS = 60_000_000
FARTHEST = 2**18  # sectors
NEARLY_A_TRACK = 0.75
WAITS = 3
MORE_THAN_A_TURN = 1.7
SLOW_SECTOR_NS = 50_000.0  # where the medium's rate was not seen
AHEAD_KEY, KEEPS_KEY = "buffer.read_ahead_sectors", "buffer.segment_keeps"
HIT_KEY, REACH_KEY = "buffer.after_hit", "buffer.read_reach_sectors"


@dataclass(frozen=True)
class Ahead:
    """After a read of A_READ sectors."""

    sectors: int
    share: float
    overwrites: bool = False
    after_hit: str = "go on"
    reach: int | None = None

    @property
    def to_track_end(self) -> bool:
        """Whether tracks' ends stop it."""
        return self.sectors > 0 and self.share < OFTEN

    @property
    def track_sectors(self) -> int:
        """If tracks' ends stop it: a read is that near to one with the chance that it missed."""
        return round(_way(self.sectors) / (1 - self.share))

    def limit(self, track_sectors: float | None) -> int | None:
        """Its own limit; None: it goes to every track's end."""
        if not self.to_track_end:
            return self.sectors
        track = track_sectors or self.track_sectors
        return self.sectors if self.sectors < NEARLY_A_TRACK * track else None


def _way(farthest: int) -> int:
    """Three quarters of it."""
    return max(1, 3 * farthest // 4)


class Prober:
    """Tries it at new places."""

    def __init__(self, bench: Bench, hits: Hits, medium: Medium | None) -> None:
        """`medium`: how fast it reads, if that is known."""
        self._bench = bench
        self._hits = hits
        self._medium = medium
        self._sector_ns = medium.slowest_ns if medium else SLOW_SECTOR_NS

    def hits_at(self, distance: int, meanwhile: Callable[[], object] = lambda: None) -> bool:
        """Whether it has come so far, if nothing but `meanwhile` happens."""
        place = self._bench.place(A_READ + distance + 1)
        self._bench.read(place, A_READ)
        meanwhile()
        self._bench.wait(PAUSE_NS + 3 * distance * self._sector_ns)
        return self._hits.is_hit(self._bench.read(place + A_READ + distance - 1))

    def first_is_held(self) -> bool:
        """Whether what was asked for outlives what is read on."""
        place = self._bench.place(A_READ)
        self._bench.read(place, A_READ)
        self._bench.wait(PAUSE_NS + FARTHEST * self._sector_ns)
        return self._hits.is_hit(self._bench.read(place))

    def resumed_at(self, distance: int) -> bool:
        """Whether it has come so far if a read in sequence hits once it has stopped."""
        place = self._bench.place(2 * A_READ + distance)
        self._bench.read(place, A_READ)
        self._bench.wait(PAUSE_NS + 3 * distance * self._sector_ns)
        self._bench.read(place + A_READ, A_READ)
        self._bench.wait(PAUSE_NS + 3 * distance * self._sector_ns)
        return self._hits.is_hit(self._bench.read(place + A_READ + distance - 1))

    def returned(self, there: int) -> bool:
        """Whether it reads on behind a place that it had left, once that is hit again; `there`
        sectors behind it had come by then."""
        behind = max(3 * A_READ, A_READ + 2 * there)
        place = self._bench.place(behind + A_READ)
        self._bench.read(place, A_READ)
        self._bench.read(self._bench.place(A_READ), A_READ)
        self._bench.wait(PAUSE_NS + FARTHEST * self._sector_ns)
        self._bench.read(place, A_READ)
        self._bench.wait(PAUSE_NS)
        return self._hits.is_hit(self._bench.read(place + behind))

    def is_there(self, distance: int) -> bool:
        """Whether a read so little ahead hits at once: the bus was busy for so long."""
        return self._mostly(distance, self._hits.is_hit)

    def comes_by(self, distance: int, period_ns: float) -> bool:
        """Whether a read so little ahead of what is being read comes in the same turn."""
        return self._mostly(distance, lambda service_ns: service_ns < period_ns / 2)

    def misses_the_next(self, period_ns: float) -> bool:
        """Whether the very next sector is missed, wherever tracks end."""
        return self._number(0, lambda service_ns: service_ns >= period_ns / 2) == TRIES

    def _mostly(self, distance: int, is_so: Callable[[int], bool]) -> bool:
        return self._number(distance, is_so) > TRIES / 2

    def _number(self, distance: int, is_so: Callable[[int], bool]) -> int:
        """Of tries, by how long a read takes right after one so little before it."""
        so = 0
        for _ in range(TRIES):
            place = self._bench.place(A_READ + distance + 1)
            self._bench.read(place, A_READ)
            so += is_so(self._bench.read(place + A_READ + distance))
        return so

    def waits(self, distance: int, period_ns: float) -> bool:
        """Whether a read so far ahead of what is being read waits for it: else it saves turns."""
        assert self._medium
        waited = 0
        for _ in range(WAITS):
            place = self._bench.place(A_READ + distance + 1)
            there_ns = distance * self._medium.sector_ns_at(place / self._bench.capacity_sectors)
            self._bench.read(place, A_READ)
            waited += self._bench.read(place + A_READ + distance) > there_ns - period_ns / 2
        return waited > WAITS / 2

    def share(self, distance: int, tries: int = SHARE_TRIES) -> float:
        """Of tries, how many."""
        return sum(self.hits_at(distance) for _ in range(tries)) / tries

    def ever(self, distance: int, tries: int) -> bool:
        """In some of them; a single one may be chance."""
        return sum(self.hits_at(distance) for _ in range(tries)) >= 2


def measure(
    bench: Bench,
    hits: Hits,
    segments: Segments,
    medium: Medium | None,
    rotation: Rotation | None,
) -> Ahead:
    """How far; 0: not at all."""
    prober = Prober(bench, hits, medium)
    farthest = _farthest(bench, prober, TRIES) or _farthest(bench, prober, SHARE_TRIES)
    if not farthest:
        return Ahead(0, 1.0)
    share = prober.share(_way(farthest))
    if share < OFTEN:
        farthest = max(farthest, _farthest(bench, prober, SHARE_TRIES))
        share = prober.share(_way(farthest))
    there = _there(bench, prober, farthest)
    found = Ahead(
        farthest, share, _overwrites(prober), _after_hit(prober, segments, farthest, share, there)
    )
    if medium and rotation and rotation.has_phase:
        turn = round(rotation.period_ns / medium.slowest_ns)
        found = replace(found, reach=_reach(bench, prober, found, there, turn, rotation.period_ns))
    return found


def _after_hit(prober: Prober, segments: Segments, farthest: int, share: float, there: int) -> str:
    if segments.number > 1 and sum(prober.returned(there) for _ in range(TRIES)) > TRIES / 2:
        return "return"
    return "go on" if _goes_on(prober, farthest, share) else "stop"


def _overwrites(prober: Prober) -> bool:
    return sum(prober.first_is_held() for _ in range(TRIES)) <= TRIES - 2


def _there(bench: Bench, prober: Prober, farthest: int) -> int:
    """How many sectors behind a read have come when it is complete: many, if the bus is slower
    than the medium."""
    draws = bench.random.getstate()
    low, high = -1, 0
    while high < farthest and prober.is_there(high):
        low, high = high, 2 * high + 1
    there = first(lambda distance: not prober.is_there(distance), low, high)
    bench.random.setstate(draws)
    return there


def _reach(
    bench: Bench, prober: Prober, found: Ahead, there: int, turn: int, period_ns: float
) -> int:
    """No farther than it has been seen to read ahead: in a stream it may go on far beyond, and
    who waits for that waits long."""
    draws = bench.random.getstate()
    near = _near(prober, there, turn, period_ns)
    bench.random.setstate(draws)
    if near is not None:
        return near
    seen = not found.to_track_end and found.sectors >= MORE_THAN_A_TURN * turn
    if not seen or prober.waits(found.sectors, period_ns):
        return max(turn, found.sectors)
    return first(lambda distance: not prober.waits(distance, period_ns), turn, found.sectors)


def _near(prober: Prober, there: int, turn: int, period_ns: float) -> int | None:
    """How many of the sectors that come next a read may begin with.

    A drive that does not wait there has just missed the sector once it has understood what
    to do, and takes a turn more, be it the very next one.  None: nothing near takes that, and the
    rest of a turn makes no difference.
    """
    if not there and prober.misses_the_next(period_ns):
        return 0
    farther = 1
    while farther < turn / 4:
        if not prober.comes_by(there + farther, period_ns):
            low = farther // 2
            late = first(lambda each: not prober.comes_by(there + each, period_ns), low, farther)
            return late if late - 1 > there // 2 else 1  # tracks are not alike
        farther *= 2
    return None


def _goes_on(prober: Prober, farthest: int, share: float) -> bool:
    """Past its own limit, or where mostly a track's end has stopped it."""
    if share < OFTEN:
        distance, free = _way(farthest), share
    else:
        distance, free = farthest + A_READ // 2, 0.0
    resumed = sum(prober.resumed_at(distance) for _ in range(SHARE_TRIES // 2))
    return resumed > SHARE_TRIES // 2 * (1 + free) / 2


def _farthest(bench: Bench, prober: Prober, tries: int) -> int:
    """The longest distance at which it ever hits."""
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


def findings(found: Ahead | None, size: int | None, track_sectors: float | None) -> list[Finding]:
    """In the profile's words; `size` of a segment."""
    if not found or not found.sectors:
        return [not_seen(AHEAD_KEY, "what follows a read is never held")]
    limit, said = found.limit(track_sectors), f"{TRIES} tries a step"
    share = f"{found.share:.0%} of {SHARE_TRIES} tries hit at three quarters of the way"
    sectors: int | str = limit or TO_TRACK_END
    if limit and size and limit + A_READ >= size:
        sectors, said = size, "its end stops it"
    return [
        Finding(AHEAD_KEY, sectors, f"{said}; {share}"),
        Finding(
            KEEPS_KEY,
            "ahead" if found.overwrites else "request",
            f"{TRIES} tries to read the same place again, later",
        ),
        Finding(
            HIT_KEY,
            found.after_hit,
            f"{SHARE_TRIES // 2} tries to go on behind a hit, {TRIES} behind a place it had left",
        ),
        _reached(found.reach),
    ]


def _reached(reach: int | None) -> Finding:
    if reach is None:
        return not_seen(REACH_KEY, "nothing waits for a platter")
    said = "farther ahead reads lose a turn, or save one, or it was not seen to read"
    return Finding(REACH_KEY, reach, said)
