# SPDX-License-Identifier: MIT
"""The classic schedulers against their definitions, told naively a second time.

A random program of arrivals, merges and questions is played to a reference in Python,
then replayed to the scheduler in core/: both must pick the same requests.  The arms of
SCAN and C-SCAN move here sector by sector, one in each nanosecond.
"""

import copy
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from understudy.native import replay

CAPACITY = 40
LONG = 5 * CAPACITY  # more than any trip of an arm


@dataclass
class Request:
    id: int
    sector: int
    sectors: int


class Reference:
    """Pending requests and a head; a subclass chooses among them."""

    def __init__(self, capacity: int = CAPACITY) -> None:
        self.capacity = capacity
        self.pending: list[Request] = []
        self.head = 0
        self.down = False

    def advance(self, now: int) -> None:
        """Time goes by."""

    def choose(self) -> Request | None:
        """The request to serve now."""
        raise NotImplementedError

    def pick(self, now: int) -> int | None:
        """What a scheduler must answer."""
        self.advance(now)
        chosen = self.choose() if self.pending else None
        if chosen is None:
            return None
        self.pending.remove(chosen)
        self.head = chosen.sector + chosen.sectors
        return chosen.id

    def distance(self, request: Request) -> int:
        return abs(request.sector - self.head)

    def is_behind(self, request: Request) -> bool:
        way = request.sector - self.head
        return way > 0 if self.down else way < 0


class Fcfs(Reference):
    def choose(self) -> Request:
        return min(self.pending, key=lambda request: request.id)


class Sstf(Reference):
    def choose(self) -> Request:
        return min(self.pending, key=lambda r: (self.distance(r), -r.sector, r.id))


class Look(Reference):
    def choose(self) -> Request:
        if all(self.is_behind(request) for request in self.pending):
            self.down = not self.down
        ahead = [request for request in self.pending if not self.is_behind(request)]
        return min(ahead, key=lambda r: (self.distance(r), r.id))


class Clook(Reference):
    def choose(self) -> Request:
        return min(self.pending, key=lambda r: (r.sector < self.head, r.sector, r.id))


class Vr(Reference):
    def __init__(self, r_milli: int) -> None:
        super().__init__()
        self.turn_sectors = self.capacity * r_milli // 1000

    def choose(self) -> Request:
        def key(request: Request) -> tuple[int, int, int]:
            turn = self.turn_sectors if self.is_behind(request) else 0
            return self.distance(request) + turn, -request.sector, request.id

        chosen = min(self.pending, key=key)
        if self.is_behind(chosen):
            self.down = not self.down
        return chosen


class Scan(Reference):
    """The arm leaves the head for the edge ahead, turns, and comes back."""

    def __init__(self, capacity: int = CAPACITY) -> None:
        super().__init__(capacity)
        self.now = 0
        self.arm = 0
        self.leg: str | None = None

    def advance(self, now: int) -> None:
        for _ in range(now - self.now):
            if self.leg and not any(self.meets(request) for request in self.pending):
                self.arm += self.step()
                self.corner()
        self.now = now

    def meets(self, request: Request) -> bool:
        return request.sector == self.arm

    def step(self) -> int:
        return -1 if self.down else 1

    def corner(self) -> None:
        """What happens where the arm is now."""
        if self.leg == "out" and self.arm == (0 if self.down else self.capacity):
            self.down = not self.down
            self.leg = "back"
        if self.leg == "back" and self.arm == self.head:
            self.leg = None

    def ahead(self) -> list[Request]:
        if self.down:
            return [request for request in self.pending if request.sector <= self.arm]
        return [request for request in self.pending if request.sector >= self.arm]

    def arms_way(self, request: Request) -> int:
        return abs(request.sector - self.arm)

    def choose(self) -> Request | None:
        if self.leg is None:
            self.arm = self.head
            if not self.ahead():
                self.leg = "out"
                self.corner()
        if not self.ahead():
            return None
        chosen = min(self.ahead(), key=lambda r: (self.arms_way(r), r.id))
        if self.arms_way(chosen) > self.distance(chosen):
            return None
        self.leg = None
        return chosen


class Cscan(Scan):
    """The arm leaves the head for the upper edge, returns to 0, and rises to the head."""

    def meets(self, request: Request) -> bool:
        return self.leg != "return" and super().meets(request)

    def step(self) -> int:
        return -1 if self.leg == "return" else 1

    def corner(self) -> None:
        if self.leg == "out" and self.arm == self.capacity:
            self.leg = "return"
        if self.leg == "return" and self.arm == 0:
            self.leg = "rise"
        if self.leg == "rise" and self.arm == self.head:
            self.leg = None

    def ahead(self) -> list[Request]:
        return self.pending if self.leg == "return" else super().ahead()

    def arms_way(self, request: Request) -> int:
        if self.leg == "return":
            return self.arm + request.sector
        return super().arms_way(request)


