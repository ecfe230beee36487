# SPDX-License-Identifier: MIT
"""VMs that share an array: Debian's programs in control groups, each on its own partition.

The test computes each VM's partition again, in whole MiB.
"""

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from guests import MIB, group, once, slow_group

from understudy_devices.ask.experiment import Outcome, asked
from understudy_devices.ask.schedulers import Choice
from understudy_devices.ask.workloads import WORKLOADS
from understudy_devices.base.errors import RunFailed
from understudy_devices.device import profile
from understudy_devices.measure import records
from understudy_devices.platforms.vm import in_vm
from understudy_devices.traces.read import recorded

FAST = profile.DiskProfile(
    name="fast", array=profile.Servers(servers=32, service_ms=2.0, distribution="constant")
)
DISK_MIB = 600
PARTITION_MIB = (DISK_MIB - 1) // 3
SECTORS_PER_MIB = 2048
TIMES = ("dispatch_ns", "completion_ns")
MOST_NS = 1_000_000  # as for the other witness if the guest's processor is busy
ASKED: dict[str, dict[str, Any]] = {
    "postmark": {"configuration": 2},
    "ffsb": {"configuration": 1, "access": "random"},
}
BOTH = [
    pytest.param(name, marks=(slow_group if name == "postmark" else group)(f"vms-{name}"))
    for name in ASKED
]


def ran(workload: str, **changes: Any) -> Outcome:
    """Run two VMs, with changes."""
    own = ASKED[workload] | {"virtual_bytes": DISK_MIB * MIB, "requests": 800, "vms": (1, 3)}
    one = asked(WORKLOADS[workload], Choice("sfq"), FAST, "vm", **(own | changes))
    outcome = in_vm.run(one, lambda *_: None)
    records.check(outcome.requests)
    return outcome


outcome_of = once(ran)


def measured(workload: str) -> pl.DataFrame:
    """Return the requests of a run."""
    return outcome_of(workload).requests


@pytest.mark.parametrize("workload", BOTH)
def test_each_vm_keeps_to_its_own_partition(workload: str) -> None:
    rows = measured(workload)
    assert rows.height == 800
    assert set(rows["owner"]) == {1, 3}
    for owner, mine in rows.group_by("owner"):
        start = (1 + (int(str(owner[0])) - 1) * PARTITION_MIB) * SECTORS_PER_MIB
        end = start + PARTITION_MIB * SECTORS_PER_MIB
        assert mine["sector"].min() >= start  # type: ignore[operator]
        assert (mine["sector"] + mine["sectors"]).max() <= end  # type: ignore[operator]
        assert mine.height > 200
        assert (mine["op"] == "write").sum() > 100


@pytest.mark.xdist_group("vms-ffsb")
@pytest.mark.slow
def test_the_same_seed_gives_the_same_rows() -> None:
    again = ran("ffsb")
    assert again.requests.equals(measured("ffsb"))
    assert again.block_trace == outcome_of("ffsb").block_trace


@pytest.mark.parametrize("workload", BOTH)
def test_the_kernels_block_trace_has_the_same(workload: str, tmp_path: Path) -> None:
    """The trace has all requests, and some before and after: place, length, dispatch and
    completion.

    Requests that were dispatched after the last recorded arrival may be longer in the trace.
    """
    for name, content in outcome_of(workload).block_trace.items():
        (tmp_path / name).write_bytes(content)
    trace = recorded(str(tmp_path / "disk"))
    seen = pl.DataFrame(
        {
            "sector": trace.sector,
            "sectors": trace.sectors,
            "dispatch_ns": trace.dispatch_ns,
            "completion_ns": trace.completion_ns,
        }
    ).sort("dispatch_ns")
    ours = (
        measured(workload)
        .filter(pl.col("dispatch_ns") < pl.col("arrival_ns").max())
        .group_by("request_id")
        .agg(pl.col("sector").min(), pl.col("sectors").sum(), pl.col(*TIMES).first())
        .sort("dispatch_ns")
    )
    begin = seen["sector"].to_list().index(ours["sector"][0])
    seen = seen[begin:].with_columns(
        pl.col(*TIMES) - seen["dispatch_ns"][begin] + ours["dispatch_ns"][0]
    )
    both = ours.join_asof(seen, on="dispatch_ns", by="sector", strategy="nearest", suffix="_kernel")
    assert not trace.broken
    assert both["completion_ns_kernel"].is_not_null().all()
    apart_ns = (both["completion_ns"] - both["completion_ns_kernel"]).abs()
    assert apart_ns.max() < MOST_NS  # type: ignore[operator]
    assert (both["sectors"] == both["sectors_kernel"]).mean() > 0.99  # type: ignore[operator]


@pytest.mark.parametrize("workload", BOTH)
def test_vms_draw_differently(workload: str) -> None:
    """The VMs access different places within their partitions."""
    rows = measured(workload)
    first, third = (
        [sector - (owner - 1) * PARTITION_MIB * SECTORS_PER_MIB for sector in mine["sector"][:200]]
        for owner, mine in ((one, rows.filter(pl.col("owner") == one)) for one in (1, 3))
    )
    assert first != third


@pytest.mark.xdist_group("vms-postmark")
def test_a_program_that_ends_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "understudy_devices.ask.workloads.postmark.Postmark.command", lambda *_: "exit 3"
    )
    with pytest.raises(RunFailed, match="the program of VM 1 has ended"):
        ran("postmark")
