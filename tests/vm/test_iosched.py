# SPDX-License-Identifier: MIT
"""Our schedulers as elevators of the stock kernel, each file of core/schedulers/ a module.

Fields: each scheduler can be selected, its tunables can be read and set within their ranges, and
its counters can only be read. Merges: back and front, and more requests than the shim has slots.
Switching: from any scheduler to any other during writes, on two CPUs, with changes of the queue's
depth; bytes written through one scheduler are read back through another. Unloading: refused while
the scheduler is selected, and possible afterwards, even if the throttle watches it.
"""

import pytest
from guests import (
    ALL_SCHEDULERS,
    MIB,
    OUR_SCHEDULERS,
    SCHEDULER_MODULES,
    boot,
    group,
    once,
    pairs,
    text,
)

from understudy_devices.native import descriptions
from understudy_devices.platforms.vm.machine import Result

SCHEDULERS = descriptions.schedulers()
on_each = pytest.mark.parametrize("name", OUR_SCHEDULERS)

# The kernel uses the name "deadline" for mq-deadline.
COMMON = """
queue=/sys/block/vdisk/queue
choose() {
	case " $(tr -d '[]' < $queue/scheduler) " in
	*" us-$1 "*) put us-$1 $queue/scheduler ;;
	*) put $1 $queue/scheduler ;;
	esac
}
attach() {
	throttle /dev/vdisk
	put 300000 $vpt/intercept_ns
}
start_random() {
	random --device /dev/vdisk "$@" < /dev/null > /tmp/said 2>&1 &
	random=$!
	wait_for 'grep -qs ready /tmp/said'
}
stop_random() {
	kill -TERM $random
	wait $random || fail "random: $(cat /tmp/said)"
	cat /tmp/said >> /out/random
}
"""


# One after another, on one CPU.


def _try_values(name: str) -> str:
    """Return shell code that writes good and bad values to each field, and finally the default."""
    lines = []
    for tunable in SCHEDULERS[name].tunables:
        bad = [-1, "x", "1.5", "", "NaN", tunable.max + 1, *([tunable.min - 1] * (tunable.min > 0))]
        values = [*bad, tunable.max, tunable.min, tunable.initial]
        lines += [f"try_field '{value}' {tunable.name}" for value in values]
    lines += [f"try_field 1 {counter.name}" for counter in SCHEDULERS[name].counters]
    return "\n".join(lines)


FIELDS = (
    COMMON
    + """
try_field() {
	before=$(cat $queue/iosched/$2)
	said=$({ echo "$1" > $queue/iosched/$2; } 2>&1) && said=ok
	echo "$name|$2|$1|${said##*: }|$before|$(cat $queue/iosched/$2)" >> /out/tried
}
merged() { # EVENT
	grep -q "$1:" /sys/kernel/tracing/trace
}
coalesced() { # only some schedulers have this counter
	[ ! -e $queue/iosched/coalesced ] || [ "$(cat $queue/iosched/coalesced)" -gt 0 ]
}
merges() {
	put 0 /sys/kernel/tracing/tracing_on
	put 4096 /sys/kernel/tracing/buffer_size_kb
	for event in block_bio_backmerge block_bio_frontmerge; do
		put 1 /sys/kernel/tracing/events/block/$event/enable
	done
	put 1 /sys/kernel/tracing/tracing_on
	# The disk is so slow that a queue builds up, even on a slow processor.
	put 5000000 $vpt/intercept_ns
	start_random --processes 24 --writes 50
	wait_for 'merged block_bio_backmerge && merged block_bio_frontmerge && coalesced'
	stop_random
	put 300000 $vpt/intercept_ns
	put 0 /sys/kernel/tracing/tracing_on
	for event in backmerge frontmerge; do
		echo "$event $(grep -c "block_bio_$event:" /sys/kernel/tracing/trace)" >> /out/merges-$1
	done
	echo > /sys/kernel/tracing/trace
	for file in $queue/iosched/*; do
		echo "${file##*/} $(cat $file)"
	done > /out/fields-$1
}
attach
"""
    + "".join(
        f"""
name={name}
choose {name}
sed 's/.*\\[\\(.*\\)\\].*/\\1/' $queue/scheduler > /out/selected-{name}
ls $queue/iosched > /out/listed-{name}
{_try_values(name)}
rmmod {name} 2> /out/rmmod-{name} && fail "{name} went while it was selected"
merges {name}
"""
        for name in OUR_SCHEDULERS
    )
    + """
# There are more requests than the shim has slots, so some requests wait for a slot.
choose deadline
put 2000 $queue/nr_requests
start_random --processes 1300
sleep 1
stop_random
put 16 $queue/nr_requests

# The throttle watches a scheduler that is unloaded, and finds it when it is loaded again.
for round in 1 2 3; do
	choose clook
	put 20 $vpt/record
	dd if=/dev/vdisk of=/dev/null bs=4k count=20 iflag=direct 2> /dev/null
	echo "pick_unseen_$round $(cat $vpt/pick_unseen)" >> /out/rewatch
	echo "requests_$round $(cat $vpt/requests)" >> /out/rewatch
	choose none
	rmmod clook || fail 'clook stays'
	insmod /modules/clook.ko || fail 'clook does not come again'
done
choose none
for name in OURS; do
	rmmod $name || fail "$name stays"
done
release
cat /sys/block/vdisk/inflight > /out/inflight
rmmod vdisk || fail 'vdisk is held'
""".replace("OURS", " ".join(OUR_SCHEDULERS))
)


