# SPDX-License-Identifier: MIT
"""Requests drawn for a scheduler, the order in which it serves them, and a drawing of that order.

Two schedulers that are given the same arrivals have the same queue until they first choose
differently.  So the first difference from a reference is the first wrong choice, and it can be
drawn: the head's way until then, the choice, and what was expected.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from understudy_devices.course.draws import Draws
from understudy_devices.course.result import Picture
from understudy_devices.native.drive import Drive
from understudy_devices.native.simulation import Rows, Simulation
from understudy_devices.native.simulator import Answer

CAPACITY = 2**21
SERVICE_NS, FULL_SEEK_NS = 1_000_000, 5_000_000
GAP_NS_MOST = 6_000_000
COARSE = 8  # places on the disk where ties are drawn
TIED = 8  # sectors of each request there
MARGIN = 128
SHOWN = 16  # picks before the wrong one
WIDTH, ROW, LEFT = 640, 18, 90
LABEL, LETTER = 11, 7  # the height of a number in the drawing, and the width of a digit at most
COLUMNS = 56


@dataclass(frozen=True)
class Requests:
    """Requests of one process, in the order of arrival."""

    gap_ns: tuple[int, ...]
    sector: tuple[int, ...]
    sectors: tuple[int, ...]
    op: tuple[int, ...]

    def simulation(self, scheduler: str) -> Simulation:
        """Return the simulation of a disk whose service time grows with the distance."""
        count = len(self.sector)
        rows = Rows(
            first=np.array([0, count]),
            think_ns=np.array(self.gap_ns),
            sector=np.array(self.sector),
            sectors=np.array(self.sectors),
            op=np.array(self.op),
            owner=np.zeros(count, np.uint32),
        )
        return Simulation(
            workload="rows-open",
            scheduler=scheduler,
            device=Drive.linear(CAPACITY, SERVICE_NS, FULL_SEEK_NS),
            capacity_sectors=CAPACITY,
            requests=count,
            rows=rows,
        )


def drawn(draws: Draws, count: int, *, ties: bool, together: int) -> Requests:
    """Draw requests: `together` of them arrive at once, the others while these are served.

    With `ties`, requests lie at few places, which are as far above the head as below it.  Without,
    a third of them lie near another request, so that it matters where exactly the head is.
    """

    def number(label: str, limit: int) -> list[int]:
        return [draws.below(f"{label} {each}", limit) for each in range(count)]

    gaps = [0 if each < together else gap for each, gap in enumerate(number("gap", GAP_NS_MOST))]
    sectors, lengths = _tied(number) if ties else _apart(number)
    writes = tuple(int(each == 0) for each in number("write", 4))
    return Requests(tuple(gaps), tuple(sectors), tuple(lengths), writes)


Number = Callable[[str, int], list[int]]


def _tied(number: Number) -> tuple[list[int], list[int]]:
    """Return sectors and lengths: the head ends 8 sectors above one place and below the next."""
    sides = number("side", 2)
    places = [
        CAPACITY // COARSE * place + 2 * TIED * side
        for place, side in zip(number("place", COARSE), sides, strict=True)
    ]
    return places, [TIED] * len(places)


def _apart(number: Number) -> tuple[list[int], list[int]]:
    """Return sectors and lengths."""
    places = [MARGIN + place for place in number("place", CAPACITY - 2 * MARGIN)]
    near = number("near", 3)
    beside = number("beside", 2 * MARGIN)
    for each in range(1, len(places)):
        if not near[each]:
            places[each] = places[each - 1] - MARGIN + beside[each]
    limit = CAPACITY - MARGIN
    return [min(max(place, 0), limit) for place in places], [
        1 + each for each in number("long", 64)
    ]


@dataclass(frozen=True)
class Pick:
    """A choice: the request's number in the order of arrival, and where it lies."""

    number: int
    sector: int
    sectors: int
    at_ns: int


def order(answer: Answer) -> list[Pick]:
    """Return the choices in their order."""
    rows = answer.rows
    by_time = np.argsort(rows["dispatch_ns"], kind="stable")
    by_arrival = {int(each): number for number, each in enumerate(sorted(rows["request_id"]), 1)}
    return [
        Pick(
            by_arrival[int(rows["request_id"][row])],
            int(rows["sector"][row]),
            int(rows["sectors"][row]),
            int(rows["dispatch_ns"][row]),
        )
        for row in by_time
    ]


