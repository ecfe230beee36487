# SPDX-License-Identifier: MIT
"""The throttle in trouble: no request is lost, none completes twice, nothing hangs.

Unloading: again and again while requests are held, under a workload on two CPUs. The disk's own
number of completed requests is the processes' number, and no process saw an error. CPU unplugging:
the CPU whose timer has a read to release goes off line. Errors: of our disk, and of a SCSI disk
with retries; the process gets the error in seconds. Odd requests: large ones that are split,
flushes, discards. Changes while requests run: another scheduler, another recording, a reset.
"""

import errno
import re

import pytest
from guests import ALL_SCHEDULERS, GIB, SCHEDULER_MODULES, boot, group, once, pairs, text

from understudy_devices.measure import records
from understudy_devices.platforms import reads
from understudy_devices.platforms.vm.machine import Result

CORE = {"iprobe": "", "vpt": ""}

# Unloading under load, two CPUs, wall clock.

PROCESSES = 8
CYCLES = 6
UNLOADING = f"""
nproc > /out/nproc
start() {{ # DISK
	random --device /dev/$1 --processes {PROCESSES} --writes 30 --think-us 1000 \\
		--log /out/reads-$1 --log-max 500000 < /dev/null > /tmp/said-$1 2>&1 &
	echo $! > /tmp/pid-$1
	wait_for "grep -qs ready /tmp/said-$1"
}}
stop() {{
	kill -TERM $(cat /tmp/pid-$1)
	wait $(cat /tmp/pid-$1) || fail "random on $1: $(cat /tmp/said-$1)"
	grep done /tmp/said-$1 > /out/done-$1
	tr -s ' ' < /sys/block/$1/stat > /out/stat-$1
}}
rmmod vpt
for disk in vdisk nullb0; do
	start $disk
	cycle=0
	while [ $cycle -lt {CYCLES} ]; do
		insmod /modules/vpt.ko || fail "vpt does not come again"
		throttle /dev/$disk
		put $((2000000 + cycle * 3000000)) $vpt/intercept_ns
		[ $((cycle % 2)) = 0 ] || put 100000 $vpt/record
		usleep $((20000 + cycle * 7000))
		echo "$disk" $(cat $vpt/held $vpt/requests $vpt/completed) >> /out/held
		echo "missed $(cat $vpt/missed)" >> /out/missed
		case $((cycle % 3)) in
		0) release ;;
		1) release && throttle /dev/$disk ;;
		esac
		rmmod vpt || fail "vpt does not go"
		cycle=$((cycle + 1))
	done
	stop $disk
done
"""


@once
def unloading() -> Result:
    """Boot the VM in which the throttle is loaded and unloaded."""
    modules = {
        **CORE,
        "vdisk": f"size={GIB}",
        "null_blk": "irqmode=1 queue_mode=2 hw_queue_depth=64 submit_queues=2 bs=512 gb=1 "
        "memory_backed=1 no_sched=1",
    }
    return boot(UNLOADING, modules, clock="wall", cpus=2, memory_mib=1024)


@group("trouble-unloading")
@pytest.mark.parametrize("disk", ["vdisk", "nullb0"])
def test_all_complete_and_none_twice(disk: str) -> None:
    """The disk completed what the processes saw, and at most one request more for each process."""
    result = unloading()
    log = reads.parse_log(result.out[f"reads-{disk}"], disk)
    stat = [int(word) for word in text(result, f"stat-{disk}").split()]
    completed, merged, in_flight = stat[0] + stat[4], stat[1] + stat[5], stat[8]
    probes = CYCLES + len([cycle for cycle in range(CYCLES) if cycle % 3 == 1])
    assert in_flight == 0
    assert 0 <= completed + merged - probes - len(log) <= PROCESSES
    assert (log["result"] == 4096).all()
    assert text(result, f"done-{disk}").split()[2:] == ["0", "0"]


