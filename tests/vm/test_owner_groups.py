# SPDX-License-Identifier: MIT
"""Owners that are control groups: two groups, each with several processes and its own partition,
share an array under sfq.

The kernel's own statistics of each group (io.stat) say how many bytes it read and wrote. The
throttle's records and the scheduler's tape must assign the same bytes to the same groups, also for
data that kernel threads write back.
"""

import numpy as np
import polars as pl
import pytest
from guests import MIB, attempts, boot, group, once, pairs, text

from understudy_devices.measure import records
from understudy_devices.native.replay import ADD
from understudy_devices.platforms.vm import shim_tape
from understudy_devices.platforms.vm.machine import Result

DEPTH = 8
PROCESSES = 4
KIB_WRITTEN = 1024  # by each process, through the page cache
PAGES_READ = 50  # by each process, with O_DIRECT
WEIGHT = 250

MODULES = {
    "iprobe": "",
    "vpt": "",
    "vdisk": f"size={256 * MIB} depth={DEPTH} partitions=1",
    "crc32c_generic": "",
    "ext4": "",
    "sfq": f"queue_depth={DEPTH} cgroups=1 tape_calls=100000",
}

GROUPS = f"""
wait_for '[ -b /dev/vdisk ]'
queue=/sys/block/vdisk/queue
groups=/sys/fs/cgroup
weights=/sys/module/sfq/parameters/weights
printf 'n\\np\\n1\\n\\n+100M\\nn\\np\\n2\\n\\n\\nw\\n' | fdisk /dev/vdisk > /tmp/said 2>&1
wait_for '[ -b /dev/vdisk2 ]'
put 10 /proc/sys/vm/dirty_writeback_centisecs
put 10 /proc/sys/vm/dirty_expire_centisecs
mount -t cgroup2 cgroup $groups
put '+memory +io' $groups/cgroup.subtree_control
for place in 1 2; do
	mke2fs /dev/vdisk$place > /tmp/said 2>&1 || fail "$(cat /tmp/said)"
	mkdir /mnt/$place
	mount -t ext4 /dev/vdisk$place /mnt/$place || fail "no file system"
	mkdir $groups/vm$place
	echo "vm$place $(stat -c %i $groups/vm$place)" >> /out/groups
done
sync
throttle /dev/vdisk
put {DEPTH} $vpt/array_servers
put 2000000 $vpt/array_service_ns
put 1 $vpt/record_groups
for wrong in 5 5:0 5:10001 x:1 5:1:1 '5:1 5:2' 4294967296:1; do
	attempt "$wrong" $weights
done
attempt "$(seq 1 65 | sed 's/$/:1/' | tr '\\n' ' ')" $weights
attempt "$(stat -c %i $groups/vm1):{WEIGHT}, 7:1" $weights
attempt "nothing" $weights
cat $weights > /out/weights
put sfq $queue/scheduler
put 100000 $vpt/record
put 1 /sys/kernel/tracing/events/block/block_bio_queue/enable
process() {{ # PLACE NUMBER
	dd if=/dev/zero of=/mnt/$1/file$2 bs=64k count={KIB_WRITTEN // 64} 2> /dev/null &&
		dd if=/dev/vdisk$1 of=/dev/null bs=4k skip=$((1000 * $2)) count={PAGES_READ} \\
			iflag=direct 2> /dev/null
	echo "$1 $2 $?" >> /out/ended
}}
for place in 1 2; do
	for number in {" ".join(map(str, range(PROCESSES)))}; do
		(
			sh -c 'echo $PPID' > $groups/vm$place/cgroup.procs
			process $place $number
		) &
	done
done
wait
sleep 2
sync
cat $vpt/record > /out/progress
cat $vpt/records > /out/records || fail "the records can't be read"
for place in 1 2; do
	tr ' ' '\\n' < $groups/vm$place/io.stat | tr '=' ' ' > /out/stat$place
done
grep block_bio_queue /sys/kernel/tracing/trace > /out/trace
for counter in requests completed failed missed untracked lost stale; do
	echo "$counter $(cat $vpt/$counter)"
done > /out/counters
put none $queue/scheduler
cat /sys/module/sfq/tape > /out/tape
release
"""


@once
def shared() -> Result:
    """Boot the VM."""
    return boot(GROUPS, MODULES)


def numbers() -> dict[str, int]:
    """Return the numbers of the two groups."""
    return pairs(shared().out["groups"])


def rows() -> pl.DataFrame:
    """Return the throttle's records."""
    requests = records.from_bytes(shared().out["records"])
    records.check(requests)
    return requests


@group("owner-groups")
def test_all_went_well() -> None:
    assert sorted(text(shared(), "ended").splitlines()) == sorted(
        f"{place} {number} 0" for place in (1, 2) for number in range(PROCESSES)
    )
    counters = pairs(shared().out["counters"])
    assert counters["requests"] == counters["completed"]
    wrong = ("failed", "missed", "untracked", "lost", "stale")
    assert [counters[name] for name in wrong] == [0] * len(wrong)


