# SPDX-License-Identifier: MIT
"""Everything at once: faults of every kind at random times under load, on two processors.
Afterwards the numbers of requests agree exactly.

Each disk completed the requests that its processes saw, one read for each new throttle, and at most
one request more for each process. (A process may be killed between its disk's answer and its own
log entry.) No process saw an error, and no request bypassed the throttle.

Two other disks go wrong. One is removed under load; its throttle and its processes counted the same
completions. The other has bad sectors, and as many errors as its readers saw.

Each kind of fault occurs at least once. Further faults are chosen at random with SOAK_SEED, until
SOAK_REQUESTS requests have completed. `make test-debug-kernel` has a longer run.
"""

import os

import pytest
from guests import MIB, SCHEDULER_MODULES, boot, group, once, pairs, text

from understudy_devices.platforms import reads
from understudy_devices.platforms.vm.machine import Result

pytestmark = group("soak")

REQUESTS = int(os.environ.get("SOAK_REQUESTS", "10000"))
SEED = int(os.environ.get("SOAK_SEED", "1"))
PROCESSES = 6
DISKS = ("vdisk", "vdisk1", "sda")
BAD_DISK = "vdisk2"
OURS = ("cats", "cfq", "anticipatory", "clook")
SCHEDULERS = ("none", "mq-deadline", "bfq", "kyber", *OURS)
FAULTS = (
    *("elevator", "scale", "profile", "recording", "depth", "other_throttle", "other_module"),
    *("processor", "transport_errors", "time_outs", "suspend", "no_memory"),
    *("device_removed", "bad_sector"),
)
SHORT = ("throttle", "recording", "elevator")
"""Operations that run short of memory."""
ESCAPED = "missed untracked lost"

