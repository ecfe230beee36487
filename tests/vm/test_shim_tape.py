# SPDX-License-Identifier: MIT
"""The shim's tape: its content on two processors, and when it is refused.

No run on two processors in wall clock can be repeated. But the calls on its tape, in the order of
the shim's lock, get the same answers here.
"""

import pytest
from guests import (
    MIB,
    OUR_SCHEDULERS,
    boot,
    first_difference,
    group,
    once,
    pairs,
    text,
)

from understudy_devices.base.errors import RunFailed
from understudy_devices.native import descriptions, replay
from understudy_devices.platforms.vm import shim_tape
from understudy_devices.platforms.vm.machine import Result

TAPE_CALLS = 300_000
SERVED = 1000

SCENARIO = """
queue=/sys/block/vdisk/queue
choose() {
	case " $(tr -d '[]' < $queue/scheduler) " in
	*" us-$1 "*) put us-$1 $queue/scheduler ;;
	*) put $1 $queue/scheduler ;;
	esac
}
served() {
	set -- $(cat /sys/block/vdisk/stat)
	echo $(($1 + $5))
}
# Selects a scheduler and runs a load until SERVED requests are complete.
load() { # SCHEDULER
	choose $1
	random --device /dev/vdisk --processes 24 --writes 50 < /dev/null > /tmp/said 2>&1 &
	random=$!
	enough=$(($(served) + SERVED))
	wait_for '[ $(served) -ge $enough ]'
	[ -z "$2" ] || eval "$2"
	kill -TERM $random
	wait $random || fail "random: $(cat /tmp/said)"
	for file in $queue/iosched/*; do
		[ ! -f "$file" ] || echo "${file##*/} $(cat $file)"
	done > /out/fields-$1
	choose none
}
sysfs() {
	echo /sys/module/$1/tape
}
throttle /dev/vdisk # a scheduler may need its model
for name in OURS; do
	load $name
	cat $(sysfs $name) > /out/tape-$name || fail "no tape of $name"
done

# The tape is unreadable while a disk writes to it, and begins anew with the next disk.
load fcfs 'cat $(sysfs fcfs) > /dev/null 2>&1 && fail "read early"'
again() {
	while :; do cat $(sysfs fcfs); done > /dev/null 2>&1
}
again &
reader=$!
for round in 1 2 3 4 5 6 7 8; do
	choose fcfs
	dd if=/dev/vdisk of=/dev/null bs=4k count=20 iflag=direct 2> /dev/null
	choose none
done
kill $reader
cat $(sysfs fcfs) > /out/again || fail 'no tape'

# The module is removed while a reader has the tape open.
exec 8< $(sysfs fcfs)
rmmod fcfs || fail 'fcfs stays'
cat <&8 > /dev/null 2> /out/orphan && fail 'a tape without its module'
exec 8<&-

insmod /modules/fcfs.ko
[ -e $(sysfs fcfs) ] && fail 'a tape that nobody wanted'
rmmod fcfs
insmod /modules/fcfs.ko tape_calls=10000001 2> /out/too-long && fail 'too long a tape'
insmod /modules/fcfs.ko tape_calls=100
cat $(sysfs fcfs) > /out/empty || fail 'no tape'
load fcfs
cat $(sysfs fcfs) > /out/full || fail 'no tape'
for name in OURS; do
	rmmod $name || fail "$name stays"
done
"""


@once
def taped() -> Result:
    """Boot a VM that runs every scheduler on two processors, and then one in trouble."""
    scenario = SCENARIO.replace("OURS", " ".join(OUR_SCHEDULERS))
    scenario = scenario.replace("SERVED", str(SERVED))
    modules = dict.fromkeys(OUR_SCHEDULERS, f"tape_calls={TAPE_CALLS}")
    modules |= {"iprobe": "", "vpt": "", "vdisk": f"size={MIB}"}
    return boot(scenario, modules, clock="wall", cpus=2, memory_mib=1024)


@pytest.mark.parametrize("name", OUR_SCHEDULERS)
@group("tape")
def test_same_answers_after_two_processors(name: str) -> None:
    """The tape has both processors' insertions, merges, picks and completions, in their order."""
    tape = shim_tape.parse(taped().out[f"tape-{name}"])
    assert len(tape.calls) > 3 * SERVED // 2
    fields = pairs(taped().out[f"fields-{name}"])
    answers, _ = replay.play(
        name,
        tape.calls,
        tunables={t.name: fields[t.name] for t in descriptions.schedulers()[name].tunables},
        capacity_sectors=tape.capacity_sectors,
        max_requests=tape.max_requests,
        depth=tape.depth,
    )
    assert first_difference(tape.calls, answers) is None


@group("tape")
def test_begins_anew() -> None:
    """The tape has only the last of several disks."""
    picks = shim_tape.parse(taped().out["again"]).calls
    assert (picks["kind"] == replay.COMPLETED).sum() == 20
    assert picks["id"].max() == 20


@group("tape")
def test_refused() -> None:
    """A tape is refused if it is full, empty or too long, or if its module is gone."""
    with pytest.raises(RunFailed, match=r"full: \d+ calls, room for 100"):
        shim_tape.parse(taped().out["full"])
    with pytest.raises(RunFailed, match="empty"):
        shim_tape.parse(taped().out["empty"])
    assert "out of range" in text(taped(), "too-long")
    assert "No such device" in text(taped(), "orphan")