@group("trouble-unloading")
def test_requests_were_held() -> None:
    """Without held requests, unloading would prove nothing. Two CPUs took part."""
    held = [line.split() for line in text(unloading(), "held").splitlines()]
    assert {disk for disk, *_ in held} == {"vdisk", "nullb0"}
    assert all(int(count) > 0 for _, count, *_ in held)
    assert sum(int(line[2]) > int(line[3]) for line in held) > len(held) // 4
    assert text(unloading(), "nproc") == "2"


# The CPU of the throttle's timer goes off line. vdisk has one hardware queue, which works without
# that CPU. nullb0 has a queue for each CPU, and the kernel first waits until the CPU's queue is
# empty.

BURSTS = 20
BURST = 30
STALL_NS = 2_000_000_000
"""The host may delay the machine this long; a forgotten release would never come."""
UPTIME_SECONDS = 0.01
"""The resolution of /proc/uptime."""
UNPLUGGING = f"""
cpu1=/sys/devices/system/cpu/cpu1/online
read_on_cpu1() {{ # DISK HOW_MANY
	taskset 2 dd if=/dev/$1 of=/dev/null bs=4k count=$2 iflag=direct 2> /dev/null
	echo "$1 $?" >> /out/ended
}}
timer_cpu() {{
	awk '/^cpu:/ {{ cpu = $2 }} /release_due/ {{ print cpu }}' /proc/timer_list
}}
account() {{ # NAME
	for counter in requests completed failed held missed untracked lost; do
		echo "$counter $(cat $vpt/$counter)"
	done > /out/counters-$1
	cat $vpt/records > /out/records-$1
}}
for disk in vdisk nullb0; do
	throttle /dev/$disk
	put 3000000000 $vpt/intercept_ns
	put 1 $vpt/record
	read_on_cpu1 $disk 1 &
	wait_for '[ $(cat $vpt/held) = 1 ]'
	timer_cpu > /out/timer-$disk
	put 0 $cpu1
	read -r now rest < /proc/uptime
	echo "$disk $now" >> /out/off
	wait
	put 1 $cpu1
	account $disk-long

	put 10000000 $vpt/intercept_ns
	put {BURSTS * BURST} $vpt/record
	burst=0
	while [ $burst -lt {BURSTS} ]; do
		started=$((burst * {BURST}))
		read_on_cpu1 $disk {BURST} &
		wait_for '[ $(cat $vpt/requests) -gt $started ]'
		usleep $((burst * 997))
		put 0 $cpu1
		put 1 $cpu1
		wait
		burst=$((burst + 1))
	done
	account $disk-short
done
"""


@once
def unplugging() -> Result:
    """Boot the VM in which a CPU with the throttle's timer goes off line and comes back."""
    modules = {
        **CORE,
        "vdisk": f"size={GIB}",
        "null_blk": "irqmode=1 queue_mode=2 submit_queues=2 bs=512 gb=1 memory_backed=1",
    }
    return boot(UNPLUGGING, modules, clock="wall", cpus=2, timeout_seconds=600)


@group("trouble-unplugging")
@pytest.mark.parametrize("disk", ["vdisk", "nullb0"])
def test_a_timer_survives_its_cpu(disk: str) -> None:
    """The timer's read succeeds, not before it is due and hardly later."""
    result = unplugging()
    assert text(result, f"timer-{disk}") == "1"
    (row,) = records.from_bytes(result.out[f"records-{disk}-long"], origin_ns=0).to_dicts()
    off_s = dict(line.split() for line in text(result, "off").splitlines())[disk]
    went_first = float(off_s) + UPTIME_SECONDS <= row["due_ns"] / 1e9
    assert went_first == (disk == "vdisk")
    assert row["due_ns"] - row["dispatch_ns"] == 3_000_000_000
    assert 0 <= row["completion_ns"] - row["due_ns"] < STALL_NS


