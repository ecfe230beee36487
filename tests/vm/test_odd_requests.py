# SPDX-License-Identifier: MIT
"""The rules for requests other than reads and writes (docs/vpt-sysfs.md), a disk that is suspended,
and a disk that is removed.

On a SCSI disk that can discard and write zeroes, a read is held for two seconds, and another
request arrives meanwhile. (test_flush.py has flush and FUA.)
"""

import pytest
from guests import GIB, boot, group, once, pairs, text

from understudy_devices.base import programs
from understudy_devices.measure import records
from understudy_devices.platforms import reads
from understudy_devices.platforms.vm.machine import Result

HELD_NS = 2_000_000_000
CORE = {"iprobe": "", "vpt": "", "scsi_debug": "dev_size_mb=64 ndelay=100000 lbpu=1 lbpws=1"}
SCENARIO = f"""
wait_for '[ -b /dev/sda ]'
throttle /dev/sda
put {HELD_NS} $vpt/intercept_ns
for odd in discard zero passthrough; do
	put 100 $vpt/record
	dd if=/dev/sda of=/dev/null bs=4k skip=1000 count=1 iflag=direct 2> /dev/null &
	wait_for '[ $(cat $vpt/held) = 1 ]'
	read -r before rest < /proc/uptime
	odd $odd /dev/sda || fail "$odd"
	read -r after rest < /proc/uptime
	echo "$before $after" > /out/clock-$odd
	wait
	for counter in requests completed failed missed untracked lost; do
		echo "$counter $(cat $vpt/$counter)"
	done > /out/counters-$odd
	cat $vpt/records > /out/records-$odd
done
"""


@once
def odd() -> Result:
    """Boot the VM."""
    program = programs.Program("odd", ("tests/vm/odd.c",))
    files = {"bin/odd": programs.compiled(program)}
    return boot(SCENARIO, {**CORE, "sd_mod": ""}, files=files)


def seconds(name: str) -> float:
    before, after = map(float, text(odd(), f"clock-{name}").split())
    return after - before


@group("odd")
@pytest.mark.parametrize("name", ["discard", "zero"])
def test_it_takes_its_turn_and_no_time(name: str) -> None:
    """The request completes when the read before it is due, and not earlier."""
    rows = records.from_bytes(odd().out[f"records-{name}"])
    assert rows["op"].to_list() == ["read", "other"]
    assert rows["model_service_ns"].to_list() == [HELD_NS, 0]
    read, other = rows.iter_rows(named=True)
    assert other["dispatch_ns"] < read["due_ns"] == other["due_ns"] <= other["completion_ns"]
    assert 1.5 < seconds(name) < 2.5
    counters = pairs(odd().out[f"counters-{name}"])
    assert counters["requests"] == counters["completed"] == 2
    assert counters["missed"] == 0


@group("odd")
def test_passthrough_is_not_seen() -> None:
    """A passthrough command waits for no request, and is not counted."""
    assert seconds("passthrough") < 0.5
    assert records.from_bytes(odd().out["records-passthrough"])["op"].to_list() == ["read"]
    counters = pairs(odd().out["counters-passthrough"])
    assert counters == dict.fromkeys(counters, 0) | {"requests": 1, "completed": 1}


# A disk goes offline under load, again and again: new requests fail, and earlier ones do not.

SUSPENDED = """
wait_for '[ -b /dev/sda ]'
throttle /dev/sda
put 3000000 $vpt/intercept_ns
random --device /dev/sda --processes 4 < /dev/null > /tmp/said 2>&1 &
wait_for 'grep -qs ready /tmp/said'
for round in 1 2 3 4 5; do
	put offline /sys/block/sda/device/state
	usleep $((50000 * round))
	put running /sys/block/sda/device/state
	echo "before $(cat $vpt/completed)" > /out/completed-$round
	sleep 0.5
	echo "after $(cat $vpt/completed)" >> /out/completed-$round
done
kill -TERM $!
wait
for counter in requests completed failed missed untracked lost; do
	echo "$counter $(cat $vpt/$counter)"
done > /out/counters
dd if=/dev/sda of=/dev/null bs=4k count=10 iflag=direct 2> /dev/null || fail 'it stays offline'
release
rmmod vpt || fail 'vpt stays'
"""


@once
def suspended() -> Result:
    """Boot the VM in which sda goes offline, on two CPUs."""
    return boot(SUSPENDED, {**CORE, "sd_mod": ""}, clock="wall", cpus=2)