@once
def fields() -> Result:
    """Boot the VM in which each of our schedulers is tried alone, on a disk of 1 MiB."""
    modules = {"iprobe": "", "vpt": "", "vdisk": f"size={MIB}"}
    return boot(FIELDS, modules | dict.fromkeys(OUR_SCHEDULERS, ""), memory_mib=1024)


def tried(name: str) -> dict[tuple[str, str], tuple[str, str, str]]:
    """Return (field, value) -> reason or "ok", and the field before and after."""
    rows = [line.split("|") for line in text(fields(), "tried").splitlines()]
    return {(row[1], row[2]): (row[3], row[4], row[5]) for row in rows if row[0] == name}


@on_each
@group("iosched-fields")
def test_can_be_selected(name: str) -> None:
    """The name is the scheduler's own; if the kernel uses it, us- is put before it."""
    assert text(fields(), f"selected-{name}") in (name, f"us-{name}")
    declared = SCHEDULERS[name].tunables + SCHEDULERS[name].counters
    listed = text(fields(), f"listed-{name}").split()
    assert sorted(listed) == sorted(field.name for field in declared)


@on_each
@group("iosched-fields")
def test_tunables_keep_to_their_ranges(name: str) -> None:
    """Both ends are accepted; values beyond them and text that is no number are refused."""
    outcomes = tried(name)
    for tunable in SCHEDULERS[name].tunables:
        for value in (tunable.min, tunable.max, tunable.initial):
            reason_or_ok, _, after = outcomes[tunable.name, str(value)]
            assert (reason_or_ok, after) == ("ok", str(value)), tunable.name
        wrong = {"-1": "Invalid argument", "x": "Invalid argument", "1.5": "Invalid argument"}
        wrong |= {"": "Invalid argument", "NaN": "Invalid argument"}
        wrong[str(tunable.max + 1)] = "Numerical result out of range"
        for refused, reason in wrong.items():
            reason_or_ok, before, after = outcomes[tunable.name, refused]
            assert reason_or_ok == reason, (tunable.name, refused)
            assert before == after == str(tunable.initial)


@on_each
@group("iosched-fields")
def test_counters_are_read_only(name: str) -> None:
    """Not even root can write them."""
    outcomes = tried(name)
    for counter in SCHEDULERS[name].counters:
        assert outcomes[counter.name, "1"][0] == "Permission denied"


@on_each
@group("iosched-fields")
def test_merges(name: str) -> None:
    """Adjacent pages were merged at both ends."""
    assert pairs(fields().out[f"merges-{name}"])["backmerge"] > 0
    assert pairs(fields().out[f"merges-{name}"])["frontmerge"] > 0
    if name == "cats":
        assert pairs(fields().out["fields-cats"])["coalesced"] > 0


@group("iosched-fields")
def test_no_workload_saw_an_error() -> None:
    """One workload has more requests pending than the shim has slots."""
    done = [line.split() for line in text(fields(), "random").splitlines() if "done" in line]
    assert len(done) == len(OUR_SCHEDULERS) + 1
    assert {failed for _, _, failed, _ in done} == {"0"}
    assert text(fields(), "inflight").split() == ["0", "0"]


@on_each
@group("iosched-fields")
def test_selected_scheduler_stays(name: str) -> None:
    """rmmod is refused now, and succeeds at the end of the scenario."""
    assert "temporarily unavailable" in text(fields(), f"rmmod-{name}")


@group("iosched-fields")
def test_throttle_finds_a_scheduler_that_came_again() -> None:
    """The throttle sees the scheduler's picks however often the module was reloaded."""
    counters = pairs(fields().out["rewatch"])
    assert {name: value for name, value in counters.items() if "unseen" in name} == {
        "pick_unseen_1": 0,
        "pick_unseen_2": 0,
        "pick_unseen_3": 0,
    }
    assert all(counters[f"requests_{round}"] == 20 for round in (1, 2, 3))


# Switching during writes, on two CPUs.

