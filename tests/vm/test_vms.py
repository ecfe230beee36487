# SPDX-License-Identifier: MIT
"""VMs that share an array: Debian's programs in control groups, each on a partition of its own.

Where a VM's partition lies is reckoned here a second time, in whole MiB.
"""

from typing import Any

import polars as pl
import pytest
from guests import MIB, group, once

from understudy.ask.experiment import asked
from understudy.ask.schedulers import Choice
from understudy.ask.workloads import WORKLOADS
from understudy.base.errors import RunFailed
from understudy.device import profile
from understudy.measure import records
from understudy.platforms.vm import in_vm

FAST = profile.DiskProfile(
    name="fast", array=profile.Servers(servers=32, service_ms=2.0, distribution="constant")
)
DISK_MIB = 600
PARTITION_MIB = (DISK_MIB - 1) // 3
SECTORS_PER_MIB = 2048
ASKED: dict[str, dict[str, Any]] = {
    "postmark": {"configuration": 2},
    "ffsb": {"configuration": 1, "access": "random"},
}
BOTH = [pytest.param(name, marks=group(f"vms-{name}")) for name in ASKED]


def run(workload: str, **changes: Any) -> pl.DataFrame:
    """The rows of two VMs, or as asked."""
    own = ASKED[workload] | {"virtual_bytes": DISK_MIB * MIB, "requests": 800, "vms": (1, 3)}
    one = asked(WORKLOADS[workload], Choice("sfq"), FAST, "vm", **(own | changes))
    rows = in_vm.run(one, lambda *_: None).requests
    records.check(rows)
    return rows


measured = once(run)


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


@pytest.mark.parametrize("workload", BOTH)
def test_the_same_seed_gives_the_same_rows(workload: str) -> None:
    assert run(workload).equals(measured(workload))


@pytest.mark.parametrize("workload", BOTH)
def test_vms_draw_differently(workload: str) -> None:
    """Neither has the other's order of places."""
    rows = measured(workload)
    first, third = (
        [sector - (owner - 1) * PARTITION_MIB * SECTORS_PER_MIB for sector in mine["sector"][:200]]
        for owner, mine in ((one, rows.filter(pl.col("owner") == one)) for one in (1, 3))
    )
    assert first != third


@pytest.mark.xdist_group("vms-postmark")
def test_a_program_that_ends_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("understudy.ask.workloads.postmark.Postmark.command", lambda *_: "exit 3")
    with pytest.raises(RunFailed, match="the program of VM 1 has ended"):
        run("postmark")
