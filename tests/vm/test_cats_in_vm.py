# SPDX-License-Identifier: MIT
"""Every part of CATS works in the kernel: with the two workloads together each of its
counters becomes non-zero, and the records say why each request was picked.
"""

from guests import MIB, experiment, group, once

from understudy.ask.experiment import Outcome
from understudy.native import descriptions
from understudy.platforms.vm import in_vm

pytestmark = group("cats")


@once
def surge() -> Outcome:
    """Ten processes on the papers' workload: hits, the table, waits, sweeps."""
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
    """Reads and writes at random: bursts of writes, and nothing to hit."""
    run = experiment(scheduler="cats", requests=2000, processes=12, writes_percent=30)
    return in_vm.run(run, lambda phase, fraction: None)


def test_every_counter_counts() -> None:
    """All that CATS declares, but coalescing, which needs requests that touch."""
    seen = [run.facts["scheduler_counters"] for run in (surge(), writes())]
    names = {counter.name for counter in descriptions.schedulers()["cats"].counters} - {"coalesced"}
    silent = [name for name in names if not any(counters[name] for counters in seen)]
    assert not silent, seen


def test_the_records_say_why() -> None:
    """Hits, table and waits with SURGE; bursts with writes, and only writes in them."""
    assert {"hit", "table", "waited"} <= set(surge().requests["reason"].to_list())
    bursts = writes().requests.filter(reason="burst")
    assert bursts.height
    assert set(bursts["op"].to_list()) == {"write"}


def test_the_shadow_foresees_the_disks_cache() -> None:
    """The papers found 97 % of the hits foreseen; ours has the disk's own parameters."""
    hits = surge().requests.filter("hit")
    assert hits.height > 100
    assert hits.filter(reason="hit").height > 0.95 * hits.height


def test_no_write_starves() -> None:
    """A write waits for MAX and then for at most the burst and the reads owed to it."""
    rows = writes().requests.filter(op="write")
    waited = (rows["dispatch_ns"] - rows["arrival_ns"]).to_numpy()
    assert waited.max() < 1_500_000_000
