# SPDX-License-Identifier: MIT
"""Our schedulers on a loop device, which has no sectors until a file is bound to it.

Unlike vdisk it has a cache to flush, and takes many requests at once. A scheduler is chosen while
the disk has no sectors, as udev rules do. Then the disk grows to 20 GiB, gets reads that are far
apart, and carries a file system whose journal writes with FLUSH and FUA while processes read.
"""

import subprocess
from pathlib import Path

import numpy as np
import pytest
from guests import GIB, WITHOUT_A_MODEL, boot, first_difference, group, once, pairs, text

from understudy_devices.native import descriptions, replay
from understudy_devices.platforms.vm import shim_tape
from understudy_devices.platforms.vm.machine import Result

pytestmark = group("loop")
on_each = pytest.mark.parametrize("name", WITHOUT_A_MODEL)
DISK_BYTES = 20 * GIB
WITH_TRIPS = ("scan", "cscan")

SCENARIO = r"""
queue=/sys/block/loop0/queue
events=/sys/kernel/tracing/events
dd if=/dev/zero of=/image bs=1 count=0 seek=DISK_BYTES 2> /dev/null
put 1024 /sys/kernel/tracing/buffer_size_kb
for event in block_bio_queue block_rq_issue; do
	put 'rwbs ~ "*F*"' $events/block/$event/filter
	put 1 $events/block/$event/enable
done

choose() {
	case " $(tr -d '[]' < $queue/scheduler) " in
	*" us-$1 "*) put us-$1 $queue/scheduler ;;
	*) put $1 $queue/scheduler ;;
	esac
}
begin_read() { # GIB
	dd if=/dev/loop0 of=/dev/null bs=4k count=1 iflag=direct skip=$(($1 * 262144)) 2> /dev/null &
	reader=$!
}
reads_end() {
	wait_for '! [ -d /proc/$reader ]'
}
# A full seek takes an hour, until the tunable is set back.
read_slowly() {
	put 3600000000000 $queue/iosched/full_seek_ns
	# Behind the arm at 12 GiB: scan's arm has turned, and cscan's never turns.
	if [ $name = scan ]; then begin_read 15; else begin_read 2; fi
	sleep 1
	[ -d /proc/$reader ] || fail "$name: the arm was there at once"
	put 5250000 $queue/iosched/full_seek_ns
	reads_end
}
write_files() {
	mount -t ext4 /dev/loop0 /mnt || fail "$name: no file system"
	random --device /dev/loop0 --processes 4 --think-us 2000 < /dev/null > /tmp/said 2>&1 &
	random=$!
	wait_for 'grep -qs ready /tmp/said'
	for round in 1 2 3 4 5; do
		dd if=/dev/urandom of=/mnt/$round bs=4k count=20 conv=fsync 2> /dev/null ||
			fail "$name: a write failed"
	done
	kill -TERM $random
	wait $random || fail "random: $(cat /tmp/said)"
	cat /mnt/? | md5sum > /tmp/written
	umount /mnt || fail "$name: the file system is busy"
	mount -t ext4 /dev/loop0 /mnt || fail "$name: no file system"
	cat /mnt/? | md5sum | cmp - /tmp/written || fail "$name: other bytes"
	umount /mnt
}

for name in OURS; do
	[ "$(cat /sys/block/loop0/size)" = 0 ] || fail 'the disk has sectors'
	choose $name
	losetup /dev/loop0 /image || fail 'the disk does not grow'
	put 1 $events/timer/hrtimer_start/enable
	for at in 10 1 19 12; do
		begin_read $at
		reads_end
	done
	[ ! -e $queue/iosched/full_seek_ns ] || read_slowly
	put 0 $events/timer/hrtimer_start/enable
	write_files
	cat /sys/kernel/tracing/trace > /tmp/trace
	grep -c 'block_rq_issue:.* FF ' /tmp/trace | sed 's/^/flushes /' > /out/issued-$name
	grep -c 'block_bio_queue:.* FWF' /tmp/trace | sed 's/^/fua /' >> /out/issued-$name
	grep 'function=wake_fires' /tmp/trace |
		sed 's/.* mode=\([^ ]*\).*/\1/' | sort -u > /out/timers-$name
	echo > /sys/kernel/tracing/trace
	cat /sys/block/loop0/inflight > /out/inflight-$name
	for file in $queue/iosched/*; do
		[ ! -f "$file" ] || echo "${file##*/} $(cat $file)"
	done > /out/fields-$name
	put none $queue/scheduler
	cat /sys/module/$name/tape > /out/tape-$name || fail "no tape of $name"
	stat -c %a /sys/module/$name/tape > /out/mode-$name
	losetup -d /dev/loop0
	wait_for '[ "$(cat /sys/block/loop0/size)" = 0 ]'
done
"""


