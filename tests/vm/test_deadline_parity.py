# SPDX-License-Identifier: MIT
"""Our deadline picks as the kernel's mq-deadline does, request by request.

The kernel's scheduler runs in a VM on random reads and writes. Its arrivals and the times of its
picks are then replayed to core/schedulers/deadline.c, which must pick the same requests. Only
expiry may differ, since the kernel counts it in jiffies of 4 ms. The second run makes expiry
matter; each difference must then be at an expiry within one jiffy of the pick.
"""

from typing import Any

import numpy as np
import polars as pl
import pytest
from guests import GIB, experiment, group, once

from understudy_devices.ask.experiment import Experiment, Outcome
from understudy_devices.measure import metrics
from understudy_devices.native import replay
from understudy_devices.native.replay import Arrivals
from understudy_devices.platforms.vm import in_vm

JIFFY_NS = 4_000_000
MS = 1_000_000


def mixed(scheduler: str, **changes: Any) -> Experiment:
    """Return an experiment: 24 processes, 30 % writes, on a disk so large that nothing merges."""
    ordinary = {"requests": 3000, "processes": 24, "writes_percent": 30, "virtual_bytes": 16 * GIB}
    return experiment(scheduler=scheduler, **(ordinary | changes))


@once
def outcome(run: Experiment) -> Outcome:
    """Run the experiment in a VM."""
    return in_vm.run(run, lambda phase, fraction: None)


def seen_until_the_last_arrival(run: Experiment) -> pl.DataFrame:
    """Return all requests up to the last arrival.

    Later picks may be of requests that are not in the records.
    """
    rows = outcome(run).requests.with_row_index("id").sort("arrival_ns", "id")
    assert rows["request_id"].n_unique() == rows.height, "requests were merged"
    return rows


def replayed(rows: pl.DataFrame, tunables: dict[str, int]) -> tuple[pl.DataFrame, np.ndarray]:
    """Return the kernel's picks in order, and our scheduler's picks at the same times."""
    picks = rows.filter(pl.col("pick_ns") <= rows["arrival_ns"].max()).sort("pick_ns")
    ours = replay.replay(
        "deadline",
        Arrivals(
            time_ns=rows["arrival_ns"].to_numpy(),
            id=rows["id"].to_numpy(),
            sector=rows["sector"].to_numpy(),
            sectors=rows["sectors"].to_numpy(),
            owner=rows["owner"].to_numpy(),
            op=(rows["op"] == "write").cast(pl.Int64).to_numpy(),
        ),
        picks["pick_ns"].to_numpy(),
        tunables=tunables,
    )
    return picks, ours.id


@group("parity")
def test_same_pick_at_each_instant() -> None:
    """Reads do not expire under this load, so there is no difference."""
    run = mixed("mq-deadline", tunables=(("read_expire", 60_000),))
    picks, ours = replayed(seen_until_the_last_arrival(run), {"read_expire_ns": 60_000 * MS})
    assert picks.height > 2500
    different = np.flatnonzero(picks["id"].to_numpy() != ours)
    assert not len(different), f"first at pick {different[0]} of {picks.height}"
    assert (picks["op"] == "write").any()


def first_difference(picks: pl.DataFrame, ours: np.ndarray) -> int:
    """Return the index of the first different pick, or the number of picks."""
    different = np.flatnonzero(picks["id"].to_numpy() != ours)
    return int(different[0]) if len(different) else picks.height


@group("parity-expiry")
def test_with_expiry_they_differ_within_a_jiffy_only() -> None:
    """Reads expire far below the response time, so nearly each batch begins with an expired read.

    With the same expiry, the first different pick is one for which the kernel's clock of 4 ms
    decides. With the default expiry, picks differ much earlier.
    """
    expire_ms = 60
    run = mixed("mq-deadline", tunables=(("read_expire", expire_ms),))
    rows = seen_until_the_last_arrival(run)
    first = first_difference(*replayed(rows, {"read_expire_ns": expire_ms * MS}))
    picks, never = replayed(rows, {})
    assert first_difference(picks, never) < min(first, 1000)
    # After the first difference the two queues differ, so only the first difference counts.
    assert first == picks.height or nearly_expired(rows, picks, first, expire_ms)


def nearly_expired(rows: pl.DataFrame, picks: pl.DataFrame, first: int, expire_ms: int) -> bool:
    """Return whether the oldest read expired within a jiffy of that pick."""
    arrival = dict(zip(rows["id"], rows["arrival_ns"], strict=True))
    pick_ns = picks["pick_ns"][first]
    oldest = min(
        arrival[row["id"]]
        for row in picks[first:].iter_rows(named=True)
        if row["op"] == "read" and row["arrival_ns"] <= pick_ns
    )
    return bool(abs(pick_ns - oldest - expire_ms * MS) <= JIFFY_NS)


@group("parity")
def test_closed_loops_agree() -> None:
    """In a closed loop a microsecond can decide which request is in a batch, and later arrivals
    depend on picks.

    The orders therefore differ, and only the means agree.
    """
    kernel, ours, unsorted = (
        metrics.summarise(outcome(mixed(name))) for name in ("mq-deadline", "deadline", "fcfs")
    )
    assert ours.mean_response_ms == pytest.approx(kernel.mean_response_ms, rel=0.02)
    assert ours.mean_service_ms == pytest.approx(kernel.mean_service_ms, rel=0.02)
    assert unsorted.mean_response_ms > 1.1 * kernel.mean_response_ms