ROUNDS = len(ALL_SCHEDULERS)  # each scheduler writes once
SWITCHING = (
    COMMON
    + """
attach
region=256 # pages
dd if=/dev/urandom of=/tmp/noise bs=4k count=$((region + ROUNDS)) 2> /dev/null
# Each round writes other bytes: the noise, beginning at another page.
write_part() { # ROUND QUARTER
	part=$((region / 4))
	dd if=/tmp/noise of=/dev/vdisk bs=4k oflag=direct conv=notrunc count=$part \\
		skip=$(($1 + $2 * part)) seek=$(($1 * region + $2 * part)) 2> /dev/null ||
		echo "write $1 $2 failed" >> /out/errors
}
write_buffered() {
	part=$((region / 4))
	dd if=/tmp/noise of=/dev/vdisk bs=4k conv=notrunc,fsync count=$part \\
		skip=$(($1 + 3 * part)) seek=$(($1 * region + 3 * part)) 2> /dev/null ||
		echo "buffered write $1 failed" >> /out/errors
}
read_back() { # ROUND
	dd if=/dev/vdisk bs=64k iflag=direct skip=$(($1 * region / 16)) count=$((region / 16)) \\
		2> /dev/null | md5sum
}
expected() {
	dd if=/tmp/noise bs=4k skip=$1 count=$region 2> /dev/null | md5sum
}
set -- ALL
start_random --processes 6 --think-us 3000
round=0
while [ $round -lt ROUNDS ]; do
	choose $1
	echo "$round $(sed 's/.*\\[\\(.*\\)\\].*/\\1/' $queue/scheduler)" >> /out/switched
	write_buffered $round &
	write_part $round 0 &
	one=$!
	write_part $round 1 &
	two=$!
	write_part $round 2 &
	three=$!
	# During the writes, change the queue depth and the scheduler.
	sleep 0.1
	for depth in 4 100 32; do
		put $depth $queue/nr_requests
	done
	set -- "$@" "$1"
	shift
	choose $1
	wait $one $two $three
	wait_for '[ -z "$(pidof dd)" ]'
	echo 3 > /proc/sys/vm/drop_caches
	[ "$(read_back $round)" = "$(expected $round)" ] || echo "bytes of $round" >> /out/errors
	round=$((round + 1))
done
stop_random
# Read all rounds again, through the last scheduler.
echo 3 > /proc/sys/vm/drop_caches
round=0
while [ $round -lt ROUNDS ]; do
	[ "$(read_back $round)" = "$(expected $round)" ] || echo "late bytes of $round" >> /out/errors
	round=$((round + 1))
done
choose none
for counter in requests completed failed missed untracked lost; do
	echo "$counter $(cat $vpt/$counter)"
done > /out/counters
release
touch /out/errors
for name in OURS; do
	rmmod $name || fail "$name stays"
done
"""
)


@once
def switching() -> Result:
    """Boot the VM in which all schedulers are switched during writes."""
    scenario = SWITCHING.replace("ROUNDS", str(ROUNDS))
    scenario = scenario.replace("ALL", " ".join(ALL_SCHEDULERS))
    scenario = scenario.replace("OURS", " ".join(OUR_SCHEDULERS))
    modules = {"iprobe": "", "vpt": "", "vdisk": f"size={ROUNDS * MIB}", **SCHEDULER_MODULES}
    return boot(scenario, modules, clock="wall", cpus=2, memory_mib=1024)


@group("iosched-switching")
def test_bytes_survive_switching() -> None:
    """Bytes written through one scheduler are read back through another."""
    assert text(switching(), "errors") == ""
    seen = {
        line.split()[1].removeprefix("us-") for line in text(switching(), "switched").split("\n")
    }
    assert seen == set(ALL_SCHEDULERS)


@group("iosched-switching")
def test_readers_saw_no_error_while_switching() -> None:
    """The throttle lost no request, either."""
    assert text(switching(), "random").splitlines()[-1].split()[2] == "0"
    counters = pairs(switching().out["counters"])
    assert counters["requests"] == counters["completed"] > 1000
    assert {counters[name] for name in ("failed", "missed", "untracked", "lost")} == {0}


# An elevator that is refused, after one that runs all hardware queues as one.

REFUSED = (
    COMMON
    + """
mount -t debugfs debug /sys/kernel/debug
put mq-deadline $queue/scheduler
{ echo sptf > $queue/scheduler; } 2> /out/why && fail 'sptf without a model of the disk'
cat $queue/scheduler > /out/scheduler
case "$(cat /sys/kernel/debug/block/vdisk/state)" in
*"|30"*) fail 'one hardware queue is run for all' ;;
esac
start_random --processes 8 --writes 30
usleep 500000
stop_random
cat /sys/block/vdisk/stat > /out/stat
cat /sys/block/vdisk/inflight > /out/inflight
"""
)


@group("iosched-refused")
def test_a_disk_goes_on_without_an_elevator_that_was_refused() -> None:
    """Both hardware queues are run, although kernel 6.1 keeps a flag of the previous elevator."""
    modules = {"vdisk": f"size={64 * MIB} queues=2", "iprobe": "", "vpt": "", "sptf": ""}
    result = boot(REFUSED, modules, clock="wall", cpus=2)
    assert "No such device" in text(result, "why")
    assert "[none]" in text(result, "scheduler")
    reads, *_ = text(result, "stat").split()
    assert int(reads) > 100
    assert text(result, "inflight").split() == ["0", "0"]