@group("owner-groups")
@pytest.mark.parametrize("place", [1, 2])
def test_the_kernels_own_account_is_the_same(place: int) -> None:
    """The bytes agree exactly. They exceed what the processes wrote, since they include
    metadata.
    """
    stat = pairs(shared().out[f"stat{place}"])
    mine = rows().filter(pl.col("owner") == numbers()[f"vm{place}"])
    read, written = (mine.filter(pl.col("op") == op)["sectors"].sum() for op in ("read", "write"))
    assert 512 * read == stat["rbytes"] >= PROCESSES * PAGES_READ * 4096
    assert 512 * written == stat["wbytes"] >= PROCESSES * KIB_WRITTEN * 1024


@group("owner-groups")
def test_kernel_threads_wrote_it_back() -> None:
    """Kernel threads do the writing, and belong to no group; owners by process would differ."""
    wrote = [line for line in text(shared(), "trace").splitlines() if "kworker" in line]
    assert len(wrote) > 10
    written = rows().filter(pl.col("op") == "write")
    assert set(numbers().values()) <= set(written["owner"])


@group("owner-groups")
def test_each_group_reads_its_own_partition() -> None:
    """Direct reads are in the partition of the group that sends them."""
    reads = rows().filter(pl.col("op") == "read")
    reach = reads.group_by("owner").agg(pl.col("sector").min(), pl.col("sector").max().alias("end"))
    first, second = (reach.filter(pl.col("owner") == number) for number in numbers().values())
    assert first["end"].item() < second["sector"].item()


@group("owner-groups")
def test_the_scheduler_knows_them_by_group_and_weight() -> None:
    """One group has the weight that it was given, the other the weight of its priority."""
    tape = shim_tape.parse(shared().out["tape"])
    added = tape.calls[tape.calls["kind"] == ADD]
    owners = np.unique(added["owner"]).tolist()
    weights = {owner: set(added["weight"][added["owner"] == owner]) for owner in owners}
    one, two = numbers()["vm1"], numbers()["vm2"]
    assert weights[one] == {WEIGHT}
    assert weights[two] == {100}
    assert set(weights) <= {one, two, 1}


@group("owner-groups")
def test_wrong_weights_are_refused() -> None:
    """A refused weight changes nothing."""
    reasons = attempts(shared())
    assert list(reasons.values())[:8] == [
        "Invalid argument",
        *["Numerical result out of range"] * 2,
        *["Invalid argument"] * 2,
        "File exists",
        "Numerical result out of range",
        "Argument list too long",
    ]
    assert text(shared(), "weights") == f"{numbers()['vm1']}:{WEIGHT} 7:1"


# Both groups always have requests pending, since a service takes far longer than the slowest kernel
# needs for a request.

SHARES = (200, 100)
BUSY = f"""
wait_for '[ -b /dev/vdisk ]'
queue=/sys/block/vdisk/queue
groups=/sys/fs/cgroup
mount -t cgroup2 cgroup $groups
put '+io' $groups/cgroup.subtree_control
throttle /dev/vdisk
put {DEPTH} $vpt/array_servers
put 20000000 $vpt/array_service_ns
put 1 $vpt/record_groups
put 1 $vpt/reset
put sfq $queue/scheduler
put 0 $queue/iosched/settle
put 0 $queue/iosched/cost_sector_ns
start() {{ # NAME WEIGHT
	mkdir $groups/$1
	number=$(stat -c %i $groups/$1)
	echo "$1 $number" >> /out/groups
	put "$(cat /sys/module/sfq/parameters/weights) $number:$2" /sys/module/sfq/parameters/weights
	(
		sh -c 'echo $PPID' > $groups/$1/cgroup.procs
		exec random --device /dev/vdisk --processes 16 < /dev/null > /tmp/said-$1 2>&1
	) &
	wait_for "grep -qs ready /tmp/said-$1"
}}
start vm1 {SHARES[0]}
first=$!
start vm2 {SHARES[1]}
second=$!
put 3000 $vpt/record
port follow $vpt/record || fail 'too slow'
kill -TERM $first $second
wait $first && wait $second || fail "$(cat /tmp/said-*)"
cat $vpt/records > /out/records
release
"""


@group("owner-shares")
def test_each_group_gets_its_share() -> None:
    """In no interval do the groups differ by more than SFQ(D) allows: D + 1 requests of each, by
    weight (Jin, Chase and Kaur 2004).
    """
    result = boot(BUSY, {**MODULES, "sfq": f"queue_depth={DEPTH} cgroups=1"})
    requests = records.from_bytes(result.out["records"]).sort("request_id")
    records.check(requests)
    one, two = pairs(result.out["groups"]).values()
    assert set(requests["owner"]) == {one, two}
    shares = np.where(requests["owner"].to_numpy() == one, 1 / SHARES[0], -1 / SHARES[1])
    ahead = np.concatenate([[0], np.cumsum(shares[:-200])])  # the last ones may lack competitors
    assert ahead.max() - ahead.min() <= (DEPTH + 1) * (1 / SHARES[0] + 1 / SHARES[1])
