# SPDX-License-Identifier: MIT
"""VMs whose processes are known, and an independent simulation of a device that they share.

The simulation is SFQ(D) (Jin, Chase and Kaur 2004): D servers take the waiting piece with the least
start tag.  With one VM this is FCFS.  It shares no code with the code under test.
"""

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Draw = Callable[[np.random.Generator, int], Floats]
"""Draw so many times with a mean of 1, one after the other."""


def exponential(random: np.random.Generator, count: int) -> Floats:
    return random.exponential(1.0, count)


def hyperexponential(random: np.random.Generator, count: int) -> Floats:
    """A coefficient of variation of 2."""
    rare = random.random(count) < 0.1127
    return random.exponential(1.0, count) * np.where(rare, 1 / (2 * 0.1127), 1 / (2 * 0.8873))


def lognormal(random: np.random.Generator, count: int) -> Floats:
    return random.lognormal(-0.5, 1.0, count)


def narrow(random: np.random.Generator, count: int) -> Floats:
    """A coefficient of variation of 0.1, which no process of 16 phases has."""
    return random.gamma(100, 0.01, count)


def runs_of_50(random: np.random.Generator, count: int) -> Floats:
    """Fifty times in a row are alike."""
    level = np.repeat(random.lognormal(-0.32, 0.8, count // 50 + 2), 50)
    begin = int(random.integers(50))
    return level[begin : begin + count] * random.lognormal(-0.045, 0.3, count)


def long_range(random: np.random.Generator, count: int) -> Floats:
    """Levels with periods of many lengths: the sum of on-off sources whose periods are Pareto, with
    a Hurst parameter of 0.75 (Willinger, Taqqu, Sherman and Wilson 1997)."""
    level = np.zeros(count)
    for _ in range(8):
        ends = np.cumsum(np.ceil(5 * random.pareto(1.5, count + 10) + 5)) - random.integers(count)
        level += (np.searchsorted(ends, np.arange(count)) + random.integers(2)) % 2
    return (level + 1) / 5 * random.lognormal(-0.045, 0.3, count)


def bursts(random: np.random.Generator, count: int) -> Floats:
    """Geometric numbers of short gaps, then a long one."""
    return np.where(random.random(count) < 0.1, 7.3, 0.3) * random.exponential(1.0, count)


def mmpp(random: np.random.Generator, count: int) -> Floats:
    """Two rates, 1.6 and 0.4 of the mean's, that change every 30 requests on average."""
    changes = np.cumsum(random.random(count) < 1 / 30) + int(random.integers(2))
    return np.where(changes % 2, 0.4, 1.6) * random.exponential(1.0, count)


@dataclass(frozen=True)
class Row:
    """VMs on a device; the mean service time is 10 ms.

    shares: each VM's share of the load. pieces: most pieces of a request.
    """

    name: str
    service: Draw
    gaps: Draw = exponential
    servers: int = 8
    load: float = 0.7
    shares: tuple[float, ...] = (0.5, 0.5)
    weights: tuple[int, ...] = (1, 1)


SERVICE_MS = 10.0
ROWS = (
    Row("exponential", exponential, load=0.7),
    Row("exponential, load 0.3", exponential, servers=4, load=0.3),
    Row("exponential, D 32, load 0.9", exponential, servers=32, load=0.9),
    Row("hyperexponential", hyperexponential, servers=4, load=0.7),
    Row("lognormal, 3 VMs", lognormal, load=0.8, shares=(0.3, 0.3, 0.4), weights=(1, 1, 1)),
    Row("narrow, D 1", narrow, servers=1, load=0.6),
    Row("bursts", exponential, bursts, load=0.6),
    Row("unequal rates", exponential, servers=4, load=0.8, shares=(0.2, 0.8)),
    Row("weights", exponential, servers=4, load=0.85, weights=(1, 4)),
    Row("overload", exponential, servers=4, load=1.1),
    Row("MMPP", exponential, mmpp, load=0.7),
    Row("runs of 50", runs_of_50, load=0.7),
    Row("runs of 50, bursts", runs_of_50, bursts, servers=4, load=0.6),
    Row("long-range", long_range, load=0.6),
    Row("long-range arrivals", exponential, long_range, load=0.6),
)


@dataclass(frozen=True)
class Requests:
    """Requests of a VM: arrivals (N,) and service times (N,), in ms."""

    at: Floats
    service: Floats


def drawn(row: Row, share: float, count: int, random: np.random.Generator) -> Requests:
    """Draw requests of a VM with this share of the load."""
    gap_ms = SERVICE_MS / (row.load * share * row.servers)
    at = np.cumsum(row.gaps(random, count)) * gap_ms
    return Requests(at - at[0], row.service(random, count) * SERVICE_MS)


def responses(vms: Sequence[Requests], weights: Sequence[int], servers: int) -> list[Floats]:
    """Return each VM's response times, in ms."""
    order = sorted((at, k, i) for k, vm in enumerate(vms) for i, at in enumerate(vm.at.tolist()))
    times = [vm.service.tolist() for vm in vms]
    ends = [np.zeros(len(vm.at)) for vm in vms]
    waiting: list[tuple[float, int, int, int]] = []
    busy: list[float] = []
    finish = [0.0] * len(vms)
    virtual = 0.0

    def start(now: float) -> None:
        nonlocal virtual
        virtual, _, k, i = heapq.heappop(waiting)
        ends[k][i] = now + times[k][i]
        heapq.heappush(busy, now + times[k][i])

    for rank, (at, k, i) in enumerate(order):
        while busy and busy[0] <= at:
            now = heapq.heappop(busy)
            if waiting:
                start(now)
        tag = max(virtual, finish[k])
        finish[k] = tag + times[k][i] / weights[k]
        heapq.heappush(waiting, (tag, rank, k, i))
        if len(busy) < servers:
            start(at)
    while waiting:
        start(heapq.heappop(busy))
    return [end - vm.at for end, vm in zip(ends, vms, strict=True)]


def together_ms(vms: Sequence[Requests], row: Row) -> list[float]:
    """Return each VM's mean response time with all VMs on the device, until the first one ends."""
    until = min(vm.at[-1] for vm in vms)
    cut = [Requests(vm.at[vm.at <= until], vm.service[vm.at <= until]) for vm in vms]
    return [float(times.mean()) for times in responses(cut, row.weights, row.servers)]


def counts(row: Row, fewest: int) -> list[int]:
    """Return the number of requests of each VM, so that all last equally long."""
    return [round(fewest * share / min(row.shares)) for share in row.shares]


def sampled(row: Row, fewest: int, seed: Sequence[int]) -> list[Requests]:
    """Draw the requests of all VMs of a row."""
    random = np.random.default_rng(seed)
    each = zip(row.shares, counts(row, fewest), strict=True)
    return [drawn(row, share, count, random) for share, count in each]


def truth_ms(row: Row, fewest: int, repeats: int, seed: int) -> list[float]:
    """Return the mean response times of the process: the mean over fresh samples."""
    means = [together_ms(sampled(row, fewest, [seed, n]), row) for n in range(repeats)]
    return [float(one) for one in np.mean(means, axis=0)]