@group("trouble-unplugging")
@pytest.mark.parametrize("disk", ["vdisk", "nullb0"])
def test_timers_survive_a_cpu_that_goes_again_and_again(disk: str) -> None:
    """No read is missed, ends early, hangs or fails."""
    result = unplugging()
    assert text(result, "ended").splitlines().count(f"{disk} 0") == 1 + BURSTS
    rows = records.from_bytes(result.out[f"records-{disk}-short"], expected=BURSTS * BURST)
    late_ns = (rows["completion_ns"] - rows["due_ns"]).to_numpy()
    assert 0 <= late_ns.min() <= late_ns.max() < STALL_NS
    for hold, requests in (("long", 1), ("short", BURSTS * BURST)):
        counters = pairs(result.out[f"counters-{disk}-{hold}"])
        assert counters["requests"] == counters["completed"] == requests
        assert [counters[name] for name in ("failed", "missed", "untracked", "lost")] == [0] * 4


# Errors, odd requests and changes under load, one CPU, virtual clock.

VDISK = f"""
queue=/sys/block/vdisk/queue
attach() {{
	throttle $1
	put 4000000 $vpt/intercept_ns
}}
timed() {{ # NAME COMMAND...: exit code, uptime before and after, standard error
	name=$1
	shift
	read -r before rest < /proc/uptime
	"$@" 2> /tmp/why
	code=$?
	read -r after rest < /proc/uptime
	echo "$name: $code $before $after $(grep -v records /tmp/why)" >> /out/timed
}}
counters() {{
	for name in requests completed failed missed untracked lost; do
		echo "$1_$name $(cat $vpt/$name)"
	done >> /out/counters
	echo "$1_requests_then $(cat $vpt/requests)" >> /out/counters
}}

# Reads and writes of a bad sector fail; accesses to its neighbours succeed.
attach /dev/vdisk
for scheduler in none mq-deadline cats fcfs; do
	put $scheduler $queue/scheduler
	put 4 $vpt/record
	timed $scheduler-bad-read dd if=/dev/vdisk of=/dev/null bs=4k skip=125 count=1 iflag=direct
	timed $scheduler-bad-write dd if=/dev/zero of=/dev/vdisk bs=4k seek=125 count=1 oflag=direct
	timed $scheduler-good-read dd if=/dev/vdisk of=/dev/null bs=4k skip=124 count=1 iflag=direct
	timed $scheduler-good-write dd if=/dev/zero of=/dev/vdisk bs=4k seek=126 count=1 oflag=direct
	counters $scheduler
	cat $vpt/records > /out/records-$scheduler
done

# An access of 4 MiB becomes several requests; each bio has a record and its own bytes.
put mq-deadline $queue/scheduler
dd if=/dev/urandom of=/tmp/noise bs=4M count=1 2> /dev/null
put 1000 $vpt/record
dd if=/tmp/noise of=/dev/vdisk bs=4M seek=1 count=1 oflag=direct 2> /dev/null || fail 'split write'
dd if=/dev/vdisk of=/tmp/back bs=4M skip=1 count=1 iflag=direct 2> /dev/null || fail 'split read'
cmp /tmp/noise /tmp/back || fail 'split bytes'
cat $vpt/records > /out/records-split
counters split

# While eight processes read and write: another scheduler, another recording, a reset.
random --device /dev/vdisk --processes 8 --writes 30 --log /tmp/log < /dev/null > /tmp/said 2>&1 &
random=$!
wait_for 'grep -qs ready /tmp/said'
put 18446744073709551615 /sys/module/vdisk/parameters/bad_sector
for scheduler in {" ".join(ALL_SCHEDULERS)}; do
	case " $(tr -d '[]' < $queue/scheduler) " in
	*" us-$scheduler "*) put us-$scheduler $queue/scheduler ;;
	*) put $scheduler $queue/scheduler ;;
	esac
	put 30 $vpt/record
	port follow $vpt/record || fail "$scheduler does not end"
	cat $vpt/records > /out/records-switch-$scheduler
	echo "$scheduler $(cat $vpt/pick_unseen)" >> /out/pick_unseen
	put 1 $vpt/reset
	sleep 0.3
	counters reset-$scheduler
done
kill -TERM $random
wait $random || fail "random: $(cat /tmp/said)"
grep done /tmp/said > /out/done
counters end

# Flush and discard, on a disk that supports both.
attach /dev/nullb0
cat /sys/block/nullb0/queue/write_cache > /out/write_cache
put 100 $vpt/record
dd if=/tmp/noise of=/dev/nullb0 bs=1M count=1 conv=fsync oflag=direct 2> /dev/null || fail 'flush'
blkdiscard -o 1048576 -l 65536 /dev/nullb0 || fail 'discard'
cat $vpt/records > /out/records-odd
counters odd
release
"""