SCENARIO = f"""
RANDOM={SEED}
DISKS='{" ".join(DISKS)}'
OURS='{" ".join(OURS)}'
SCHEDULERS='{" ".join(SCHEDULERS)}'
BAD_DISK={BAD_DISK}
""" + (
    r"""
now_ms() {
	awk '{ printf "%d", $1 * 1000 }' /proc/uptime
}
choose() {
	shift $((RANDOM % $#))
	chosen=$1
}
vpt_of() {
	vpt=/sys/kernel/vpt/$1
}
stat_of() { # DISK
	tr -s ' ' < /sys/block/$1/stat
}
# The throttle's trial is one read.
begin() { # DISK
	throttle /dev/$1
	echo 1 >> /out/trials-$1
	put $((200000 + RANDOM * 20)) $vpt/intercept_ns
}
# Saves a throttle's counters before the throttle is removed.
account() { # DISK
	vpt_of $1
	for counter in missed untracked lost; do
		echo "$counter $(cat $vpt/$counter)"
	done >> /out/escaped
	cat $vpt/failed >> /out/failed-$1
}
leave() { # DISK
	account $1
	put $1 /sys/kernel/vpt/remove
}
scsi_debug() { # OPTIONS EVERY_NTH
	put $2 /sys/bus/pseudo/drivers/scsi_debug/every_nth
	put $1 /sys/bus/pseudo/drivers/scsi_debug/opts
}
for_a_while() {
	usleep $((RANDOM * 10))
}

elevator() {
	choose $DISKS
	disk=$chosen
	choose $SCHEDULERS
	put $chosen /sys/block/$disk/queue/scheduler
}
scale() {
	choose $DISKS
	vpt_of $chosen
	put $((RANDOM % 2)) $vpt/scale_auto
	put $((RANDOM % 2)) $vpt/subtract_overhead
	put $((1000 + RANDOM % 4000)) $vpt/scale_milli
}
profile() {
	choose $DISKS
	vpt_of $chosen
	put $((RANDOM * 50)) $vpt/intercept_ns
	put "0:0 $(cat /sys/block/$chosen/size):$((RANDOM * 100))" $vpt/seek_curve
}
recording() {
	choose $DISKS
	vpt_of $chosen
	put $((1 + RANDOM)) $vpt/record
}
# A queue refuses a depth beyond its elevator's room. Each change freezes the queue.
depth() {
	choose $DISKS
	{ echo $((4 + RANDOM % 200)) > /sys/block/$chosen/queue/nr_requests; } 2> /dev/null || true
}
other_throttle() {
	choose $DISKS
	leave $chosen
	for_a_while
	begin $chosen
}
other_module() {
	for disk in $DISKS $BAD_DISK; do
		account $disk
	done
	rmmod vpt || fail 'vpt stays'
	for_a_while
	insmod /modules/vpt.ko || fail 'vpt does not come again'
	for disk in $DISKS $BAD_DISK; do
		begin $disk
	done
}
processor() {
	put 0 /sys/devices/system/cpu/cpu1/online
	for_a_while
	put 1 /sys/devices/system/cpu/cpu1/online
}
transport_errors() {
	scsi_debug 16 40
	for_a_while
	scsi_debug 0 0
}
# One command gets no answer: the error handler aborts it, and it is sent again.
time_outs() {
	scsi_debug 4 -1
	sleep 2
	scsi_debug 0 0
}
suspend() {
	put freeze /sys/power/state
}
# Writes VALUE to FILE while some of the process's allocations fail, on a kernel that can inject
# this. FILE is opened before. The pages that the process has read are a throttle's trial.
starve() { # KIND VALUE FILE
	put $((5 + RANDOM % 30)) $failslab/probability
	( exec 3> $3
	echo 1 > /proc/self/make-it-fail
	said=granted
	echo $2 >&3 || said=refused
	until echo 0 > /proc/self/make-it-fail; do :; done
	echo $1 >> /out/$said
	while read name value; do
		[ $name != read_bytes: ] || echo $((value / 4096)) >> /out/trials-$chosen
	done < /proc/self/io ) 2> /dev/null
}
no_memory() {
	choose $OURS
	ours=$chosen
	choose $DISKS
	leave $chosen
	for try in 1 2 3 4 5 6; do
		starve throttle /dev/$chosen /sys/kernel/vpt/add
		[ ! -d /sys/kernel/vpt/$chosen ] || leave $chosen
	done
	begin $chosen
	put none /sys/block/$chosen/queue/scheduler
	for try in 1 2 3 4 5 6; do
		starve recording 5000 $vpt/record
		starve elevator $ours /sys/block/$chosen/queue/scheduler
		put none /sys/block/$chosen/queue/scheduler
		case "$(cat /sys/kernel/debug/block/$chosen/state)" in
		*"|30"*) fail "$ours has left its flag: one hardware queue of $chosen is run" ;;
		esac
	done
}
# Adds a host with a disk under its own load, and removes both. All requests are answered then, and
# each process has time for some twenty more log entries before it is told to end.
removed=0
device_removed() {
	put 1 /sys/bus/pseudo/drivers/scsi_debug/add_host
	wait_for 'extra=$(ls /sys/block | grep "^sd[b-z]$")'
	wait_for '[ -b /dev/$extra ]'
	choose $SCHEDULERS
	put $chosen /sys/block/$extra/queue/scheduler
	put 2 /sys/block/$extra/queue/nomerges
	begin $extra
	random --device /dev/$extra --processes 4 --writes 30 --think-us $think_us \
		--log /out/removed-$removed < /dev/null > /tmp/said-$extra 2>&1 &
	extra_pid=$!
	wait_for "grep -qs ready /tmp/said-$extra"
	for_a_while
	put -1 /sys/bus/pseudo/drivers/scsi_debug/add_host
	usleep $((200000 + 20 * think_us))
	kill -TERM $extra_pid
	wait $extra_pid || fail "random on $extra: $(cat /tmp/said-$extra)"
	vpt_of $extra
	echo $(cat $vpt/requests $vpt/completed $vpt/failed) >> /out/removed
	removed=$((removed + 1))
	put $extra /sys/kernel/vpt/remove
}
read_page() { # PAGE
	dd if=/dev/$BAD_DISK of=/dev/null bs=4k count=1 skip=$1 iflag=direct 2> /dev/null ||
		echo $1 >> /out/bad_pages
}
# The bad sector is in one of the pages that are read; no two of these pages are adjacent.
bad_sector() {
	put $((RANDOM % 8 * 16)) /sys/module/vdisk/parameters/bad_sector
	readers=
	for page in 0 2 4 6 8 10 12 14; do
		read_page $page &
		readers="$readers $!"
	done
	wait $readers
	put 18446744073709551615 /sys/module/vdisk/parameters/bad_sector
}
fault() {
	[ $1 != no_memory ] || [ -d $failslab ] || return 0
	port notify "$(now_ms) ms: $1"
	$1 || fail "$1"
	echo "$1" >> /out/faults
	for_a_while
}
through() {
	awk '$3 == "vdisk" || $3 == "vdisk1" || $3 == "sda" { n += $4 + $8 } END { print n }' \
		/proc/diskstats
}

mount -t debugfs debug /sys/kernel/debug
failslab=/sys/kernel/debug/failslab
if [ -d $failslab ]; then
	put Y $failslab/task-filter
	put N $failslab/ignore-gfp-wait
	put -1 $failslab/times
	put 0 $failslab/verbose
fi
put devices /sys/power/pm_test
put 1 /sys/module/suspend/parameters/pm_test_delay
wait_for '[ -b /dev/sda ]'
put 1 /sys/block/sda/device/timeout
# A think time at which all processes together take two thirds of the processor time, however slow
# this kernel is, so that the kernel's threads can run, too.
began_ms=$(now_ms)
dd if=/dev/vdisk of=/dev/null bs=4k count=500 iflag=direct 2> /dev/null
think_us=$((($(now_ms) - began_ms) * 1000 / 500 * 3 * PROCESSES * 3 / 2))
port notify "each thinks for $think_us us"
for disk in $DISKS $BAD_DISK; do
	begin $disk
	stat_of $disk > /out/before-$disk
	: > /out/trials-$disk
done
for disk in $DISKS; do
	random --device /dev/$disk --processes $PROCESSES --writes 30 --think-us $think_us \
		--log /out/reads-$disk --log-max $((4 * REQUESTS + 500000)) \
		< /dev/null > /tmp/said-$disk 2>&1 &
	echo $! > /tmp/pid-$disk
	wait_for "grep -qs ready /tmp/said-$disk"
done
for name in $FAULTS; do
	fault $name
done
while [ $(through) -lt $REQUESTS ]; do
	choose $FAULTS
	fault $chosen
done
for disk in $DISKS; do
	kill -TERM $(cat /tmp/pid-$disk)
	wait $(cat /tmp/pid-$disk) || fail "random on $disk: $(cat /tmp/said-$disk)"
	stat_of $disk > /out/after-$disk
	vpt_of $disk
	for counter in requests completed failed; do
		echo "$counter $(cat $vpt/$counter)"
	done > /out/counters-$disk
	leave $disk
	put none /sys/block/$disk/queue/scheduler
done
stat_of $BAD_DISK > /out/after-$BAD_DISK
leave $BAD_DISK
through > /out/through
ls -d $failslab > /out/can_fail_memory 2> /dev/null
cat /sys/block/sda/device/ioerr_cnt > /out/errors
cat /sys/block/sda/device/iotmo_cnt > /out/timed_out
leaks
rmmod vpt && rmmod vdisk && rmmod scsi_debug || fail 'they stay'
"""
)


