# SPDX-License-Identifier: MIT
"""Check a fitted model: let the target and the model serve the same typical requests.

Each workload has one of the features of typical runs (device/check.py), at sectors and
with seeds that no probe has used.  The features are: no pauses, think times and bursts, an
elevator's order, interleaved streams, repeated requests, many sizes, writes, and all of these
together.  The model is idle before each request for as long as the target was.  If a mean is beyond
the limit, but chance may explain the deviation, the workload runs again, longer and at other
sectors.  Two workloads are the validation of SIGCSE 2006 (section 2.2).  The first has random
seeks, each timed by reading one block.  The second has random transfers of up to 16 MB, each after
the head has moved near its first sector.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from understudy_devices.base.progress import Report, silent
from understudy_devices.device.check import Ask, Check, asked
from understudy_devices.native import demand
from understudy_devices.profiler.targets.bench import Bench

Times = npt.NDArray[np.float64]
REQUESTS = 1000
MORE = 4  # factor for the number of requests in a repeated check
SURE = 2  # standard errors
MEAN_READS = 2.0  # the mean cost of a check's request, in random reads
PAGE = 8  # sectors
RUN, LONG_RUN = 16, 128  # requests of one sequential run
SWEEP = 20  # requests of a scheduler's sweep
STREAMS = 4
HOT_PLACES = 64
BURST = 2
LARGEST_POWER = 8  # log2 of the largest number of sectors in a request of mixed size
LONG = 2**11  # sectors: 1 MB
LARGEST = 2**15  # sectors: 16 MB
MS = 1_000_000
LONGEST_REST_NS = 300 * MS
DRAINED_NS = 2_000 * MS


class Step(NamedTuple):
    """A request, sent `pause_ns` after the last completion.

    Untimed requests only prepare timed ones.
    """

    op: str
    sector: int
    sectors: int = PAGE
    pause_ns: int = 0
    is_timed: bool = True


@dataclass(frozen=True)
class Draw:
    """A workload's source of random sectors, pauses and choices."""

    random: random.Random
    capacity_sectors: int
    longest_sectors: int
    requests: int

    def place(self, sectors: int = PAGE) -> int:
        """Return a random sector with room for `sectors` after it."""
        return self.random.randint(0, self.capacity_sectors - sectors)

    def op(self) -> str:
        """Return "read" or "write", equally likely: errors from writes grow with their share."""
        return self.random.choice(("read", "write"))

    def size(self) -> int:
        """Return a size of 1 to 256 sectors, uniformly distributed on a logarithmic scale."""
        return min(round(2 ** self.random.uniform(0, LARGEST_POWER)), self.longest_sectors)

    def think_ns(self) -> int:
        """Return a short pause, ns."""
        return self.random.randrange(demand.REST_NS)

    def rest_ns(self) -> int:
        """Return a long pause, ns."""
        return self.random.randint(demand.REST_NS, LONGEST_REST_NS)


Steps = Callable[[Draw, Callable[[], str]], Iterator[Step]]


@dataclass(frozen=True)
class Workload:
    """A workload: `steps(draw, op)` yields its requests; `op()` returns each request's direction.

    If `writes`, half of the requests are writes, otherwise none.  If `in_order`, the requests are
    in the order in which a scheduler would dispatch them.
    """

    name: str
    steps: Steps
    in_order: bool = False
    writes: bool = False


@dataclass(frozen=True, eq=False)
class Compared:
    """The service times of a workload's requests on the target and on the model, ms."""

    workload: str
    asks: dict[Ask, float]
    target_times_ms: Times
    model_times_ms: Times

    @property
    def is_unsure(self) -> bool:
        """Return whether the mean is beyond the limit, but within SURE standard errors of the
        limit.
        """
        off_ms = self.model_times_ms - self.target_times_ms
        error_ms = SURE * off_ms.std() / len(off_ms) ** 0.5
        limit_ms = self.check.limit_percent / 100 * self.target_times_ms.mean()
        return bool(limit_ms < abs(off_ms.mean()) < limit_ms + error_ms)

    @cached_property
    def check(self) -> Check:
        """Return the check in the form that the profile stores."""
        return Check(
            workload=self.workload,
            asks={ask: max(round(share, 3), 0.001) for ask, share in self.asks.items()},
            target_ms=_rounded(self.target_times_ms.mean()),
            model_ms=_rounded(self.model_times_ms.mean()),
            demerit_ms=_rounded(demerit(self.target_times_ms, self.model_times_ms)),
        )