@once
def changes() -> Result:
    """Boot the VM with a bad sector, odd requests, and changes under load."""
    modules = {
        **CORE,
        "vdisk": f"size={GIB} bad_sector=1003",
        "null_blk": "irqmode=1 queue_mode=2 bs=512 gb=1 memory_backed=1 discard=1 cache_size=8",
        **SCHEDULER_MODULES,
    }
    return boot(VDISK, modules)


def timed(result: Result) -> dict[str, tuple[int, float, str]]:
    """Return exit code, seconds and standard error of each timed command."""
    matches = re.findall(r"^(\S+): (\d+) (\S+) (\S+) ?(.*)", text(result, "timed"), re.MULTILINE)
    return {
        name: (int(code), float(after) - float(before), why)
        for name, code, before, after, why in matches
    }


@group("trouble-changes")
@pytest.mark.parametrize("scheduler", ["none", "mq-deadline", "cats", "fcfs"])
def test_error_reaches_the_process(scheduler: str) -> None:
    """The process gets the error for a bad sector at once. The error is counted, and neighbours
    succeed.
    """
    times = timed(changes())
    for access in ("read", "write"):
        code, seconds, why = times[f"{scheduler}-bad-{access}"]
        assert (code, why.rpartition(": ")[2]) == (1, "No data available")
        assert seconds < 5
        assert times[f"{scheduler}-good-{access}"][0] == 0
    counters = pairs(changes().out["counters"])
    assert counters[f"{scheduler}_failed"] == 2
    assert counters[f"{scheduler}_requests"] == counters[f"{scheduler}_completed"] + 2
    rows = records.from_bytes(changes().out[f"records-{scheduler}"])
    assert rows["error"].to_list() == [-errno.ENODATA] * 2 + [0, 0]
    assert (rows["completion_ns"] >= rows["due_ns"]).all()


@group("trouble-changes")
def test_large_requests_are_split() -> None:
    """The records of the parts cover every sector once, for reads and for writes."""
    rows = records.from_bytes(changes().out["records-split"])
    records.check(rows)
    for op in ("write", "read"):
        pieces = rows.filter(rows["op"] == op).sort("sector")
        assert pieces.height > 2
        assert pieces["sector"].to_list()[0] == 8192
        assert pieces["sectors"].sum() == 8192
        ends = (pieces["sector"] + pieces["sectors"]).to_list()
        assert pieces["sector"].to_list()[1:] == ends[:-1]


@group("trouble-changes")
@pytest.mark.parametrize("scheduler", ALL_SCHEDULERS)
def test_recording_starts_again_with_another_scheduler(scheduler: str) -> None:
    """A recording starts again under load, and each pick of the new scheduler is seen."""
    rows = records.from_bytes(changes().out[f"records-switch-{scheduler}"], expected=30)
    records.check(rows)
    assert rows["error"].to_list() == [0] * 30
    unseen = pairs(changes().out["pick_unseen"])[scheduler]
    assert scheduler == "none" or unseen <= 1  # one may have been picked before
    counters = pairs(changes().out["counters"])
    before, completed, then = (
        counters[f"reset-{scheduler}_{name}"] for name in ("requests", "completed", "requests_then")
    )
    assert 20 < before <= completed + 1 <= then + 1  # one is in service