@once
def soaked() -> Result:
    """Boot the VM."""
    settings = f"PROCESSES={PROCESSES} REQUESTS={REQUESTS}\n"
    settings += f"FAULTS='{' '.join(FAULTS)}'\n"
    ours = {name: "" for name in SCHEDULER_MODULES if name in (*SCHEDULERS, "kyber-iosched")}
    modules = {
        "iprobe": "",
        "vpt": "",
        "vdisk": f"size={256 * MIB} disks=3 queues=2 bad_disk=2",
        "scsi_debug": "dev_size_mb=64 ndelay=100000 max_queue=16",
        "sd_mod": "",
        **ours,
    }
    return boot(
        settings + SCENARIO,
        modules,
        clock="wall",
        cpus=2,
        memory_mib=2048,
        timeout_seconds=1200 + REQUESTS / 20,
    )


def total(name: str) -> int:
    """Return the sum of a file with one number in each line."""
    return sum(map(int, text(soaked(), name).split()))


def completed(name: str) -> int:
    """Return the reads and writes, including merged ones; none is in flight."""
    stat = [int(word) for word in text(soaked(), name).split()]
    assert stat[8] == 0
    return stat[0] + stat[1] + stat[4] + stat[5]


@pytest.mark.parametrize("disk", DISKS)
def test_the_books_balance(disk: str) -> None:
    """The numbers agree, except for processes that were killed after the answer."""
    result = soaked()
    log = reads.parse_log(result.out[f"reads-{disk}"], disk)
    done = completed(f"after-{disk}") - completed(f"before-{disk}")
    assert 0 <= done - total(f"trials-{disk}") - len(log) <= PROCESSES
    assert (log["result"] == 4096).all()
    counters = pairs(result.out[f"counters-{disk}"])
    assert counters["requests"] == counters["completed"] + counters["failed"]


