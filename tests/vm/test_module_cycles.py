# SPDX-License-Identifier: MIT
"""Probe, throttle and schedulers go and come again, each while its disk is read and written.

The throttle goes with requests in its hands, the disk's scheduler and the probe after it; all
come back, and the next cycle begins once the throttle has held some more.  What the disk
completed is what its processes saw, to the request.  In the virtual clock on one processor,
where nobody waits for the grace periods of RCU, and in wall clock on two.  MODULE_CYCLES is how
often on each; `make test-debug-kernel` asks for 500, of all schedulers but one that needs the
throttle, and so keeps it.
"""

import os
from typing import Any

import pytest
from guests import MIB, SCHEDULER_MODULES, WITHOUT_A_MODEL, boot, group, once, text

from understudy.platforms import reads
from understudy.platforms.vm.machine import Result

CYCLES = int(os.environ.get("MODULE_CYCLES", len(WITHOUT_A_MODEL)))
PROCESSES = 4
HELD = 10
"""Requests that a throttle sees before it goes again."""
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
# What a throttle has to say before it goes.
account() {
	for counter in missed untracked lost; do
		echo "$counter $(cat $vpt/$counter)"
	done >> /out/escaped
}
comes() {
	insmod /modules/$1.ko || fail "$1 does not come again"
}
# Where the kernel has a name already, the module's is us-NAME.
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
    """The VM; what is written to the disk stays in its memory."""
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
    """To the request: a throttle that comes reads once."""
    log = reads.parse_log(cycled(clock).out["reads"], "vdisk")
    before, after = completed(clock, "before"), completed(clock, "after")
    assert 0 <= after - before - CYCLES - len(log) <= PROCESSES
    assert (log["result"] == 4096).all()
    last = {name: int(text(cycled(clock), name)) for name in ("requests", "completed", "failed")}
    assert last["requests"] == last["completed"] >= HELD
    assert last["failed"] == 0


def completed(clock: str, name: str) -> int:
    """Reads and writes, with those that were merged into others; none is in flight."""
    stat = [int(word) for word in text(cycled(clock), name).split()]
    assert stat[8] == 0
    return stat[0] + stat[1] + stat[4] + stat[5]


@on_each_clock
def test_nothing_escaped(clock: str) -> None:
    """From any throttle that went."""
    lines = text(cycled(clock), "escaped").splitlines()
    assert len(lines) == 3 * (CYCLES + 1)
    assert all(line.split()[1] == "0" for line in lines)


@on_each_clock
def test_nothing_leaks(clock: str) -> None:
    """On a kernel that has kmemleak (docs/kernels.md); others tell of no leak."""
    assert text(cycled(clock), "leaks") == ""
