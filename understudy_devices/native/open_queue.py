# SPDX-License-Identifier: MIT
"""The open queue of several classes of requests (ICPE 2011, section 4), on the simulator's engine.

Requests of each class arrive at measured times, each in one or more pieces (Eqs. 3-5). A piece's
service time is sampled from the class's process. Pieces wait for one of several equal servers.
Start-time fair queueing chooses the next piece by the classes' weights (Eqs. 1, 2). A server may
serve several pieces of a class together (Algorithm 1). A request completes with its last piece. A
request's response time is the mean of its pieces' response times (Eq. 6), rounded down to whole ns.

The simulator maps arrivals and samples service times when needed, so memory does not grow with the
number of requests.  Each simulation is a separate process (worker.py), so callers can run
replications in parallel in several threads.
"""

import errno
import math
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from understudy_devices._core import ffi, lib
from understudy_devices.base.errors import RunFailed, Unstable
from understudy_devices.native import arrivals, descriptions, registry, worker
from understudy_devices.native.arrays import I64, buffer, dtype_of
from understudy_devices.native.arrivals import Arrivals
from understudy_devices.native.cell import no_memory
from understudy_devices.native.failures import arrive
from understudy_devices.native.figures import Moments, moments_of, percentiles_of
from understudy_devices.native.service_times import ServiceTimes, side_by_side
from understudy_devices.native.simulation import struct_workload

SCHEDULER = "sfq"
WORKLOAD = "customers"
MAX_PENDING = 2**18
CLASSES_MAX = 1000
ALL = 2**62  # requests, or ns
ROTATED = 2**62  # a block that never ends
MERGE_ALL = 2**31  # more than can ever be pending


@dataclass(frozen=True)
class CustomerClass:
    """One class, such as a VM.

    service: the process of a piece's service times. weight: the class's share is its weight over
    the sum of all weights. merge: omega, the number of pieces of the class that a server serves
    together; 2.5 means two or three, chosen at random for each service.
    recorded: service times are those in `arrivals`, and `service` is not used.  block: if it is
    given, the class's requests are blocks of so many consecutive requests of `arrivals`, from
    random places (sim/arrivals.h); ROTATED takes them all, from a random one on.  pool_ns: with
    `block`, requests that arrive later are not used.
    """

    arrivals: Arrivals
    service: ServiceTimes
    weight: int = 1
    merge: float = 1
    recorded: bool = False
    block: int = 0
    pool_ns: int = ALL


@dataclass(frozen=True)
class OpenQueue:
    """All classes, and the number of servers: that many requests may be in service (D of SFQ(D)).

    until_ns: later arrivals are left out. max_pending: the queue counts as unstable if more pieces
    than this wait or are in service.
    """

    classes: tuple[CustomerClass, ...]
    servers: int
    until_ns: int | None = None
    max_pending: int = MAX_PENDING


@dataclass(frozen=True)
class DirectionFigures:
    """Figures of the reads or the writes of a class, in ns; percentiles as in ClassFigures."""

    requests: int
    mean: float
    percentiles: dict[float, int]


@dataclass(frozen=True)
class ClassFigures:
    """Figures of one class.

    response: in ns, like all times here. Percentiles are the lower ends of histogram cells of
    relative width 1/256. distribution_ns: (1000,), the response time at each permille from 1, by
    nearest rank. in_system: mean number of requests in the system. By Little's law, this is the sum
    of the response times divided by the span of the simulation. A split request counts with the
    mean of its pieces' response times. directions: figures of its "reads" and "writes", if it has
    any.
    """

    requests: int
    pieces: int
    response: Moments
    response_percentiles: dict[float, int]
    distribution_ns: I64 = field(compare=False, repr=False)
    longest_response_ns: int
    in_system: float
    directions: dict[str, DirectionFigures] = field(default_factory=dict)


@dataclass(frozen=True)
class QueueFigures:
    """Figures of a simulation.

    in_system: N_sim, summed over all classes. span_ns: from the first arrival to the last
    completion. utilisation: the mean share of busy servers over that span.
    """

    each: tuple[ClassFigures, ...]
    in_system: float
    span_ns: int
    utilisation: float

    def as_json(self) -> dict[str, Any]:
        """Return all figures as JSON can carry them, without a loss."""
        each = [
            asdict(one)
            | {
                "response_percentiles": list(one.response_percentiles.items()),
                "distribution_ns": one.distribution_ns.tolist(),
                "directions": {
                    name: [own.requests, own.mean, list(own.percentiles.items())]
                    for name, own in one.directions.items()
                },
            }
            for one in self.each
        ]
        return {**asdict(replace(self, each=())), "each": each}

    @classmethod
    def of_json(cls, figures: Mapping[str, Any]) -> "QueueFigures":
        """Return what `as_json` was called on."""
        each = tuple(
            ClassFigures(
                **one
                | {
                    "response": Moments(**one["response"]),
                    "response_percentiles": dict(one["response_percentiles"]),
                    "distribution_ns": np.array(one["distribution_ns"], np.int64),
                    "directions": {
                        name: DirectionFigures(requests, mean, dict(percentiles))
                        for name, (requests, mean, percentiles) in one["directions"].items()
                    },
                }
            )
            for one in figures["each"]
        )
        return cls(**{**figures, "each": each})


