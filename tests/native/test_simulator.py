# SPDX-License-Identifier: MIT
"""The engine from Python: independent runs, rows without copying, invalid input."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pytest

from understudy_devices.base.errors import Unstable
from understudy_devices.native import descriptions
from understudy_devices.native.drive import Drive
from understudy_devices.native.simulation import Array, PageCache, Rows, Simulation
from understudy_devices.native.simulator import Answer, run

MS = 1_000_000
CAPACITY = 2**20
TABLE = Rows(
    first=[0, 1, 2],
    think_ns=[0, 0],
    sector=[0, 800],
    sectors=[8, 8],
    op=[0, 1],
    owner=[0, 1],
)


def asked(scheduler: str = "clook", **changes: Any) -> Simulation:
    ordinary = Simulation(
        workload="random",
        scheduler=scheduler,
        device=Drive.linear(CAPACITY, MS, 5 * MS, cache=(8, 256, 64), hit_ns=MS // 10),
        capacity_sectors=CAPACITY,
        requests=3000,
        processes=20,
    )
    return replace(ordinary, **changes)


def equal(one: Answer, other: Answer) -> bool:
    return one.figures == other.figures and all(
        np.array_equal(one.rows[name], other.rows[name]) for name in one.rows
    )


def test_simulations_side_by_side_do_not_notice_each_other() -> None:
    """Run every scheduler twice, several at a time, two of them with a shared drive."""
    simulations = [asked(name) for name in descriptions.schedulers() for _ in range(2)]
    simulations += [asked(name, device=simulations[0].device) for name in ("cats", "sfq")]
    alone = [run(one) for one in simulations]
    with ThreadPoolExecutor(max_workers=8) as pool:
        together = list(pool.map(run, simulations))
    assert all(map(equal, alone, together))
    assert not equal(alone[0], alone[2])


@pytest.mark.parametrize("scheduler", descriptions.schedulers())
def test_ties_go_by_process(scheduler: str) -> None:
    """Requests for one sector that arrive at one instant are served in the order of the
    processes."""
    count = 12
    at_once = Rows(
        first=np.arange(count + 1),
        think_ns=np.full(count, MS),
        sector=np.full(count, 5000),
        sectors=np.full(count, 8),
        op=np.zeros(count),
        owner=np.arange(count),
    )
    changes = {"workload": "rows-open", "rows": at_once, "processes": count, "requests": count}
    rows = run(asked(scheduler, **changes)).rows
    assert rows["owner"].tolist() == list(range(count))
    assert rows["dispatch_ns"].tolist() == sorted(rows["dispatch_ns"].tolist())


def test_polars_reads_the_rows_where_they_are() -> None:
    for name, column in run(asked()).rows.items():
        series = pl.Series(name, column)
        assert np.shares_memory(series.to_numpy(allow_copy=False), column), name


def test_an_overload_tells_the_utilisation() -> None:
    """Two servers of 10 ms cannot serve 300 requests a second."""
    array = Array(2, 10 * MS, exponential=True)
    rate = {"mean_gap_ns": 20 * round(1e9 / 300)}
    over = asked(workload="poisson", device=array, parameters=rate, requests=10**6)
    with pytest.raises(Unstable, match=r"they arrive 1\.[45]\d times as fast"):
        run(over)


def test_an_overload_before_anything_is_served_says_so() -> None:
    over = asked(workload="poisson", parameters={"mean_gap_ns": 1})
    with pytest.raises(Unstable, match=r"more than 4,096 requests .*; not one is served yet; take"):
        run(over)


def test_a_table_that_does_not_fit_says_what_to_do() -> None:
    count = 3000
    one, nothing = np.ones(count, int), np.zeros(count)
    burst = Rows([0, count], one, one, one, op=nothing, owner=nothing)
    changes = {"workload": "rows-open", "rows": burst, "processes": 1, "requests": count}
    table = asked("fcfs", **changes, max_pending=1000)
    with pytest.raises(Unstable, match=r"more than 1,000 requests .*; take part of the table"):
        run(table)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"requests": 0}, "requests is 0"),
        ({"requests": -1}, "requests is -1, negative"),
        ({"processes": 0}, "the processes are not from 1 to 100000"),
        ({"processes": -1}, "processes is -1, negative"),
        ({"depth": 0}, "the depth is not from 1 to 1048576"),
        ({"depth": 2**40}, "depth is 1099511627776, .* far too large"),
        ({"max_pending": 0}, "max_pending is not from 1 to 1048576"),
        ({"gap_ns": -1}, "gap_ns is -1, negative"),
        ({"seed": -1}, "seed is -1, negative"),
        ({"capacity_sectors": 1}, "the disk's size differs from"),
        ({"device": Array(0)}, "servers are not from 1 to 65536"),
        ({"device": Array(-1), "depth": 1}, "servers is -1, negative"),
        ({"device": Array(1, -1)}, "mean_service_ns is -1, negative"),
        ({"cache": PageCache(-1)}, "bytes is -1, negative"),
        ({"weights": [1, 0]}, "a weight is 0"),
        ({"weights": [1, -1]}, "weight: not every entry is from 0 to 4294967295"),
        ({"weights": np.array([1, 2**32])}, "weight: not every entry is from 0 to"),
        ({"weights": [1]}, "weight has 1 entries, not 2"),
        ({"levels": [0, 8]}, "level is not from 0 to 7"),
        ({"parameters": {"think_ns": -1}}, "think_ns is -1, not from 0 to"),
        ({"tunables": {"nonsense": 1}}, "clook has no tunable nonsense"),
    ],
)
def test_impossible_simulations_are_refused_by_name(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        run(asked(**({"processes": 2} | changes)))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"first": [0, 3, 2]}, "not in order"),
        ({"first": [0, 1, 3]}, "fewer rows"),
        ({"first": [0, 2]}, "first has 2 entries, not 3"),
        ({"think_ns": [0, -1]}, "think_ns: not every entry is from 0"),
        ({"think_ns": np.array([0, np.nan])}, "think_ns: not every entry is from 0"),
        ({"sector": [0, CAPACITY - 7]}, "past the end of the disk"),
        ({"sector": np.array([0, -1])}, "sector: not every entry is from 0"),
        ({"sectors": [8, 0]}, "no sectors"),
        ({"op": [0, 2]}, "neither a read nor a write"),
        ({"op": np.array([0, 256])}, "op: not every entry is from 0 to 255"),
        ({"owner": [0, 2**32]}, "owner: not every entry is from 0 to 4294967295"),
    ],
)
def test_an_impossible_table_is_refused_by_column(changes: dict[str, Any], message: str) -> None:
    table = replace(TABLE, **changes)
    with pytest.raises(ValueError, match=message):
        run(asked(workload="rows-open", rows=table, processes=2))


def test_what_is_possible_is_not_refused() -> None:
    assert run(asked(workload="rows-open", rows=TABLE, processes=2)).figures.completed == 2
