# SPDX-License-Identifier: MIT
"""The simulator compared with results of queueing theory.

A figure agrees if the 99 % confidence interval of its batch means contains the theoretical value.
The interval must also be narrow enough to detect an error of a few percent.  All times are in
milliseconds.

* M/G/1, first come first served: the Pollaczek-Khinchine mean wait.
* M/M/c: Erlang's.
* Machine repairman: processes think, then wait for one of c servers.
* Conservation: on one server that never idles while requests wait, the order of service does not
  change the sum of service time times wait, to the nanosecond.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy.special import stdtrit

from understudy_devices.device.timing import Timing
from understudy_devices.native import descriptions
from understudy_devices.native.arrays import Columns
from understudy_devices.native.drive import Drive
from understudy_devices.native.simulation import Array, Rows, Simulation
from understudy_devices.native.simulator import run

pytestmark = pytest.mark.thorough

MS = 1_000_000
CAPACITY = 2**21
REQUESTS = 1_050_000
BATCHES = 20
CONFIDENCE = 0.99

Floats = npt.NDArray[np.float64]


def agrees(samples: Floats, theory: float, *, within: float = 0.03) -> None:
    """Check a mean; samples are nearly independent, and `within` limits the relative width of
    the interval."""
    quantile = float(stdtrit(len(samples) - 1, (1 + CONFIDENCE) / 2))
    half = quantile * samples.std(ddof=1) / math.sqrt(len(samples))
    assert half < within * theory
    assert samples.mean() == pytest.approx(theory, abs=half)


def batches(values: npt.NDArray[Any]) -> list[npt.NDArray[Any]]:
    """Return batches in order, without the first, in which the queue has not reached its steady
    state."""
    return np.array_split(values, BATCHES + 1)[1:]


def means(values: npt.NDArray[Any]) -> Floats:
    return np.array([batch.mean() for batch in batches(values)])


def wait_ms(rows: Columns) -> Floats:
    waited: Floats = (rows["start_ns"] - rows["arrival_ns"]) / MS
    return waited


def service_ms(rows: Columns) -> Floats:
    served: Floats = rows["model_service_ns"] / MS
    return served


# M/G/1.


def poisson(device: Drive | Array, gap_ms: float, seed: int = 1) -> Columns:
    simulation = Simulation(
        workload="poisson",
        scheduler="fcfs",
        device=device,
        capacity_sectors=CAPACITY,
        requests=REQUESTS,
        parameters={"mean_gap_ns": round(gap_ms * MS)},
        seed=seed,
    )
    return run(simulation).rows


def pollaczek_khinchine(gap_ms: float, mean: float, square: float) -> float:
    """Return the mean wait, given the mean and the mean square of the service time."""
    return square / gap_ms / (2 * (1 - mean / gap_ms))


def constant_disk() -> tuple[Drive, float, float]:
    return Drive.linear(CAPACITY, 6 * MS, 0), 6.0, 36.0


def rotating_disk() -> tuple[Drive, float, float]:
    """Return a disk with 2 ms and a uniform phase of a rotation of 8 ms; its service time's mean
    and mean square."""
    seek = ((0, 0), (CAPACITY, 0))
    timing = Timing(CAPACITY, 2 * MS, seek, rotation_ns=8 * MS, random_phase=True)
    return Drive(timing, seed=1), 6.0, 36.0 + 8.0**2 / 12


def line() -> tuple[Drive, float, float]:
    """Return the papers' disk.  Two uniform positions are a third of the disk apart on average,
    with a mean square of a sixth."""
    intercept, seek = 4.25, 5.25
    drive = Drive.linear(CAPACITY, round(intercept * MS), round(seek * MS))
    return drive, intercept + seek / 3, intercept**2 + 2 * intercept * seek / 3 + seek**2 / 6


@pytest.mark.parametrize("disk", [constant_disk, rotating_disk])
@pytest.mark.parametrize("load", [0.3, 0.6, 0.8])
def test_mean_wait_for_a_disk_whose_times_are_independent(disk: Any, load: float) -> None:
    drive, mean, square = disk()
    gap_ms = mean / load
    rows = poisson(drive, gap_ms)
    agrees(means(service_ms(rows)), mean)
    agrees(means(service_ms(rows) ** 2), square)
    agrees(means(wait_ms(rows)), pollaczek_khinchine(gap_ms, mean, square))


@pytest.mark.parametrize("load", [0.3, 0.6, 0.8])
def test_mean_wait_for_random_reads_on_a_line(load: float) -> None:
    """A request begins where the previous one ended, so service times are correlated, and so are
    waits.  The squares of both sides of Lindley's equation have equal means.  So the mean wait
    exceeds Pollaczek-Khinchine's by rate / (1 - load) times the covariance of a request's wait and
    service time.  The excess is below 1 % here.
    """
    drive, mean, square = line()
    gap_ms = mean / load
    rows = poisson(drive, gap_ms)
    agrees(means(service_ms(rows)), mean)
    agrees(means(service_ms(rows) ** 2), square)
    pairs = zip(batches(wait_ms(rows)), batches(service_ms(rows)), strict=True)
    related = [
        wait.mean() - np.mean(wait * (service - mean)) / (gap_ms * (1 - load))
        for wait, service in pairs
    ]
    agrees(np.array(related), pollaczek_khinchine(gap_ms, mean, square))


# M/M/c.


def erlang_c(servers: int, offered: float) -> float:
    """Return the probability of waiting, by the Erlang B recursion."""
    blocked = 1.0
    for n in range(1, servers + 1):
        blocked = offered * blocked / (n + offered * blocked)
    return blocked / (1 - offered / servers * (1 - blocked))


@pytest.mark.parametrize(
    ("servers", "load", "runs"), [(1, 0.5, 1), (1, 0.7, 1), (4, 0.8, 4), (32, 0.8, 8), (32, 0.9, 8)]
)
def test_mean_wait_for_an_array(servers: int, load: float, runs: int) -> None:
    """With more servers, queues last longer, so more runs are needed."""
    service = 1.0
    waiting = erlang_c(servers, servers * load)
    waited, share, served = [], [], []
    for seed in range(1, runs + 1):
        rows = poisson(Array(servers, MS, exponential=True), service / (servers * load), seed)
        waited.append(means(wait_ms(rows)))
        share.append(means(wait_ms(rows) > 0))
        served.append(means(service_ms(rows)))
    agrees(np.concatenate(served), service)
    agrees(np.concatenate(share), waiting)
    agrees(np.concatenate(waited), waiting * service / (servers * (1 - load)), within=0.04)


# Machine repairman.


def repairman(processes: int, servers: int, think: float, service: float) -> float:
    """Return the throughput in requests each ms, from a Markov chain of the number of waiting
    processes."""
    weights = [1.0]
    for waiting in range(1, processes + 1):
        up = (processes - waiting + 1) / think
        weights.append(weights[-1] * up * service / min(waiting, servers))
    busy = sum(weight * min(n, servers) for n, weight in enumerate(weights))
    return busy / sum(weights) / service


def exponential_thinks(processes: int, think_ms: float) -> dict[str, Any]:
    """Return a table so long that the measurement ends before any process does."""
    each = 2 * REQUESTS // processes
    count = each * processes
    table = Rows(
        first=np.arange(processes + 1) * each,
        think_ns=np.random.default_rng(1).exponential(think_ms * MS, count),
        sector=np.zeros(count),
        sectors=np.ones(count),
        op=np.zeros(count),
        owner=np.repeat(np.arange(processes), each),
    )
    return {"workload": "rows-closed", "rows": table}


def constant_thinks(processes: int, think_ms: float) -> dict[str, Any]:
    return {"workload": "random", "parameters": {"think_ns": round(think_ms * MS)}}


@pytest.mark.parametrize("thinks", [exponential_thinks, constant_thinks])
@pytest.mark.parametrize(("processes", "servers"), [(8, 1), (50, 4)])
def test_throughput_and_response_of_processes_that_think(
    thinks: Any, processes: int, servers: int
) -> None:
    """Thinking involves no queue, so only the mean think time matters, not its distribution."""
    think, service = 10.0, 1.0
    simulation = Simulation(
        scheduler="fcfs",
        device=Array(servers, MS, exponential=True),
        capacity_sectors=CAPACITY,
        requests=REQUESTS,
        processes=processes,
        **thinks(processes, think),
    )
    rows = run(simulation).rows
    rate = repairman(processes, servers, think, service)
    gaps_ms = np.diff(np.sort(rows["completion_ns"])) / MS
    response_ms = (rows["completion_ns"] - rows["arrival_ns"]) / MS
    agrees(means(gaps_ms), 1 / rate)
    agrees(means(response_ms), processes / rate - think)


# Conservation.

OWNERS = 6
WITHOUT_WAITS = {
    "anticipatory": {"antic_expire_ns": 0},
    "cats": {"busdriver_ns": 0, "min_write_delay_ns": 0},
    "cfq": {"slice_idle_ns": 0},
    "cscan": {"full_seek_ns": 0},
    "scan": {"full_seek_ns": 0},
    "tbbd": {"busdriver_ns": 0},
}


def crowd(seed: int) -> Rows:
    """Return reads and writes of several owners; the server is busy for 19 of 20 ms."""
    draw = np.random.default_rng(seed)
    count = 3000
    return Rows(
        first=[0, count],
        think_ns=draw.exponential(4 * MS, count),
        sector=draw.integers(0, CAPACITY - 16, count),
        sectors=draw.integers(1, 17, count),
        op=draw.random(count) < 0.3,
        owner=draw.integers(0, OWNERS, count),
        cost_ns=1 + draw.gamma(0.5, 2 * 3.8 * MS, count).astype(np.uint64),
    )


ON_ARRAYS = [name for name, each in descriptions.schedulers().items() if not each.needs_model]


def serve(scheduler: str, device: Drive | Array, seed: int, **tunables: int) -> Columns:
    table = crowd(seed)
    simulation = Simulation(
        workload="rows-open",
        scheduler=scheduler,
        device=device,
        capacity_sectors=CAPACITY,
        requests=len(table.sector),
        rows=table,
        tunables=tunables,
    )
    return run(simulation).rows


def products(service_ns: Sequence[int], wait_ns: Sequence[int]) -> int:
    return sum(service * wait for service, wait in zip(service_ns, wait_ns, strict=True))


def total(rows: Columns) -> int:
    """Return the sum of service time times wait in ns², as a Python integer, which cannot
    overflow."""
    wait_ns = rows["start_ns"] - rows["arrival_ns"]
    return products(rows["model_service_ns"].tolist(), wait_ns.tolist())


def conserved(seed: int) -> int:
    """Return the same sum for first come, first served, by Lindley's equation."""
    table = crowd(seed)
    thinks, costs = table.think_ns.astype(int).tolist(), table.cost_ns.tolist()
    waits = [0]
    for think, cost in zip(thinks[1:], costs, strict=False):
        waits.append(max(0, waits[-1] + cost - think))
    return products(costs, waits)


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("scheduler", ON_ARRAYS)
def test_no_order_changes_the_sum_of_service_time_times_wait(scheduler: str, seed: int) -> None:
    """The work left in the queue is the same in every order.  A waiting request counts with its
    service time, and a request in service with the rest of its service time.  Over time, requests
    in service add half their squared service time, in any order too.

    Some schedulers wait on purpose, for a process or while the arm goes to the edge.  The law holds
    for them if these waits are set to 0.
    """
    rows = serve(scheduler, Array(1), seed, **WITHOUT_WAITS.get(scheduler, {}))
    assert total(rows) == conserved(seed)


def test_orders_do_change_the_mean_wait() -> None:
    waits = {
        name: wait_ms(serve(name, Array(1), 1, **WITHOUT_WAITS.get(name, {}))).mean()
        for name in ON_ARRAYS
    }
    assert len(set(waits.values())) > len(waits) // 2


@pytest.mark.parametrize("scheduler", WITHOUT_WAITS)
def test_a_server_that_idles_on_purpose_adds_to_the_sum(scheduler: str) -> None:
    assert total(serve(scheduler, Array(1), 1)) > conserved(1)


def test_a_disk_is_not_bound_by_it() -> None:
    """Service times on a disk depend on the order, which makes disk scheduling worthwhile."""
    drive = Drive.linear(CAPACITY, MS, 8 * MS)
    assert total(serve("sstf", drive, 1)) < total(serve("fcfs", drive, 1)) / 2