def test_the_books_balance_of_a_disk_that_goes() -> None:
    """The throttle completed as many requests as the processes saw complete.

    The processes also saw errors: no data to read, and no room to write.
    """
    lines = text(soaked(), "removed").splitlines()
    for number, line in enumerate(lines):
        requests, done, failed = map(int, line.split())
        seen = reads.parse_log(soaked().out[f"removed-{number}"], line)["result"]
        assert done == (seen == 4096).sum() > 0
        assert requests == done + failed
        assert failed <= (seen < 0).sum()
    assert len(lines) == text(soaked(), "faults").split().count("device_removed")


def test_the_errors_of_a_disk_balance() -> None:
    """Each bad sector caused one error; errors are summed over all throttles."""
    times = text(soaked(), "faults").split().count("bad_sector")
    assert total(f"failed-{BAD_DISK}") == len(text(soaked(), "bad_pages").split()) == times
    done = completed(f"after-{BAD_DISK}") - completed(f"before-{BAD_DISK}")
    assert done - total(f"trials-{BAD_DISK}") == 8 * times


def test_nothing_escaped() -> None:
    """No request bypassed a throttle that was detached."""
    counters = {line.split()[0]: 0 for line in text(soaked(), "escaped").splitlines()}
    assert set(counters) == set(ESCAPED.split())
    assert all(line.split()[1] == "0" for line in text(soaked(), "escaped").splitlines())


def test_nothing_leaks() -> None:
    """Only a kernel with kmemleak reports leaks (docs/kernels.md)."""
    assert text(soaked(), "leaks") == ""


def test_all_faults_came() -> None:
    """All faults occurred, and enough requests were completed.

    Only some kernels can simulate a shortage of memory (docs/kernels.md).
    """
    missing = set(FAULTS) - set(text(soaked(), "faults").split())
    refused = soaked().out.get("refused", b"").decode().split()
    assert missing == (set() if text(soaked(), "can_fail_memory") else {"no_memory"})
    assert set(refused) == (set(SHORT) if text(soaked(), "can_fail_memory") else set())
    assert int(text(soaked(), "errors"), 16) > 0
    assert int(text(soaked(), "timed_out"), 16) > 0
    assert int(text(soaked(), "through")) >= REQUESTS
    print({name: text(soaked(), "faults").split().count(name) for name in FAULTS})
    print("no memory for", {name: refused.count(name) for name in SHORT})
