# SPDX-License-Identifier: MIT
"""io_uring on a throttled disk (tests/vm/uring.c): polled reads, which a timer completes, and reads
that find the queue full and are sent again.
"""

import pytest
from guests import GIB, boot, group, once, pairs, text

from understudy_devices.base import programs
from understudy_devices.measure import records
from understudy_devices.platforms.vm.machine import Result

READS = 16
KINDS = {
    "polled": ("nvme0n1", "[ $(cat /sys/block/nvme0n1/queue/io_poll) = 1 ] || fail 'not polled'"),
    "nowait": ("vdisk", "put mq-deadline $queue/scheduler; put 4 $queue/nr_requests"),
}


@once
def asked(kind: str) -> Result:
    """Boot the VM in which a ring of reads is sent."""
    disk, before = KINDS[kind]
    scenario = f"""
queue=/sys/block/{disk}/queue
wait_for '[ -b /dev/{disk} ]'
{before}
throttle /dev/{disk}
put 5000000 $vpt/intercept_ns
put 100 $vpt/record
uring {"polled" if kind == "polled" else ""} /dev/{disk} > /out/said || fail 'no ring'
for counter in requests completed failed missed untracked lost held; do
	echo "$counter $(cat $vpt/$counter)"
done > /out/counters
cat $vpt/records > /out/records
cat $vpt/record > /out/record
release
"""
    modules = {"iprobe": "", "vpt": "", "vdisk": f"size={GIB}", "nvme": "poll_queues=1"}
    devices = (
        *("-blockdev", f"driver=null-co,node-name=target,size={GIB},read-zeroes=on"),
        *("-device", "nvme,serial=1,drive=target"),
    )
    program = programs.compiled(programs.Program("uring", ("tests/vm/uring.c",)))
    return boot(
        scenario,
        modules,
        files={"bin/uring": program},
        devices=devices,
        clock="wall",
        cpus=2,
        timeout_seconds=60,
    )


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=group(f"uring-{kind}")) for kind in KINDS]
)
def test_each_read_is_a_request(kind: str) -> None:
    """Most reads are held, since the clock is the wall clock, and all succeed without a kernel
    warning.

    A read that was refused because the queue was full, and sent again, counts once.
    """
    assert text(asked(kind), "said") == f"read {READS}"
    counters = pairs(asked(kind).out["counters"])
    assert [counters.pop(name) for name in ("requests", "completed")] == [READS] * 2
    assert counters.pop("held") > READS / 2
    assert counters == dict.fromkeys(counters, 0)


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=group(f"uring-{kind}")) for kind in KINDS]
)
def test_each_read_is_a_record(kind: str) -> None:
    assert text(asked(kind), "record") == f"100 {READS} {READS}"
    rows = records.from_bytes(asked(kind).out["records"])
    records.check(rows)
    assert sorted(rows["sector"]) == [8000 * read for read in range(READS)]
    assert rows["arrival_ns"].is_sorted()