@dataclass(frozen=True)
class Difference:
    """The first wrong choice: the choices before it, the head, what was expected and seen."""

    before: tuple[Pick, ...]
    head: int
    expected: Pick
    seen: Pick
    waiting: tuple[tuple[int, int], ...]
    """The requests that were pending: number and sector."""

    @property
    def is_tie(self) -> bool:
        """Return whether both choices lie equally far from the head."""
        return abs(self.expected.sector - self.head) == abs(self.seen.sector - self.head)

    @property
    def lines(self) -> tuple[str, ...]:
        """Return the difference in words."""
        pending = ", ".join(f"{number} at {sector:,}" for number, sector in self.waiting[:12])
        more = f" and {len(self.waiting) - 12} more" if len(self.waiting) > 12 else ""
        return (
            f"choice {len(self.before) + 1}: the head is at sector {self.head:,}; pending requests "
            f"(number in the order of arrival, sector): {pending}{more}",
            f"expected: request {self._words(self.expected)}",
            f"seen: request {self._words(self.seen)}",
        )

    def _words(self, pick: Pick) -> str:
        way = pick.sector - self.head
        side = "below" if way < 0 else "above"
        return f"{pick.number} at sector {pick.sector:,}, {abs(way):,} {side} the head"

    def picture(self, title: str) -> Picture:
        """Draw the head's way, downwards in time."""
        return Picture(title, self._svg(title), self._text())

    def _points(self) -> list[Pick]:
        return list(self.before[-SHOWN:])

    def _text(self) -> str:
        first = len(self.before) - len(self._points()) + 1
        rows = [
            f"{first + each:5} {_mark(pick.sector, 'o')} {pick.sector:>10,}"
            for each, pick in enumerate(self._points())
        ]
        waiting = "".join(
            "." if mark == " " else mark
            for mark in _marks([(sector, "?") for _, sector in self.waiting] + [(self.head, "H")])
        )
        return "\n".join(
            [
                *rows,
                f"queue {waiting.replace('.', ' ')}",
                f"{'right':>5} {_mark(self.expected.sector, 'E')} {self.expected.sector:>10,}",
                f"{'seen':>5} {_mark(self.seen.sector, 'S')} {self.seen.sector:>10,}",
            ]
        )

    def _svg(self, title: str) -> str:
        points = self._points()
        first = len(self.before) - len(points) + 1
        labels = list(_labels(self.waiting))
        above = LABEL * max((level for _, level, _ in labels), default=0)
        height = ROW * (len(points) + 4) + above
        ways = [(LEFT + _x(pick.sector), ROW * (row + 1)) for row, pick in enumerate(points)]
        last = ways[-1] if ways else (LEFT + _x(self.head), ROW)
        below = ROW * (len(points) + 2) + above
        width = LEFT + WIDTH + 20
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="11" role="img">',
            f"<title>{escape(title)}</title>",
            f'<line x1="{LEFT}" y1="4" x2="{LEFT + WIDTH}" y2="4" stroke="#888"/>',
        ]
        if ways:
            line = " ".join(f"{x},{y}" for x, y in ways)
            parts.append(
                f'<polyline points="{line}" fill="none" stroke="#456" stroke-width="1.5"/>'
            )
        for row, ((x, y), pick) in enumerate(zip(ways, points, strict=True)):
            parts.append(f'<text x="4" y="{y + 4}">choice {first + row}</text>')
            parts.append(f'<circle cx="{x}" cy="{y}" r="3" fill="#456"/>')
            parts.append(f'<text x="{x + 6}" y="{y - 3}" fill="#666">{pick.number}</text>')
        parts.append(f'<text x="4" y="{below + 4}">pending</text>')
        for _, sector in self.waiting:
            x = LEFT + _x(sector)
            parts.append(f'<circle cx="{x}" cy="{below}" r="3" fill="none" stroke="#888"/>')
        for x, level, words in labels:
            y = below - 5 - LABEL * level
            parts.append(f'<text x="{x}" y="{y}" fill="#666">{words}</text>')
        for pick, colour, dash, words in (
            (self.expected, "#080", "", "expected"),
            (self.seen, "#c00", ' stroke-dasharray="5 3"', "seen"),
        ):
            x = LEFT + _x(pick.sector)
            parts.append(
                f'<line x1="{last[0]}" y1="{last[1]}" x2="{x}" y2="{below}" stroke="{colour}" '
                f'stroke-width="2"{dash}/>'
            )
            down = below + (15 if words == "expected" else 28)
            parts.append(f'<text x="{x - 20}" y="{down}" fill="{colour}">{words}</text>')
        return "".join([*parts, "</svg>"])


def difference(
    requests: Requests, expected: Sequence[Pick], seen: Sequence[Pick]
) -> Difference | None:
    """Return the first difference between two orders of the same requests."""
    pairs = enumerate(zip(expected, seen, strict=True))
    at = next((each for each, (one, other) in pairs if one.number != other.number), None)
    if at is None:
        return None
    before = tuple(seen[:at])
    served = {pick.number for pick in before}
    arrival_ns = np.cumsum(requests.gap_ns)
    now_ns = max(expected[at].at_ns, seen[at].at_ns)
    waiting = tuple(
        (number, sector)
        for number, sector in enumerate(requests.sector, 1)
        if number not in served and arrival_ns[number - 1] <= now_ns
    )
    head = before[-1].sector + before[-1].sectors if before else 0
    return Difference(before, head, expected[at], seen[at], waiting)


def _x(sector: int) -> int:
    return sector * WIDTH // CAPACITY


def _labels(waiting: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int, str]]:
    """Yield the numbers of pending requests: x, level and text, so that none covers another.

    Requests at one place share a text; a text that has no room goes onto a higher level.
    """
    at: defaultdict[int, list[int]] = defaultdict(list)
    for number, sector in waiting:
        at[LEFT + _x(sector) - 3].append(number)
    ends: list[int] = []  # of each level's last text
    for x in sorted(at):
        words = ", ".join(map(str, at[x]))
        level = next((each for each, end in enumerate(ends) if end <= x), len(ends))
        ends[level : level + 1] = [x + LETTER * (len(words) + 1)]
        yield x, level, words


def _column(sector: int) -> int:
    return min(COLUMNS - 1, sector * COLUMNS // CAPACITY)


def _marks(places: Sequence[tuple[int, str]]) -> str:
    row = [" "] * COLUMNS
    for sector, mark in places:
        row[_column(sector)] = mark
    return "".join(row)


def _mark(sector: int, mark: str) -> str:
    return _marks([(sector, mark)])
