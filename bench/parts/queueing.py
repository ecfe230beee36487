# SPDX-License-Identifier: MIT
"""Command queueing: our drive's queue and sptf, compared with detailed drives."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import numpy.typing as npt

import understudy_devices as us
from bench.part import Column, Row, Rows
from bench.predictions import REALLY_DIFFERENT, Means
from oracle.detailed.drive import MS, DetailedDrive, Request, random_parameters
from understudy_devices.native.drive import Drive
from understudy_devices.native.request import READ
from understudy_devices.native.simulation import Rows as Table
from understudy_devices.native.simulation import Simulation
from understudy_devices.native.simulator import run
from understudy_devices.profiler.profile_fit import Fitted

TITLE = "Command queueing"
TEXT = """
Detailed drives of `oracle/detailed` that queue commands are compared with the simulator. The
simulator uses the profile that `us.profile` fits to each drive, with a queue of the same
depth. Drive and simulator get the same random reads of one page. *Theirs* is the mean service time
of the detailed drives. The next columns are errors of the simulator: the median over the drives,
and the largest error. In the rows `sptf`, the detailed drive chooses among all pending requests; in
the simulator, the scheduler `sptf` chooses, with an age weight of 0.

{{ means }}

A detailed drive knows the angle of each sector, so its choices save rotational latency. Without
angles in the profile, the simulated drive has random latencies, and its choices save only seek
time. A pair is two rows with the same number of processes whose means differ by more than 3 % on
the drive.

{{ ranks }}
"""
TABLES = {
    "means": (
        Column("processes", "{processes}"),
        Column("scheduler", "{scheduler}"),
        Column("depth", "{depth}"),
        Column("theirs (ms)", "{service_ms:.2f}"),
        Column("service: half (%)", "{service_half:+.1f}"),
        Column("worst (%)", "{service_worst:+.1f}"),
        Column("response: half (%)", "{response_half:+.1f}"),
    ),
    "ranks": (
        Column("processes", "{processes}"),
        Column("pairs ranked right", "{right} of {pairs}"),
    ),
}
FIRST_DRIVE = 501
SIZES = {
    "full": {"drives": 10, "requests": 5000, "processes": [20, 50]},
    "quick": {"drives": 5, "requests": 3000, "processes": [20, 50]},
    "tiny": {"drives": 1, "requests": 100, "processes": [4]},
}
IN_VM = False
PAGE_SECTORS = 8
AGE_MS = 500.0
# sptf already chooses by the drive's own model, so its drive needs no queue.
CASES = [(name, depth) for name in ("fcfs", "sstf", "clook") for depth in (1, 8, 32)] + [
    ("sptf", 1)
]

Sectors = npt.NDArray[np.int64]  # indexed by process and number of request


def measure(drives: int, requests: int, processes: list[int]) -> Rows:
    """Profile each drive once, and compare the runs."""
    pairs = [_one_drive(number) for number in range(FIRST_DRIVE, FIRST_DRIVE + drives)]
    for count in processes:
        runs = [_runs(pairs, count, *case, requests) for case in CASES]
        for (scheduler, depth), (ours, theirs) in zip(CASES, runs, strict=True):
            case = {"processes": count, "scheduler": scheduler, "depth": depth}
            yield "means", {**case, **_means(ours, theirs)}
        yield "ranks", _ranks(count, runs)


def _one_drive(number: int) -> tuple[DetailedDrive, Fitted]:
    own = replace(random_parameters(number), queue_depth=0, queue_age_ns=AGE_MS * MS)
    drive = DetailedDrive(own, writable=False)
    fit = us.profile(drive)
    drive.reset()
    return drive, fit


def _runs(
    pairs: Sequence[tuple[DetailedDrive, Fitted]],
    processes: int,
    scheduler: str,
    depth: int,
    requests: int,
) -> tuple[list[Means], list[Means]]:
    """Run the project's model and each detailed drive."""
    theirs, ours = [], []
    for seed, (drive, fitted) in enumerate(pairs):
        draw = np.random.default_rng(seed)
        shape = (processes, requests)
        pages = drive.capacity_sectors // PAGE_SECTORS
        sectors = draw.integers(pages, size=shape) * PAGE_SECTORS
        theirs.append(_detailed(drive, sectors, scheduler, depth, requests))
        ours.append(_simulated(drive, fitted, sectors, scheduler, depth, requests))
    return ours, theirs


def _means(ours: Sequence[Means], theirs: Sequence[Means]) -> Row:
    service = _percent([run.service for run in ours], [run.service for run in theirs])
    response = _percent([run.response for run in ours], [run.response for run in theirs])
    return {
        "service_ms": float(np.mean([run.service for run in theirs])),
        "service_half": float(np.median(service)),
        "service_worst": float(service[np.argmax(np.abs(service))]),
        "response_half": float(np.median(response)),
    }