@group("odd-suspended")
def test_a_suspended_disk_goes_on() -> None:
    for number in range(1, 6):
        completed = pairs(suspended().out[f"completed-{number}"])
        assert completed["after"] > completed["before"]


@group("odd-suspended")
def test_the_books_balance_when_a_disk_is_suspended() -> None:
    counters = pairs(suspended().out["counters"])
    assert counters["requests"] == counters["completed"] + counters["failed"] > 0
    assert counters["missed"] == counters["untracked"] == counters["lost"] == 0


# A disk is removed under load, alone or with its host, and is added again; another disk goes on.

ROUNDS = range(8)
PROCESSES = 8
GONE = f"""
add_host=/sys/bus/pseudo/drivers/scsi_debug/add_host
start() {{ # DISK NAME
	throttle /dev/$1
	put 3000000 $vpt/intercept_ns
	put 2 /sys/block/$1/queue/nomerges
	random --device /dev/$1 --processes {PROCESSES} --writes 30 --think-us 1000 \\
		--log /out/reads-$2 --log-max 200000 < /dev/null > /tmp/said-$2 2>&1 &
	echo $! > /tmp/pid-$2
	wait_for "grep -qs ready /tmp/said-$2"
}}
stop() {{ # DISK NAME
	kill -TERM $(cat /tmp/pid-$2)
	wait $(cat /tmp/pid-$2) || fail "random: $(cat /tmp/said-$2)"
	for counter in requests completed failed missed untracked lost; do
		echo "$counter $(cat /sys/kernel/vpt/$1/$counter)"
	done > /out/counters-$2
}}
start vdisk vdisk
for round in {" ".join(map(str, ROUNDS))}; do
	wait_for 'dd if=/dev/sda of=/dev/null bs=4k count=1 2> /dev/null'
	[ $((round / 2 % 2)) = 0 ] || put mq-deadline /sys/block/sda/queue/scheduler
	start sda sda-$round
	usleep $((100000 + round * 777))
	if [ $((round % 2)) = 0 ]; then
		put 1 /sys/block/sda/device/delete
	else
		put -1 $add_host
	fi
	cat /sys/kernel/vpt/vdisk/completed > /out/then
	sleep 0.3
	stop sda sda-$round
	put sda /sys/kernel/vpt/remove
	[ $((round % 2)) = 1 ] || put -1 $add_host
	wait_for '[ ! -e /dev/sda ]'
	put 1 $add_host
done
sleep 1
stop vdisk vdisk
ls /sys/kernel/vpt > /out/left
rmmod vpt || fail 'vpt stays'
"""


@once
def gone() -> Result:
    """Boot the VM in which sda is removed again and again, on two CPUs."""
    modules = {**CORE, "sd_mod": "", "vdisk": f"size={GIB} queues=2"}
    return boot(GONE, modules, clock="wall", cpus=2)


@group("odd-gone")
@pytest.mark.parametrize("number", ROUNDS)
def test_what_a_disk_takes_along_is_counted(number: int) -> None:
    """Each successful read or write is counted as completed, and no answer bypasses the throttle.

    Most requests after the removal are refused before they reach the disk, and are not counted.
    """
    counters = pairs(gone().out[f"counters-sda-{number}"])
    results = reads.parse_log(gone().out[f"reads-sda-{number}"], "sda")["result"]
    assert set(results) > {4096}
    assert counters["completed"] == (results == 4096).sum() > 0
    assert counters["requests"] == counters["completed"] + counters["failed"]
    assert counters["failed"] <= (results < 0).sum()
    assert [counters[name] for name in ("missed", "untracked", "lost")] == [0] * 3


@group("odd-gone")
def test_the_other_disk_goes_on() -> None:
    """The other disk loses no request, and the folder of the removed disk can be removed."""
    counters = pairs(gone().out["counters-vdisk"])
    log = reads.parse_log(gone().out["reads-vdisk"], "vdisk")
    assert 0 <= counters["completed"] - len(log) <= PROCESSES
    assert (log["result"] == 4096).all()
    assert counters["requests"] == counters["completed"] > int(text(gone(), "then")) + 100
    assert [counters[name] for name in ("missed", "untracked", "lost")] == [0] * 3
    assert text(gone(), "left").split() == ["add", "remove", "vdisk"]