@dataclass
class Program:
    """Rows for replay.replay, and what the reference picked."""

    rows: list[tuple[int, int, int, int]] = field(default_factory=list)
    asked: list[int] = field(default_factory=list)
    picked: list[int] = field(default_factory=list)
    waits: list[Reference | None] = field(default_factory=list)
    ids: set[int] = field(default_factory=set)


Step = tuple[str, int, int, int]
steps = st.lists(
    st.tuples(
        st.sampled_from(["arrive", "arrive", "ask", "ask", "grow", "vanish"]),
        st.integers(1, 50),
        st.integers(0, CAPACITY - 1),
        st.integers(1, 3),
    ),
    max_size=60,
)


def play(reference: Reference, program: Iterable[Step]) -> Program:
    """Let the reference live through the program, and serve all in the end.

    A merge takes the request back and says no time: what happened since the last call,
    happened without it.
    """
    played = Program()
    now = 0

    def change(request: Request, sectors: int) -> None:
        request.sectors = sectors
        played.rows.append((now, request.id, request.sector, sectors))

    def ask() -> None:
        picked = reference.pick(now)
        played.asked.append(now)
        played.picked.append(replay.NONE_PICKED if picked is None else picked)
        played.waits.append(copy.deepcopy(reference) if picked is None else None)

    for kind, gap, place, length in program:
        now += gap
        if kind == "ask":
            ask()
            continue
        if kind == "arrive":
            reference.advance(now)
            request = Request(len(played.rows), place, 0)
            reference.pending.append(request)
            played.ids.add(request.id)
            change(request, min(length, CAPACITY - place))
        elif reference.pending:
            request = reference.pending.pop(place % len(reference.pending))
            if kind == "vanish":
                played.ids.remove(request.id)
                change(request, 0)
            else:
                reference.advance(now)
                reference.pending.append(request)
                change(request, min(request.sectors + length, CAPACITY - request.sector))
    while reference.pending:
        now += LONG
        ask()
    return played


def replayed(scheduler: str, played: Program, **tunables: int) -> replay.Picks:
    time_ns, number, sector, sectors = zip(*played.rows, strict=True) if played.rows else [()] * 4
    zeros = [0] * len(played.rows)
    arrivals = replay.Arrivals(time_ns, number, sector, sectors, owner=zeros, op=zeros)
    return replay.replay(
        scheduler, arrivals, played.asked, tunables=tunables, capacity_sectors=CAPACITY
    )


def agree(scheduler: str, played: Program, **tunables: int) -> replay.Picks:
    picks = replayed(scheduler, played, **tunables)
    assert picks.id.tolist() == played.picked
    served = [picked for picked in played.picked if picked != replay.NONE_PICKED]
    assert sorted(served) == sorted(played.ids)
    return picks


@pytest.mark.parametrize(
    ("scheduler", "reference"),
    [("fcfs", Fcfs), ("sstf", Sstf), ("look", Look), ("clook", Clook)],
)
@given(program=steps)
def test_picks_are_the_definitions(
    scheduler: str, reference: type[Reference], program: list[Step]
) -> None:
    agree(scheduler, play(reference(), program))


@given(program=steps, r_milli=st.integers(0, 1000))
def test_vr_weighs_a_turn(program: list[Step], r_milli: int) -> None:
    agree("vr", play(Vr(r_milli), program), r_milli=r_milli)


@given(program=steps)
def test_the_ends_of_the_continuum(program: list[Step]) -> None:
    """V(0) is SSTF and V(1) is LOOK, tie by tie."""
    agree("vr", play(Sstf(), program), r_milli=0)
    agree("vr", play(Look(), program), r_milli=1000)


@given(program=steps)
def test_trips_that_take_no_time_change_nothing(program: list[Step]) -> None:
    agree("scan", play(Look(), program), full_seek_ns=0)
    agree("cscan", play(Clook(), program), full_seek_ns=0)


@pytest.mark.parametrize(("scheduler", "reference"), [("scan", Scan), ("cscan", Cscan)])
@given(program=steps)
def test_arms_go_to_the_edge(
    scheduler: str, reference: type[Reference], program: list[Step]
) -> None:
    """The same picks; and nobody wants to be asked later than he would answer."""
    played = play(reference(), program)
    picks = agree(scheduler, played, full_seek_ns=CAPACITY)
    for now, wake, waiting in zip(played.asked, picks.wake_ns.tolist(), played.waits, strict=True):
        if waiting is not None and waiting.pending:
            assert wake > now
            assert all(waiting.pick(instant) is None for instant in range(now, wake))