def _rounded(ms: Any) -> float:
    return round(float(ms), 6)


def demerit(one: Times, other: Times) -> float:
    """Return the root mean square horizontal distance between two distributions, from equally many
    samples of each (Ruemmler and Wilkes 1994, "An introduction to disk drive modeling").
    """
    return float(np.sqrt(np.mean((np.sort(one) - np.sort(other)) ** 2)))


def compare(
    target: Bench,
    model: Bench,
    seed: int,
    workloads: Sequence[Workload],
    report: Report = silent,
    requests: int = REQUESTS,
    more: int = 1,
) -> tuple[Compared, ...]:
    """Run each workload on target and model, with about `requests` requests.

    If chance may explain a deviation, run the workload again with `more` times as many requests.
    """
    comparisons = []
    for number, workload in enumerate(workloads):
        report(f"check: {workload.name}", number / len(workloads))
        one = _compared(workload, target, model, f"{seed}", requests)
        if more > 1 and one.is_unsure:
            one = _compared(workload, target, model, f"{seed} anew", more * requests)
        comparisons.append(one)
    return tuple(comparisons)


def affordable(workloads: int, left_ns: int, read_ns: float) -> int:
    """Return how many requests per workload fit into `left_ns`: REQUESTS / 10 to REQUESTS."""
    each = left_ns / (workloads * MEAN_READS * max(read_ns, 1.0))
    return round(min(max(each, REQUESTS / 10), REQUESTS))


def _compared(
    workload: Workload, target: Bench, model: Bench, seed: str, requests: int
) -> Compared:
    chance = random.Random(f"check {workload.name} {seed}")
    draw = Draw(chance, target.capacity_sectors, target.longest_sectors, requests)
    for bench in (target, model):
        bench.wait(DRAINED_NS)
    # The pause before the first request is longer than any pause within a check.
    first = Step("read", draw.place(), is_timed=False)
    steps = [first, *workload.steps(draw, draw.op if workload.writes else lambda: "read")]
    timed = np.array([step.is_timed for step in steps])
    one, other = np.array([both(step, target, model) for step in steps])[timed].T / MS
    ops, sector, sectors, pause_ns, _ = map(np.array, zip(*steps, strict=True))
    in_order = np.full(len(steps), workload.in_order)
    asking = demand.asking(ops == "write", sector, sectors, pause_ns, in_order)
    counts = demand.counts({name: flags[timed] for name, flags in asking.items()})
    return Compared(workload.name, asked(counts, len(one)), one, other)


def both(step: Step, target: Bench, model: Bench) -> tuple[int, int]:
    """Serve a request on target and model; return the two service times, ns."""
    before_ns = target.now_ns
    target.wait(step.pause_ns)
    service_ns = target.serve(step.op, step.sector, step.sectors)
    model.wait(target.sent_ns - before_ns)
    return service_ns, model.serve(step.op, step.sector, step.sectors)


def _random(draw: Draw, op: Callable[[], str]) -> Iterator[Step]:
    for _ in range(draw.requests):
        yield Step(op(), draw.place())


def _paused(draw: Draw, op: Callable[[], str]) -> Iterator[Step]:
    for _ in range(draw.requests):
        yield Step(op(), draw.place(), PAGE, draw.think_ns())