def _percent(ours: Sequence[float], theirs: Sequence[float]) -> npt.NDArray[np.float64]:
    off: npt.NDArray[np.float64] = 100 * (np.array(ours) / np.array(theirs) - 1)
    return off


def _ranks(processes: int, runs: Sequence[tuple[Sequence[Means], Sequence[Means]]]) -> Row:
    """Return how many pairs of cases are ranked right, drive by drive."""
    right = pairs = 0
    for (ours, theirs), (our_others, others) in product(runs, repeat=2):
        for mine, other, our, their in zip(theirs, others, ours, our_others, strict=True):
            if other.response > mine.response * (1 + REALLY_DIFFERENT):
                pairs += 1
                right += our.response < their.response
    return {"processes": processes, "right": right, "pairs": pairs}


def _simulated(
    drive: DetailedDrive,
    fitted: Fitted,
    sectors: Sectors,
    scheduler: str,
    depth: int,
    requests: int,
) -> Means:
    capacity = drive.capacity_sectors
    timing = replace(
        fitted.disk().timing(capacity),
        queue_depth=depth if depth > 1 else 0,
        queue_age_limit_ns=int(AGE_MS * MS),
    )
    processes, each = sectors.shape
    count = processes * each
    table = Table(
        first=np.arange(processes + 1) * each,
        think_ns=np.zeros(count),
        sector=sectors.ravel(),
        sectors=np.full(count, PAGE_SECTORS),
        op=np.full(count, READ),
        owner=np.repeat(np.arange(processes), each),
    )
    figures = run(
        Simulation(
            workload="rows-closed",
            scheduler=scheduler,
            device=Drive(timing, 1),
            capacity_sectors=capacity,
            requests=requests,
            processes=processes,
            tunables={"age_permille": 0} if scheduler == "sptf" else {},
            rows=table,
            depth=depth,
        ),
        keep_rows=False,
    ).figures
    return Means(figures.model.mean / MS, figures.response.mean / MS)


@dataclass(frozen=True)
class Asked:
    """A request of a process."""

    process: int
    sector: int
    at_ns: int


@dataclass
class Host:
    """A simple host, which has a scheduler and pending requests."""

    drive: DetailedDrive
    scheduler: str
    waiting: list[Asked]
    head: int = 0

    def take(self, now: int) -> Asked:
        """Dispatch the request that the scheduler chooses."""
        one = self.waiting.pop(self._choose(now))
        self.head = one.sector + PAGE_SECTORS
        return one

    def _choose(self, now: int) -> int:
        where = [one.sector for one in self.waiting]
        if self.scheduler == "fcfs":
            return 0
        if self.scheduler == "sptf":
            return _drives_choice(self.drive, [(one, now) for one in self.waiting], now)
        if self.scheduler == "sstf":
            return int(np.argmin(np.abs(np.array(where) - self.head)))
        return min(range(len(where)), key=lambda i: (where[i] < self.head, where[i]))


def _drives_choice(drive: DetailedDrive, queue: Sequence[tuple[Asked, int]], now: int) -> int:
    """Return the index of the request that the drive chooses from `queue`, whose items are a
    request and its time of queueing.
    """
    requests = [Request("read", one.sector, PAGE_SECTORS, arrival) for one, arrival in queue]
    return drive.choose(requests, now)


def _detailed(
    drive: DetailedDrive, sectors: Sectors, scheduler: str, depth: int, requests: int
) -> Means:
    """Run processes each of which sends its next request when its last one completes.

    The drive serves the requests in its queue in an order that it chooses, and the scheduler
    refills the queue.
    """
    drive.reset()
    host = Host(drive, scheduler, [Asked(i, int(mine[0]), 0) for i, mine in enumerate(sectors)])
    left = [iter(mine[1:].tolist()) for mine in sectors]
    queue: list[tuple[Asked, int]] = []
    now = 0
    service_ns, response_ns = [], []
    for _ in range(requests):
        one = queue.pop(_drives_choice(drive, queue, now))[0] if queue else host.take(now)
        while host.waiting and len(queue) < depth - 1:
            queue.append((host.take(now), now))
        ended = drive.request("read", one.sector, PAGE_SECTORS, now)
        service_ns.append(ended - now)
        response_ns.append(ended - one.at_ns)
        now = ended
        host.waiting.append(Asked(one.process, next(left[one.process]), now))
    return Means(float(np.mean(service_ns)) / MS, float(np.mean(response_ns)) / MS)
