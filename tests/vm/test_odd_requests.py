# SPDX-License-Identifier: MIT
"""The rules for what is no read or write (docs/vpt-sysfs.md), a disk that is suspended, and one
that is taken away.

On a SCSI disk that can discard and write zeroes, a read is held for two seconds; meanwhile
something else comes.  (Flush and FUA have test_flush.py.)
"""

import pytest
from guests import GIB, boot, group, once, pairs, text

from understudy.base import programs
from understudy.measure import records
from understudy.platforms.vm.machine import Result

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
    """The VM."""
    program = programs.Program("odd", ("tests/vm/odd.c",))
    files = {"bin/odd": programs.compiled(program)}
    return boot(SCENARIO, {**CORE, "sd_mod": ""}, files=files)


def seconds(name: str) -> float:
    before, after = map(float, text(odd(), f"clock-{name}").split())
    return after - before


@group("odd")
@pytest.mark.parametrize("name", ["discard", "zero"])
def test_it_takes_its_turn_and_no_time(name: str) -> None:
    """It ends when the read that came before is due, and not before."""
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
    """It waits for nobody, and counts as nothing."""
    assert seconds("passthrough") < 0.5
    assert records.from_bytes(odd().out["records-passthrough"])["op"].to_list() == ["read"]
    counters = pairs(odd().out["counters-passthrough"])
    assert counters == dict.fromkeys(counters, 0) | {"requests": 1, "completed": 1}


# A disk goes offline under load, again and again: what comes then fails, what was there does not.

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
    """The VM in which sda goes offline, on two CPUs."""
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


# A disk is taken off the machine under load, and another one goes on.

GONE = """
wait_for '[ -b /dev/sda ]'
for disk in sda vdisk; do
	throttle /dev/$disk
	put 3000000 $vpt/intercept_ns
	random --device /dev/$disk --processes 4 < /dev/null > /tmp/said-$disk 2>&1 &
	echo $! > /tmp/pid-$disk
	wait_for "grep -qs ready /tmp/said-$disk"
done
sleep 0.5
echo 1 > /sys/block/sda/device/delete
cat /sys/kernel/vpt/vdisk/completed > /out/then
sleep 2
kill -TERM $(cat /tmp/pid-sda) $(cat /tmp/pid-vdisk)
wait $(cat /tmp/pid-vdisk) || fail "random: $(cat /tmp/said-vdisk)"
wait
for disk in sda vdisk; do
	for counter in requests completed failed missed untracked; do
		echo "$counter $(cat /sys/kernel/vpt/$disk/$counter)"
	done > /out/counters-$disk
done
put sda /sys/kernel/vpt/remove
ls /sys/kernel/vpt > /out/left
rmmod vpt || fail 'vpt stays'
"""


@once
def gone() -> Result:
    """The VM in which sda goes, on two CPUs."""
    modules = {**CORE, "sd_mod": "", "vdisk": f"size={GIB} queues=2"}
    return boot(GONE, modules, clock="wall", cpus=2)


@group("odd-gone")
@pytest.mark.parametrize("disk", ["sda", "vdisk"])
def test_the_books_balance_when_a_disk_goes(disk: str) -> None:
    """Of the one that went and of the one that goes on."""
    counters = pairs(gone().out[f"counters-{disk}"])
    assert counters["requests"] == counters["completed"] + counters["failed"] > 0
    assert counters["untracked"] == 0
    assert disk == "sda" or counters["failed"] == counters["missed"] == 0


@group("odd-gone")
def test_the_other_disk_goes_on() -> None:
    """And the first one's folder can be removed."""
    assert pairs(gone().out["counters-vdisk"])["completed"] > int(text(gone(), "then")) + 100
    assert text(gone(), "left").split() == ["add", "remove", "vdisk"]
