# SPDX-License-Identifier: MIT
"""Every part of CATS works in the kernel.

Each counter becomes non-zero in one of two workloads, and the records contain each reason for a
pick.
"""

from guests import MIB, experiment, group, once

from understudy_devices.ask.experiment import Outcome
from understudy_devices.native import descriptions
from understudy_devices.platforms.vm import in_vm

pytestmark = group("cats")


@once
def surge() -> Outcome:
    """Run ten processes with the papers' workload: hits, the table, waits, sweeps."""
    run = experiment(
        workload="surge-direct",
        scheduler="cats",
        requests=2000,
        processes=10,
        virtual_bytes=256 * MIB,
    )
    return in_vm.run(run, lambda phase, fraction: None)


@once
def writes() -> Outcome:
    """Run random reads and writes: bursts of writes, and no hits."""
    run = experiment(scheduler="cats", requests=2000, processes=12, writes_percent=30)
    return in_vm.run(run, lambda phase, fraction: None)


def test_every_counter_counts() -> None:
    """The exception is coalescing, which needs adjacent requests."""
    seen = [run.facts["scheduler_counters"] for run in (surge(), writes())]
    names = {counter.name for counter in descriptions.schedulers()["cats"].counters} - {"coalesced"}
    silent = [name for name in names if not any(counters[name] for counters in seen)]
    assert not silent, seen


def test_the_records_say_why() -> None:
    """SURGE has hits, table and waits; the other workload has bursts, with writes only."""
    assert {"hit", "table", "waited"} <= set(surge().requests["reason"].to_list())
    bursts = writes().requests.filter(reason="burst")
    assert bursts.height
    assert set(bursts["op"].to_list()) == {"write"}


def test_the_shadow_foresees_the_disks_cache() -> None:
    """The papers' shadow cache predicts 97 % of the hits; ours has the disk's own parameters."""
    hits = surge().requests.filter("hit")
    assert hits.height > 100
    assert hits.filter(reason="hit").height > 0.95 * hits.height


def test_no_write_starves() -> None:
    """A write waits for MAX, and then at most for the burst and the reads before it."""
    rows = writes().requests.filter(op="write")
    waited = (rows["dispatch_ns"] - rows["arrival_ns"]).to_numpy()
    assert waited.max() < 1_500_000_000