@given(
    rounds=st.lists(
        st.tuples(
            st.integers(0, 3), st.integers(0, 400), st.lists(st.integers(0, 500), min_size=12)
        ),
        max_size=12,
    ),
    age_permille=st.sampled_from((0, 10, 300, 1000)),
)
def test_sptf_takes_the_soonest_less_its_age(
    rounds: list[tuple[int, int, list[int]]], age_permille: int
) -> None:
    """Each round some arrive, time goes by, the host says what each would wait, one is picked."""
    calls: list[tuple[int, int, int, int]] = []  # now, kind, number, what the host says
    arrived: list[int] = []
    pending: list[int] = []
    wanted: list[int] = []
    now = 0
    for arriving, passing, waits in rounds:
        for number in range(len(arrived), len(arrived) + arriving):
            calls.append((now, replay.ADD, number, 0))
            arrived.append(now)
            pending.append(number)
        now += passing
        said = dict(zip(pending, waits * 3, strict=False))
        calls += [(now, replay.POSITIONING, number, ns) for number, ns in said.items()]
        calls.append((now, replay.NEXT, 0, 0))
        if not pending:
            continue
        aged = {n: ns - (now - arrived[n]) * age_permille // 1000 for n, ns in said.items()}
        wanted.append(min(aged, key=lambda n: (aged[n], n)))
        pending.remove(wanted[-1])
    tape = np.zeros(len(calls), replay.CALL)
    for call, (call["now_ns"], call["kind"], number, call["wake_ns"]) in zip(
        tape, calls, strict=True
    ):
        if call["kind"] == replay.NEXT:
            continue
        call["id"], call["place"], call["arrival_ns"] = number + 1, number, arrived[number]
        call["sectors"] = call["weight"] = call["io_class"] = 1
    played, _ = replay.play("sptf", tape, tunables={"age_permille": age_permille})
    picks = played[(played["kind"] == replay.NEXT) & (played["id"] > 0)]
    assert (picks["id"] - 1).tolist() == wanted


def closed_loop(
    scheduler: str, arrivals: list[tuple[int, int]], capacity: int, **tunables: int
) -> dict[int, int]:
    """When the head is at each request, if a sector takes it a nanosecond."""
    time_ns, sector = zip(*arrivals, strict=True)
    zeros = [0] * len(arrivals)
    rows = replay.Arrivals(time_ns, range(len(arrivals)), sector, zeros, owner=zeros, op=zeros)
    now, head = arrivals[0][0], 0
    asked: list[int] = []
    there: dict[int, int] = {}
    while len(there) < len(arrivals):
        asked.append(now)
        picks = replay.replay(scheduler, rows, asked, tunables=tunables, capacity_sectors=capacity)
        picked = int(picks.id[-1])
        coming = [time for time in time_ns if time > now]
        wake = [int(picks.wake_ns[-1])] if picks.wake_ns[-1] else []
        if picked == replay.NONE_PICKED:
            now = min(coming + wake)
            continue
        now += abs(sector[picked] - head)
        head = sector[picked]
        there[picked] = now
    return there


TEXTBOOK = [98, 183, 37, 122, 14, 124, 65, 67]
UP, DOWN = [(0, 53)], [(0, 100), (100, 53)]  # to the head's place


@pytest.mark.parametrize(
    ("scheduler", "first", "cylinders"),
    [
        ("fcfs", UP, 640),
        ("sstf", UP, 236),
        ("scan", DOWN, 236),
        ("scan", UP, 331),
        ("look", DOWN, 208),
        ("look", UP, 299),
        ("cscan", UP, 382),
        ("clook", UP, 322),
    ],
)
def test_the_textbooks_totals(scheduler: str, first: list[tuple[int, int]], cylinders: int) -> None:
    """200 cylinders, 0 to 199, and the head at 53: the way of the arm, and so its time."""
    tunables = {"full_seek_ns": 199} if scheduler in ("scan", "cscan") else {}

    def run(arrivals: list[tuple[int, int]]) -> dict[int, int]:
        return closed_loop(scheduler, arrivals, 199, **tunables)

    begin = max(run(first).values())
    queue = [(begin, cylinder) for cylinder in TEXTBOOK]
    assert max(run(first + queue).values()) - begin == cylinders


@given(
    requests=st.lists(st.integers(0, 100), min_size=1, max_size=12, unique=True),
    head=st.integers(0, 100),
)
def test_the_head_is_where_the_arm_would_be(requests: list[int], head: int) -> None:
    """With nobody to come, each request is reached when the arm of the definition is there."""
    arrivals = [(0, head)] + [(head, sector) for sector in requests]
    scan = closed_loop("scan", arrivals, 100, full_seek_ns=100)
    cscan = closed_loop("cscan", arrivals, 100, full_seek_ns=100)
    for i, sector in enumerate(requests, 1):
        assert scan[i] == (sector if sector >= head else 100 + 100 - sector)
        assert cscan[i] == (sector if sector >= head else 100 + 100 + sector)
