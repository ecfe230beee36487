# SPDX-License-Identifier: MIT
"""The read cache's segments: how many, which one is given up, how long each is.

Many places are read without a pause and then again, the last one first: as many hit as
there are segments, for a hit in the newest moves none out (Worthington and others 1995,
section 3.4).  After a stream that is longer than a segment, and time to read ahead, one span
hits, and it is a segment long; both its ends are found by halving, at one place, which
is forgotten each time.

What a drive discards once it was sent is not held: places are asked for by what lies behind
them, and the span is what was read ahead.
"""

from dataclasses import dataclass, replace
from itertools import takewhile

from understudy.profiler import held
from understudy.profiler.found import Finding, not_seen
from understudy.profiler.held import A_READ, Held
from understudy.profiler.hits import Hits
from understudy.profiler.statistics import first, median
from understudy.profiler.target import Bench

MOST = 256  # SEGMENTS_MAX in understudy/device/profile.py
TRIES = 5
LARGEST = 2**18  # sectors: 128 MiB
SURE = 2  # places of the same size
PLACES = 4  # at most
STEPS = 4  # to each double distance, in search of what is held
MOST_BEHIND = 4  # times what is read ahead of a single read
PAUSE_NS = 100_000_000
NUMBER_KEY, RULE_KEY, SIZE_KEY = "buffer.segments", "buffer.replace", "buffer.segment_sectors"
HOLDS_SAID = "at least: what was read and read ahead; no end was seen"
RULES = {True: "least recently used", False: "first in first out"}


@dataclass(frozen=True)
class Segments:
    """None: not seen; `holds`: what one has been seen to hold, if its size was not."""

    number: int
    agree: int
    least_recently_used: bool | None = None
    sectors: int | None = None
    holds: int = 0
    sure_of_size: bool = False
    discards: bool = False

    def findings(self) -> list[Finding]:
        """In the profile's words."""
        tries = f"{self.agree} of {TRIES} tries{', or more' if self.number == MOST else ''}"
        sure = f"exact, at {SURE} places" if self.sure_of_size else "places differ, the longest"
        if self.discards:
            sure += "; of what is read ahead, and no more is ever held"
        size = not_seen(SIZE_KEY, "nobody has looked for it")
        if self.sectors or self.holds:
            said = sure if self.sectors else HOLDS_SAID
            size = Finding(SIZE_KEY, self.sectors or self.holds, said)
        found = [Finding(NUMBER_KEY, self.number, tries), size]
        if self.least_recently_used is None:
            return [*found, not_seen(RULE_KEY, "one segment has no order")]
        return [
            *found,
            Finding(RULE_KEY, RULES[self.least_recently_used], f"most of {TRIES} tries"),
        ]


def measure(bench: Bench, hits: Hits | None) -> Segments | None:
    """How many, and which one is given up."""
    if not hits:
        return None
    counts = [_count(bench, hits) for _ in range(TRIES)]
    number = round(median(counts))
    found = Segments(number, counts.count(number), discards=hits.discards)
    if number < 2:
        return found
    used = [_outlives_its_turn(bench, hits, number) for _ in range(TRIES)]
    return replace(found, least_recently_used=sum(used) > TRIES / 2)


def _read_places(bench: Bench, hits: Hits, number: int) -> list[Held]:
    places = [Held(bench, hits, place) for place in held.places(bench, hits, number)]
    for place in places:
        place.read()
    return places


def _count(bench: Bench, hits: Hits) -> int:
    """How many of the last places hit."""
    number = 16
    while number <= MOST:
        for found, place in enumerate(reversed(_read_places(bench, hits, number))):
            if not place.is_held():
                return found
        number *= 2  # all of them
    return MOST


def _outlives_its_turn(bench: Bench, hits: Hits, number: int) -> bool:
    """Is the oldest one kept for a hit, when another place is read?"""
    places = _read_places(bench, hits, number)
    if not places:
        return False
    oldest = places[0]
    oldest.is_held()
    bench.read(bench.place(A_READ), A_READ)
    return oldest.is_held()


def with_size(bench: Bench, hits: Hits, found: Segments, sector_ns: float, ahead: int) -> Segments:
    """The same, with how long a segment is; `ahead`: sectors that are read ahead of a read."""
    sizes: list[int] = []
    for _ in range(PLACES):
        size = _Span(bench, hits, found, sector_ns, ahead).size()
        if not size:
            continue
        sizes.append(size)
        if sizes.count(size) == SURE:
            return replace(found, sectors=size, sure_of_size=True)
    return replace(found, sectors=max(sizes, default=None))


class _Span:
    """What a long stream leaves in the cache, at one place."""

    def __init__(
        self, bench: Bench, hits: Hits, segments: Segments, sector_ns: float, ahead: int
    ) -> None:
        self._bench = bench
        self._hits = hits
        self._number = segments.number
        self._sector_ns = sector_ns
        self._ahead = ahead
        self._largest = min(LARGEST, bench.capacity_sectors // 16)
        self._place = 1 + bench.place(4 * self._largest)

    def size(self) -> int | None:
        """Of the span, sectors."""
        length = 64
        while self._holds(length, 0):
            length *= 2
            if length > self._largest:
                return None
        length *= 2
        inside = self._inside(length)
        if inside is None:
            return None
        step = 1
        while self._holds(length, inside + step):
            step *= 2
            if step > self._largest:
                return None
        low = first(lambda at: self._holds(length, at), -1, inside)
        high = first(lambda at: not self._holds(length, at), inside, inside + step)
        return high - low

    def _inside(self, length: int) -> int | None:
        """A sector that is held: the last one, if the drive does not prefetch, or one behind.

        A prefetch to a track's end, or the next one's, may have overwritten all that was asked
        for, and more.
        """
        behind = (round(2 ** (n / STEPS)) for n in range(STEPS * self._largest.bit_length()))
        farthest = min(MOST_BEHIND * self._ahead, self._largest)
        tried = (-1, 0, *takewhile(lambda at: at <= farthest, behind))
        return next((length + at for at in tried if self._holds(length, length + at)), None)

    def _holds(self, length: int, at: int) -> bool:
        """After a stream of that length: that sector?"""
        self._bench.elsewhere(self._number + 2)
        part = max(A_READ, length // 64)
        for begin in range(0, length, part):
            self._bench.read(self._place + begin, part)
        passes = at if self._hits.discards else length
        self._bench.wait(PAUSE_NS + 2 * passes * self._sector_ns)
        return self._hits.is_hit(self._bench.read(self._place + at))


def findings(found: Segments | None) -> list[Finding]:
    """In the profile's words."""
    if found and found.number:
        return found.findings()
    return [not_seen(NUMBER_KEY, "nothing that was read is held")]