def file_system(folder: Path) -> Path:
    """Make an empty file system with a journal."""
    image = folder / "image"
    try:
        subprocess.run(
            ["mke2fs", "-q", "-t", "ext4", "-b", "4096", str(image), "32M"],
            check=True,
            capture_output=True,
        )
    except FileNotFoundError:
        pytest.fail("no mke2fs here: apt-get install e2fsprogs")
    return image


@once
def looped(folder: Path) -> Result:
    """Boot the VM in which every scheduler is tried, one after another."""
    modules = {"loop": "max_loop=1", "crc32c_generic": "", "ext4": ""}
    modules |= dict.fromkeys(WITHOUT_A_MODEL, "tape_calls=200000")
    scenario = SCENARIO.replace("OURS", " ".join(WITHOUT_A_MODEL))
    scenario = scenario.replace("DISK_BYTES", str(DISK_BYTES))
    files = {"image": file_system(folder)}
    return boot(scenario, modules, files=files, memory_mib=1024, timeout_seconds=1200)


@pytest.fixture(name="vm", scope="module")
def fixture_vm(tmp_path_factory: pytest.TempPathFactory) -> Result:
    """Run the VM once for all tests."""
    return looped(tmp_path_factory.mktemp("loop"))


@on_each
def test_a_disk_that_grew_is_served_to_its_new_end(vm: Result, name: str) -> None:
    """There is no hang and no division by zero, and the new size is on the tape once."""
    calls = shim_tape.parse(vm.out[f"tape-{name}"]).calls
    grown = calls[calls["kind"] == replay.GROWN]
    assert grown["sector"].tolist() == [DISK_BYTES // 512]
    assert shim_tape.parse(vm.out[f"tape-{name}"]).capacity_sectors == 0
    assert calls["sector"][calls["kind"] == replay.NEXT].max() >= 19 * GIB // 512


@on_each
def test_the_same_answers_in_a_program(vm: Result, name: str) -> None:
    """The replay includes the growth in the middle of the tape."""
    tape = shim_tape.parse(vm.out[f"tape-{name}"])
    fields = pairs(vm.out[f"fields-{name}"])
    if name in WITH_TRIPS:  # their tunables changed during the run
        return
    answers, _ = replay.play(
        name,
        tape.calls,
        tunables={t.name: fields[t.name] for t in descriptions.schedulers()[name].tunables},
        capacity_sectors=tape.capacity_sectors,
        max_requests=tape.max_requests,
        depth=tape.depth,
    )
    assert first_difference(tape.calls, answers) is None


@on_each
def test_flushes_pass_by_and_leave_the_count_alone(vm: Result, name: str) -> None:
    """Each dispatched request completes and none is left, although flushes and FUA writes bypass
    the scheduler.
    """
    issued = pairs(vm.out[f"issued-{name}"])
    assert issued["flushes"] > 0
    assert issued["fua"] > 0
    calls = shim_tape.parse(vm.out[f"tape-{name}"]).calls
    dispatched = (calls["kind"] == replay.NEXT) & (calls["id"] > 0)
    ended = calls["kind"] == replay.COMPLETED
    assert dispatched.sum() == ended.sum() > 20
    in_service = np.cumsum(dispatched.astype(int) - ended.astype(int))
    assert (in_service.max() > 1) == (name == "sfq")  # the others have one request in service
    assert text(vm, f"inflight-{name}").split() == ["0", "0"]


@on_each
def test_the_wake_up_may_sleep_where_locks_do(vm: Result, name: str) -> None:
    """PREEMPT_RT runs a HARD timer in the interrupt, where no lock of ours may be taken.

    It runs any other timer in a thread.
    """
    modes = text(vm, f"timers-{name}").split()
    assert set(modes) <= {"ABS"}
    assert modes or name not in WITH_TRIPS


@on_each
def test_a_tape_is_for_root_alone(vm: Result, name: str) -> None:
    """A tape shows which process reads what."""
    assert text(vm, f"mode-{name}") == "400"