def simulate(queue: OpenQueue, seed: int, look: worker.Look = lambda done: None) -> QueueFigures:
    """Simulate until all requests are served.

    From time to time `look` is called with the number of pieces served.  Raises ValueError for
    impossible input, Unstable with the offered load if the arrivals are too fast for the servers,
    RunFailed for any other early end, and any exception from `look`.
    """
    call = _Call(queue, seed)
    try:
        worker.run(call.job, [worker.Part(registry.source(SCHEDULER), SCHEDULER)], look)
    except RunFailed as error:
        arrivals.check_unchanged([each.arrivals for each in queue.classes], error)
        raise
    if call.job.structure.error:
        raise _failure(queue, call.job)
    return call.figures()


class _Call:
    """The job of one simulation."""

    def __init__(self, queue: OpenQueue, seed: int) -> None:
        _check(queue, seed)
        self._queue = queue
        scheduler = descriptions.scheduler(SCHEDULER)
        tables = side_by_side([each.service for each in queue.classes])
        paths = b"".join(os.fsencode(each.arrivals.path) + b"\0" for each in queue.classes)
        each_bytes = len(queue.classes) * ffi.sizeof("struct sim_process")
        self.job = worker.Job(
            worker.SIMULATE,
            {
                "paths": np.frombuffer(paths, np.uint8),
                "input.tunables": descriptions.tunable_values(scheduler, {"depth": queue.servers}),
                "input.weight": np.array([each.weight for each in queue.classes], np.uint32),
                "input.bundling": _bundling(queue),
                "input.world.resampling": np.array(
                    [(each.block, each.pool_ns, each.recorded) for each in queue.classes],
                    dtype_of("struct resampling"),
                ),
                **{f"input.world.service.{name}": array for name, array in tables.items()},
                "input.each": worker.Room(np.uint8, each_bytes),
                "summary.counters": worker.Room(np.uint64, len(scheduler.counters)),
            },
        )
        self._fill(seed, len(tables["phase"]), len(tables["outcome"]))
        wrong = lib.sim_check(ffi.addressof(self.job.structure.input), 0, 0)
        if wrong != ffi.NULL:
            raise ValueError(descriptions.text(wrong))

    def _fill(self, seed: int, phases: int, outcomes: int) -> None:
        queue, job = self._queue, self.job.structure
        job.workload = WORKLOAD.encode()
        job.input.workload = struct_workload(WORKLOAD)
        job.memory_bytes += sum(each.arrivals.file_bytes for each in queue.classes)
        job.input.requests = ALL
        job.input.max_pending = queue.max_pending
        job.input.depth = job.input.array.servers = queue.servers
        world = job.input.world
        world.capacity_sectors = 1
        world.seed = seed
        world.processes = len(queue.classes)
        world.until_ns = ALL if queue.until_ns is None else queue.until_ns
        world.service.phases, world.service.outcomes = phases, outcomes

    def figures(self) -> QueueFigures:
        """Return the run's figures."""
        summary = self.job.structure.summary
        if not summary.completed:
            raise ValueError(
                f"no request arrives before {self._queue.until_ns} ns, which is until_ns"
            )
        span_ns = int(summary.last_completion_ns) - int(summary.first_arrival_ns)
        each = ffi.from_buffer("struct sim_process[]", self.job.arrays["input.each"])
        classes = tuple(_class_figures(one, span_ns) for one in each)
        busy_ns = summary.model.count * moments_of(ffi.addressof(summary, "model")).mean
        return QueueFigures(
            each=classes,
            in_system=sum(one.in_system for one in classes),
            span_ns=span_ns,
            utilisation=busy_ns / (self._queue.servers * span_ns),
        )