@group("trouble-changes")
def test_nothing_was_lost_in_changes() -> None:
    """No request bypassed the throttle, and no process saw an error."""
    counters = pairs(changes().out["counters"])
    escaped = {
        name: value
        for name, value in counters.items()
        if name.endswith(("missed", "untracked", "lost"))
    }
    assert set(escaped.values()) == {0}, escaped
    assert text(changes(), "done").split()[2:] == ["0", "0"]
    assert counters["end_requests"] == counters["end_completed"]


@group("trouble-changes")
def test_flush_and_discard_pass() -> None:
    """Both take no time of the model. A discard has a record, a bare flush has none."""
    assert text(changes(), "write_cache") == "write back"
    rows = records.from_bytes(changes().out["records-odd"])
    assert rows["error"].to_list() == [0] * rows.height
    odd = rows.filter(rows["op"] == "other")
    assert odd["sectors"].to_list() == [128]
    assert odd["model_service_ns"].to_list() == [0]
    counters = pairs(changes().out["counters"])
    carried = rows["request_id"].n_unique()
    assert counters["odd_requests"] == counters["odd_completed"] > carried


# A SCSI disk whose host fails some reads: the error comes after the kernel's retries. The
# controller is not lsi53c895a, since in QEMU 7.2 an error there crashes the kernel's driver, with
# or without a throttle.

BLKDEBUG = (
    "-blockdev",
    "driver=null-co,node-name=void,size=1073741824,read-zeroes=on",
    "-blockdev",
    '{"driver":"blkdebug","node-name":"target","image":"void","inject-error":'
    '[{"event":"none","iotype":"read","errno":5,"sector":8000,"once":false}]}',
    "-device",
    "virtio-scsi-pci",
    "-device",
    "scsi-hd,drive=target",
)
SCSI = (
    VDISK.partition("\nattach /dev/vdisk\n")[0].replace("vdisk", "sda")
    + """
wait_for '[ -b /dev/sda ]'
for scheduler in none mq-deadline bfq us-deadline cats clook fcfs; do
	put $scheduler $queue/scheduler
	attach /dev/sda
	put 100 $vpt/record
	timed $scheduler-bad dd if=/dev/sda of=/dev/null bs=4k skip=1000 count=1 iflag=direct
	timed $scheduler-good dd if=/dev/sda of=/dev/null bs=4k skip=1002 count=20 iflag=direct
	timed $scheduler-flush dd if=/dev/zero of=/dev/sda bs=4k count=1 conv=fsync oflag=direct
	counters $scheduler
	cat $vpt/record > /out/progress-$scheduler
	release
done
"""
)


@once
def scsi_errors() -> Result:
    """Boot the VM with a SCSI disk that fails some reads."""
    modules = {**CORE, "virtio_pci": "", "virtio_scsi": "", "sd_mod": "", **SCHEDULER_MODULES}
    return boot(SCSI, modules, devices=BLKDEBUG)


@group("trouble-scsi")
@pytest.mark.parametrize("scheduler", ["none", "mq-deadline", "bfq", "us-deadline", "cats", "fcfs"])
def test_scsi_error_reaches_the_process(scheduler: str) -> None:
    """The process gets EIO within seconds, whatever the retries and requeues; the disk works
    afterwards.
    """
    times = timed(scsi_errors())
    code, seconds, why = times[f"{scheduler}-bad"]
    assert (code, why.rpartition(": ")[2]) == (1, "Input/output error")
    assert seconds < 10
    assert times[f"{scheduler}-good"][0] == times[f"{scheduler}-flush"][0] == 0
    counters = pairs(scsi_errors().out["counters"])
    assert counters[f"{scheduler}_failed"] == 1
    assert counters[f"{scheduler}_requests"] == counters[f"{scheduler}_completed"] + 1
    assert counters[f"{scheduler}_missed"] == counters[f"{scheduler}_lost"] == 0