def _bursts(draw: Draw, op: Callable[[], str], steps: Steps = _random) -> Iterator[Step]:
    """Yield bursts of requests after long pauses."""
    for number, step in enumerate(islice(steps(draw, op), draw.requests // 4)):
        yield step if number % BURST else step._replace(pause_ns=draw.rest_ns())


def _sizes(draw: Draw, op: Callable[[], str]) -> Iterator[Step]:
    for _ in range(draw.requests):
        sectors = draw.size()
        yield Step(op(), draw.place(sectors), sectors)


def _long(draw: Draw, op: Callable[[], str]) -> Iterator[Step]:
    """Yield requests of 128 KiB to 1 MiB."""
    for _ in range(draw.requests // 5):
        sectors = min(draw.random.randint(demand.LONG_SECTORS + 1, LONG), draw.longest_sectors)
        yield Step(op(), draw.place(sectors), sectors)


def _runs(draw: Draw, op: Callable[[], str], run: int = RUN) -> Iterator[Step]:
    """Yield sequential runs; each run has only reads or only writes."""
    for _ in range(max(1, draw.requests // run)):
        place, chosen = draw.place(run * PAGE), op()
        for number in range(run):
            yield Step(chosen, place + number * PAGE, is_timed=number > 0)


def _paused_runs(draw: Draw, op: Callable[[], str]) -> Iterator[Step]:
    for step in _runs(draw, op):
        yield step._replace(pause_ns=draw.think_ns() if draw.random.random() < 0.5 else 0)


def _streams(draw: Draw, op: Callable[[], str], own_size: int = 0, turn: int = 1) -> Iterator[Step]:
    """Yield requests of several streams, `turn` requests of each stream at a time, with unrelated
    requests in between; sizes vary unless `own_size` is given.
    """
    places = [draw.place(LARGEST) for _ in range(STREAMS)]
    stream = 0
    for number in range(draw.requests):
        if number % turn == 0:
            stream = (stream + draw.random.randint(1, STREAMS)) % (STREAMS + 1)
        sectors = own_size or draw.size()
        if stream == STREAMS:
            yield Step(op(), draw.place(sectors), sectors, is_timed=False)
            continue
        goes_on = draw.random.random() > 1 / RUN
        if not goes_on:
            places[stream] = draw.place(LARGEST)
        yield Step("read", places[stream], sectors, is_timed=goes_on)
        places[stream] += sectors


def _beside(draw: Draw, op: Callable[[], str], rest: float = 0.0) -> Iterator[Step]:
    """Yield requests of several streams at sectors so near each other that the drive's prefetch for
    one stream may contain another stream's data.

    The streams alternate; every second round is in the order of their sectors.  `rest` is the
    probability that a request has another size, that it is repeated, and that it follows a pause.
    """
    apart = demand.BESIDE_SECTORS // STREAMS
    for _ in range(max(1, draw.requests // (STREAMS * RUN))):
        first = draw.place(LARGEST)
        places = [first + n * apart + draw.random.randrange(apart // 2) for n in range(STREAMS)]
        for turn in range(RUN):
            streams = range(STREAMS)
            for stream in streams if turn % 2 else draw.random.sample(streams, STREAMS):
                sized, paused, stays = (draw.random.random() < rest for _ in range(3))
                sectors = draw.random.randint(1, 2 * PAGE) if sized else PAGE
                pause_ns = draw.think_ns() if paused else 0
                is_timed = turn > 0 or rest > 0
                yield Step(op(), places[stream], sectors, pause_ns, is_timed)
                places[stream] += 0 if stays else sectors


def _sweeps(draw: Draw, op: Callable[[], str]) -> Iterator[Step]:
    """Yield batches in the order of their sectors, as an elevator sends them."""
    for _ in range(draw.requests // SWEEP):
        yield from (Step(op(), place) for place in sorted(draw.place() for _ in range(SWEEP)))


def _parts(draw: Draw, op: Callable[[], str]) -> Iterator[Step]:
    """Yield requests near each other at the disk's beginning, middle and end."""
    last = draw.capacity_sectors - demand.NEAR_SECTORS
    for first in (0, last // 2, last):
        for _ in range(draw.requests // 3):
            yield Step(op(), first + draw.random.randrange(demand.NEAR_SECTORS - PAGE))


def _hot(draw: Draw, op: Callable[[], str]) -> Iterator[Step]:
    """Yield requests at the same few sectors repeatedly."""
    places = [draw.place() for _ in range(HOT_PLACES)]
    for _ in range(draw.requests):
        is_hot = draw.random.random() < 0.8
        place = draw.random.choice(places) if is_hot else draw.place()
        yield Step(op(), place, is_timed=is_hot)


def _everything(draw: Draw, op: Callable[[], str]) -> Iterator[Step]:
    """Yield a host's typical mix.

    Batches, each sorted by sector, contain short sequential runs and single requests of many
    sizes.  Some requests are at earlier sectors or continue an earlier run, some are near the
    previous request, and some follow a pause.
    """
    seen = [draw.place(LARGEST) for _ in range(HOT_PLACES)]
    near, last = demand.NEAR_SECTORS // 4, draw.capacity_sectors - LARGEST
    place = 0
    for _ in range(draw.requests // SWEEP):
        batch: list[Step] = []
        while len(batch) < SWEEP:
            chance = draw.random.random()
            if chance < 0.3:
                place = draw.random.choice(seen)
            elif chance < 0.8:
                place = draw.place(LARGEST)
            else:
                place = min(place + draw.random.randrange(near), last)
            chosen, start = op(), place
            for _ in range(draw.random.choice((1, 1, 1, 4))):
                sectors = draw.random.choice((PAGE, PAGE, draw.size()))
                batch.append(Step(chosen, place, sectors))
                place += sectors
            seen[draw.random.randrange(HOT_PLACES)] = draw.random.choice((start, min(place, last)))
        batch.sort(key=lambda step: step.sector)
        for step in batch:
            pause_ns = draw.think_ns() if draw.random.random() < 0.2 else 0
            yield step._replace(pause_ns=pause_ns)


def _seeks(draw: Draw, op: Callable[[], str]) -> Iterator[Step]:
    for _ in range(draw.requests):
        yield Step(op(), draw.place(1), 1, is_timed=False)
        yield Step(op(), draw.place(1), 1)


def _transfers(draw: Draw, op: Callable[[], str]) -> Iterator[Step]:
    """Yield transfers, each after a read that moves the head near it.

    This read is of one sector at least 1 MB before, so the timed sectors are not in the drive's
    cache.
    """
    longest = min(LARGEST, draw.longest_sectors)
    for _ in range(draw.requests // 5):
        sectors = draw.random.randint(1, longest)
        sector = draw.random.randint(LONG, draw.capacity_sectors - sectors)
        before = draw.random.randint(LONG, min(sector, demand.NEAR_SECTORS))
        yield Step(op(), sector - before, 1, is_timed=False)
        yield Step(op(), sector, sectors)


BESIDE = partial(_beside, rest=0.2)
LONG_RUNS = partial(_runs, run=LONG_RUN)
MIXED_BURSTS = partial(_bursts, steps=_everything)
SEEK, TRANSFER = "random seeks", "random transfers"
WORKLOADS = (
    Workload("random reads", _random),
    Workload(SEEK, _seeks),
    Workload("reads with think times", _paused),
    Workload("bursts of reads", _bursts),
    Workload("reads of many sizes", _sizes),
    Workload("long reads", _long),
    Workload(TRANSFER, _transfers),
    Workload("sequential reads", _runs),
    Workload("long sequential reads", LONG_RUNS),
    Workload("sequential reads with think times", _paused_runs),
    Workload("streams of reads", partial(_streams, own_size=PAGE)),
    Workload("streams of reads, two at a time", partial(_streams, own_size=PAGE, turn=2)),
    Workload("streams of reads of many sizes", _streams),
    Workload("streams of reads beside one another", _beside),
    Workload("a mix of streams of reads beside one another", BESIDE, in_order=True),
    Workload("sweeps of reads", _sweeps, in_order=True),
    Workload("reads close together", _parts),
    Workload("reads of the same places", _hot),
    Workload("a mix of reads", _everything, in_order=True),
    Workload("bursts of a mix of reads", MIXED_BURSTS, in_order=True),
    Workload("reads and writes", _random, writes=True),
    Workload("reads and writes with think times", _paused, writes=True),
    Workload("bursts of reads and writes", _bursts, writes=True),
    Workload("reads and writes of many sizes", _sizes, writes=True),
    Workload("sequential reads and writes", _runs, writes=True),
    Workload("long sequential reads and writes", LONG_RUNS, writes=True),
    Workload("a mix of reads and writes beside one another", BESIDE, in_order=True, writes=True),
    Workload("sweeps of reads and writes", _sweeps, in_order=True, writes=True),
    Workload("reads and writes of the same places", _hot, writes=True),
    Workload("a mix of reads and writes", _everything, in_order=True, writes=True),
    Workload("bursts of a mix of reads and writes", MIXED_BURSTS, in_order=True, writes=True),
)
READS = tuple(each for each in WORKLOADS if not each.writes)
SIGCSE_2006 = tuple(each for each in WORKLOADS if each.name in (SEEK, TRANSFER))
