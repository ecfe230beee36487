# SPDX-License-Identifier: MIT
"""Probe, throttle and schedulers are unloaded and loaded again, while their disk is in use.

The throttle is unloaded while it holds requests, then the disk's scheduler, and then the probe. All
are loaded again, and the next cycle begins after the throttle has held some requests. The disk
completes exactly the requests that its processes saw. The test runs in the virtual clock on one
processor, where RCU grace periods take no time, and in wall clock on two. MODULE_CYCLES is the
number of cycles on each. `make test-debug-kernel` runs 500, without the one scheduler that keeps
the throttle loaded.
"""

import os
from typing import Any

import pytest
from guests import MIB, SCHEDULER_MODULES, WITHOUT_A_MODEL, boot, group, once, text

from understudy_devices.platforms import reads
from understudy_devices.platforms.vm.machine import Result

CYCLES = int(os.environ.get("MODULE_CYCLES", len(WITHOUT_A_MODEL)))
PROCESSES = 4
HELD = 10
"""Requests that a throttle holds before it is removed again."""
CLOCKS: dict[str, dict[str, Any]] = {"virtual": {"cpus": 1}, "wall": {"clock": "wall", "cpus": 2}}
on_each_clock = pytest.mark.parametrize(
    "clock", [pytest.param(clock, marks=group(f"module-cycles-{clock}")) for clock in CLOCKS]
)

SCENARIO = r"""
disk=vdisk
elevator=/sys/block/$disk/queue/scheduler
begin() {
	throttle /dev/$disk
	put 500000 $vpt/intercept_ns
}
# Saves a throttle's counters before the throttle is removed.
account() {
	for counter in missed untracked lost; do
		echo "$counter $(cat $vpt/$counter)"
	done >> /out/escaped
}
comes() {
	insmod /modules/$1.ko || fail "$1 does not come again"
}
# If the kernel has an elevator of the module's name, the module's elevator is us-NAME.
elevator_of() { # MODULE
	grep -o "\<us-$1\>" $elevator || echo $1
}
cycle() { # SCHEDULER
	put $(elevator_of $1) $elevator
	[ $(cat /sys/module/$1/refcnt) -gt 0 ] || fail "$1 is not chosen"
	account
	rmmod vpt || fail 'vpt stays'
	put none $elevator
	rmmod $1 || fail "$1 stays"
	rmmod iprobe || fail 'iprobe stays'
	comes iprobe
	comes $1
	comes vpt
	begin
	wait_for '[ $(cat $vpt/requests) -ge $HELD ]'
	echo $1 >> /out/cycles
}

begin
tr -s ' ' < /sys/block/$disk/stat > /out/before
random --device /dev/$disk --processes $PROCESSES --writes 30 --think-us 50000 \
	--log /out/reads --log-max $((1000000 + 1000 * CYCLES)) < /dev/null > /tmp/said 2>&1 &
load=$!
wait_for 'grep -qs ready /tmp/said'
n=0
while [ $n -lt $CYCLES ]; do
	for scheduler in $SCHEDULERS; do
		[ $n -lt $CYCLES ] || break
		n=$((n + 1))
		port notify "cycle $n: $scheduler"
		cycle $scheduler
	done
done
kill -TERM $load
wait $load || fail "random: $(cat /tmp/said)"
tr -s ' ' < /sys/block/$disk/stat > /out/after
cp $vpt/requests $vpt/completed $vpt/failed /out/
account
leaks
"""


@once
def cycled(clock: str) -> Result:
    """Boot the VM; the disk keeps written data in the VM's memory."""
    settings = f"CYCLES={CYCLES} PROCESSES={PROCESSES} HELD={HELD}\n"
    settings += f"SCHEDULERS='{' '.join(WITHOUT_A_MODEL)}'\n"
    vdisk = f"size={256 * MIB} queues={CLOCKS[clock]['cpus']}"
    modules = {"iprobe": "", "vpt": "", "vdisk": vdisk}
    return boot(
        settings + SCENARIO,
        modules | {name: SCHEDULER_MODULES[name] for name in WITHOUT_A_MODEL},
        memory_mib=2048,
        timeout_seconds=1200 + 30 * CYCLES,
        **CLOCKS[clock],
    )


@on_each_clock
def test_each_had_its_turn(clock: str) -> None:
    turns = [WITHOUT_A_MODEL[n % len(WITHOUT_A_MODEL)] for n in range(CYCLES)]
    assert text(cycled(clock), "cycles").split() == turns


@on_each_clock
def test_the_books_balance(clock: str) -> None:
    """The numbers agree to the request; each new throttle reads once."""
    log = reads.parse_log(cycled(clock).out["reads"], "vdisk")
    before, after = completed(clock, "before"), completed(clock, "after")
    assert 0 <= after - before - CYCLES - len(log) <= PROCESSES
    assert (log["result"] == 4096).all()
    last = {name: int(text(cycled(clock), name)) for name in ("requests", "completed", "failed")}
    assert last["requests"] == last["completed"] >= HELD
    assert last["failed"] == 0


def completed(clock: str, name: str) -> int:
    """Return the reads and writes, including merged ones; none is in flight."""
    stat = [int(word) for word in text(cycled(clock), name).split()]
    assert stat[8] == 0
    return stat[0] + stat[1] + stat[4] + stat[5]


@on_each_clock
def test_nothing_escaped(clock: str) -> None:
    """No request bypassed a throttle that was unloaded."""
    lines = text(cycled(clock), "escaped").splitlines()
    assert len(lines) == 3 * (CYCLES + 1)
    assert all(line.split()[1] == "0" for line in lines)


@on_each_clock
def test_nothing_leaks(clock: str) -> None:
    """Only a kernel with kmemleak reports leaks (docs/kernels.md)."""
    assert text(cycled(clock), "leaks") == ""