def _class_figures(process: Any, span_ns: int) -> ClassFigures:
    response = moments_of(ffi.addressof(process, "response"))
    requests = int(process.response.count)
    distribution = np.zeros(1000, np.int64)
    lib.histogram_distribution(
        ffi.addressof(process, "responses"), ffi.cast("u64 *", buffer(distribution))
    )
    return ClassFigures(
        requests=requests,
        pieces=int(process.pieces),
        response=response,
        response_percentiles=percentiles_of(ffi.addressof(process, "responses")),
        distribution_ns=distribution,
        longest_response_ns=int(process.responses.max),
        in_system=requests * response.mean / span_ns,
        directions=_directions(process, requests, response.mean),
    )


def _directions(process: Any, requests: int, mean: float) -> dict[str, DirectionFigures]:
    """Return the figures of reads and writes; those of reads are what writes leave of all."""
    writes = int(process.write_response.count)
    write_mean = moments_of(ffi.addressof(process, "write_response")).mean
    read_times = ffi.new("struct histogram *")
    read_times[0] = process.responses
    write_times = ffi.addressof(process, "write_responses")
    lib.histogram_take(read_times, write_times)
    each = {}
    if reads := requests - writes:
        own = (requests * mean - writes * write_mean) / reads
        each["reads"] = DirectionFigures(reads, own, percentiles_of(read_times))
    if writes:
        each["writes"] = DirectionFigures(writes, write_mean, percentiles_of(write_times))
    return each


def _check(queue: OpenQueue, seed: int) -> None:
    """Raise ValueError for the first impossible value; service times and files are checked
    later.
    """
    servers_max = next(
        one.max for one in descriptions.scheduler(SCHEDULER).tunables if one.name == "depth"
    )
    if not queue.classes:
        raise ValueError("no classes: give at least one")
    _range("classes", len(queue.classes), 1, CLASSES_MAX)
    _range("servers", queue.servers, 1, servers_max)
    _range("max_pending", queue.max_pending, 1, 2**20)
    _range("seed", seed, 0, 2**64 - 1)
    if queue.until_ns is not None:
        _range("until_ns", queue.until_ns, 1, ALL)
    for number, each in enumerate(queue.classes):
        _range(f"class {number}: weight", each.weight, 1, 2**32 - 1)
        _range(f"class {number}: block", each.block, 0, ROTATED)
        _range(f"class {number}: pool_ns", each.pool_ns, 1, ALL)
        if not each.merge >= 1:
            raise ValueError(
                f"class {number}: merge is {each.merge}: a server takes at least one request; "
                "1 merges nothing, 2.5 two or three"
            )


def _range(name: str, value: int, least: int, most: int) -> None:
    if not least <= value <= most:
        raise ValueError(f"{name} is {value:,}: has to be from {least:,} to {most:,}")


def _bundling(queue: OpenQueue) -> Any:
    """Return, for each class, how many pieces may join a first piece in any case, and the
    probability that one more may join, in units of 2^-64.
    """
    bounded = [min(each.merge, MERGE_ALL) for each in queue.classes]
    rows = [(math.floor(merge) - 1, int((merge - math.floor(merge)) * 2**64)) for merge in bounded]
    return np.array(rows, dtype_of("struct bundling"))


def _failure(queue: OpenQueue, job: worker.Job) -> RunFailed:
    code = -job.structure.error
    if code == errno.EBADMSG:
        arrivals.refuse([each.arrivals for each in queue.classes])
    if code == errno.EOVERFLOW:
        load = _offered_load(queue, job.structure.summary)
        how = "not one is served yet" if load is None else f"they arrive {arrive(load)}"
        return Unstable(
            f"unstable: more than {queue.max_pending:,} pieces of requests wait or are served; "
            f"{how}; take more servers, or fewer classes",
            load,
        )
    if code == errno.ENOMEM:
        return RunFailed(f"no memory: {no_memory(int(job.structure.refused_bytes))}")
    if code == errno.ETIME:
        return RunFailed("the clock would overflow, after 292 years")
    return RunFailed(f"{WORKLOAD}: {os.strerror(code)}")


def _offered_load(queue: OpenQueue, summary: Any) -> float | None:
    """Return the offered utilisation, computed from the arrivals until now and the mean service
    time of the served pieces. Return None if either is unknown.
    """
    arrived_for_ns = int(summary.last_arrival_ns) - int(summary.first_arrival_ns)
    if not summary.completed or not arrived_for_ns:
        return None
    served_ns = summary.model.count * moments_of(ffi.addressof(summary, "model")).mean
    work_ns = served_ns / summary.completed * (summary.completed + queue.max_pending)
    return float(work_ns / (queue.servers * arrived_for_ns))
