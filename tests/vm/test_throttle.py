# SPDX-License-Identifier: MIT
"""The throttle on every controller, and what it refuses.

On each virtual disk a short experiment runs to its end, and its witnesses agree (in_vm.run raises
otherwise). The kernel's results are the core's: each model service to the nanosecond, each due
time, each hit. A disk whose completions would bypass the throttle is refused, as are invalid
values; neither changes anything.
"""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from guests import CHEETAH, FULL_SIZE_BYTES, attempts, boot, experiment, group, once, text

from understudy_devices.ask.experiment import Experiment, Outcome
from understudy_devices.device import profile
from understudy_devices.measure import metrics, records
from understudy_devices.native.draw import Draw
from understudy_devices.native.drive import Drive
from understudy_devices.platforms.vm import in_vm
from understudy_devices.platforms.vm.controllers import CONTROLLERS
from understudy_devices.platforms.vm.machine import Result

SAMPLES = 1024


def most_samples() -> profile.DiskProfile:
    """Return a disk with the largest number of samples, all different, and a random phase."""
    draw = Draw(1)
    return profile.load("vesper-flat").model_copy(
        update={
            "seek": profile.SeekCurve(
                ms=tuple(2 + draw.below(9000) / 1000 for _ in range(SAMPLES))
            ),
            "throughput": profile.Throughput(
                mb_per_s=tuple(5 + draw.below(50000) / 1000 for _ in range(SAMPLES))
            ),
            "rotation": profile.Rotation(period_ms=6.123457, phase="random"),
            "cache": CHEETAH.cache,
        }
    )


# Each controller has a run with the papers' disk, so small that its cache hits now and then; the
# papers' own controller has the papers' size. Further runs have other disks.
RUNS = {
    "vdisk": experiment(controller="vdisk", processes=4, requests=600, scheduler="mq-deadline"),
    "null_blk": experiment(controller="null_blk", requests=600),
    "lsi53c895a": experiment(
        controller="lsi53c895a",
        processes=4,
        scheduler="mq-deadline",
        virtual_bytes=FULL_SIZE_BYTES // 4096 * 4096,
    ),
    "virtio-scsi": experiment(controller="virtio-scsi", processes=2, writes_percent=30),
    "virtio-blk": experiment(controller="virtio-blk", processes=2, scheduler="mq-deadline"),
    "nvme-card": experiment(controller="nvme-card", processes=4, writes_percent=30),
    "zones": experiment(disk=profile.load("vesper-zoned"), processes=4, scheduler="cats"),
    "random phase": experiment(disk=most_samples(), writes_percent=30, processes=4, seed=5),
}
on_each = pytest.mark.parametrize(
    "run", [pytest.param(name, marks=group(f"throttle-{name}")) for name in RUNS]
)


@once
def outcome(run: str) -> Outcome:
    """Run one of the experiments."""
    return in_vm.run(RUNS[run], lambda phase, fraction: None)


def served(run: str) -> pl.DataFrame:
    """Return requests in the order in which the disk served them.

    They end before the first request that has no record, since it carried only bios from after the
    measurement. Later service times can't be computed.
    """
    requests = (
        outcome(run)
        .requests.group_by("request_id")
        .agg(
            pl.col("sector").min(),
            pl.col("sectors").sum(),
            pl.col("op", "dispatch_ns", "due_ns", "completion_ns").first(),
            pl.col("model_service_ns", "hit", "late", "stale").first(),
        )
        .sort("request_id")
    )
    unbroken = requests.with_row_index("place", 1).filter(pl.col("request_id") == pl.col("place"))
    assert unbroken.height >= RUNS[run].requests * 3 // 4
    return unbroken


def modelled(run: Experiment, capacity_sectors: int, rows: pl.DataFrame) -> pl.DataFrame:
    """Return the core's service times and hits for these requests."""
    drive = Drive(run.device.disk.timing(capacity_sectors), run.seed)
    op = (rows["op"] == "write").cast(pl.UInt8)
    service_ns, hit = drive.serve(op.to_numpy(), rows["sector"].to_numpy(), rows["sectors"])
    return pl.DataFrame({"model_service_ns": service_ns.astype(np.int64), "hit": hit})


def test_every_controller_is_tried() -> None:
    """A new controller needs a run in RUNS."""
    assert {run.platform.controller for run in RUNS.values()} == set(CONTROLLERS)


@on_each
def test_runs_to_the_end(run: str) -> None:
    """All arrivals are recorded and complete, without failures and without bypassing
    the throttle.
    """
    answer = outcome(run)
    records.check(answer.requests)
    assert answer.requests.height == RUNS[run].requests
    counters = answer.facts["counters"]
    assert {name: counters[name] for name in ("failed", "missed", "untracked", "lost")} == {
        "failed": 0,
        "missed": 0,
        "untracked": 0,
        "lost": 0,
    }
    assert counters["requests"] == counters["completed"] > 0


@on_each
def test_time_is_the_models(run: str) -> None:
    """Service times and hits are the core's, and due times follow from them."""
    rows = served(run)
    expected = modelled(RUNS[run], outcome(run).facts["capacity_sectors"], rows)
    assert rows["model_service_ns"].to_list() == expected["model_service_ns"].to_list()
    assert rows["hit"].to_list() == expected["hit"].to_list()
    start = pl.max_horizontal("dispatch_ns", pl.col("due_ns").shift(1, fill_value=0))
    wrong = rows.filter(pl.col("due_ns") != start + pl.col("model_service_ns"))
    assert wrong.is_empty(), wrong


@on_each
def test_nothing_ends_before_it_is_due(run: str) -> None:
    rows = served(run)
    assert (rows["completion_ns"] >= rows["due_ns"]).all()


@pytest.mark.exact
@on_each
def test_hardly_anything_ends_after_it_is_due(run: str) -> None:
    """The mean lateness is at most 0.05 % of the mean service, on controllers with that promise."""
    rows = served(run)
    lateness = (rows["completion_ns"] - rows["due_ns"]).to_numpy()
    facts = outcome(run).facts
    print(f"{run}: lateness mean {lateness.mean():.0f} max {lateness.max()} ns,", end=" ")
    print(f"late {facts['counters']['late']}, stale {facts['counters']['stale']}", end=" ")
    print(f"of {facts['counters']['requests']}; witness {facts['witness']}")
    if CONTROLLERS[RUNS[run].platform.controller].budget:
        service = metrics.service_times_ns(rows)
        assert lateness.mean() <= 0.0005 * service.mean()
        assert facts["counters"]["late"] == 0
        assert facts["counters"]["stale"] == 0


@group("throttle-vdisk")
def test_cache_is_hit() -> None:
    """On the small disk some reads hit the modelled cache, but fewer than half."""
    rows = served("vdisk")
    assert 10 < rows["hit"].sum() < rows.height // 2
    assert set(rows.filter("hit")["model_service_ns"]) == {CHEETAH.timing(1).hit_ns}


@group("throttle-random phase")
def test_a_random_phase_is_seen() -> None:
    """The latencies are between 0 and a rotation, and half a rotation on average."""
    rows = served("random phase")
    run = RUNS["random phase"]
    timing = run.device.disk.timing(outcome("random phase").facts["capacity_sectors"])
    fixed = Drive(replace(timing, rotation_ns=0))
    op = (rows["op"] == "write").cast(pl.UInt8)
    position_ns, hit = fixed.serve(op.to_numpy(), rows["sector"].to_numpy(), rows["sectors"])
    waited = (rows["model_service_ns"].to_numpy() - position_ns.astype(np.int64))[~hit]
    assert waited.min() >= 0
    assert waited.max() < timing.rotation_ns
    share = waited / timing.rotation_ns
    assert share.mean() == pytest.approx(0.5, abs=5 / np.sqrt(12 * len(share)))
    assert share.std() == pytest.approx(1 / np.sqrt(12), rel=0.15)


# Refusals.

REFUSALS = """
insmod_null() {
	insmod /modules/null_blk.ko "$@" memory_backed=1 bs=512 gb=1 || fail "no null_blk $*"
	wait_for '[ -b /dev/nullb0 ]'
}
try_null() { # NAME PARAMETERS...
	name=$1
	shift
	insmod_null "$@"
	echo "as $name" > /dev/kmsg
	ln -sf nullb0 /dev/$name
	attempt /dev/$name /sys/kernel/vpt/add
	[ ! -e /sys/kernel/vpt/nullb0 ] || fail "$name was taken"
	rmmod null_blk || fail "null_blk is held"
}
rmmod null_blk
try_null completes_inline irqmode=0 queue_mode=2
try_null completes_by_timer irqmode=2 queue_mode=2
echo "as bio_based" > /dev/kmsg
ln -sf ram0 /dev/bio_based
attempt /dev/bio_based /sys/kernel/vpt/add
[ ! -e /sys/kernel/vpt/ram0 ] || fail "bio_based was taken"

insmod_null irqmode=1 queue_mode=2
printf 'n\\np\\n1\\n\\n\\nw\\n' | fdisk /dev/nullb0 > /dev/null 2>&1
wait_for '[ -b /dev/nullb0p1 ]'
echo "as partition" > /dev/kmsg
attempt /dev/nullb0p1 /sys/kernel/vpt/add
attempt /dev/there_is_none /sys/kernel/vpt/add
attempt /proc/version /sys/kernel/vpt/add
attempt "" /sys/kernel/vpt/add

# After the refusals, a disk is accepted, but only once, and after it another disk.
attempt /dev/nullb0 /sys/kernel/vpt/add
ln -sf nullb0 /dev/again
attempt /dev/again /sys/kernel/vpt/add
attempt nullb0 /sys/kernel/vpt/remove
attempt nullb0 /sys/kernel/vpt/remove
attempt none /sys/kernel/vpt/remove
throttle /dev/vdisk
ls -F /sys/kernel/vpt >> /out/disks
size=$(cat /sys/block/vdisk/size)
put 4000000 $vpt/intercept_ns
put "0:0 $size:5000000" $vpt/seek_curve
put 5 $vpt/record
dd if=/dev/vdisk of=/dev/null bs=4k count=5 iflag=direct 2> /dev/null
cat $vpt/record > /out/progress
cat $vpt/records > /out/records

settings() {
	for file in intercept_ns hit_ns rotation_ns rotation_random rotation_seed \\
		seek_curve transfer_curve cache_segments cache_segment_sectors \\
		cache_prefetch_sectors scale_milli scale_auto record requests; do
		echo "$file $(cat $vpt/$file)"
	done
}
put "0:1000 $size:2000" $vpt/transfer_curve
settings > /out/before
for number in -1 NaN nan inf 1.5 "" " " 5ms 0x 1e6 15000000001 18446744073709551616; do
	for file in intercept_ns hit_ns rotation_ns; do
		attempt "$number" $vpt/$file
	done
done
attempt 2 $vpt/rotation_random
attempt mean $vpt/rotation_random
attempt -1 $vpt/rotation_seed
attempt 1025 $vpt/cache_segments
attempt 4294967296 $vpt/cache_segment_sectors
attempt -1 $vpt/cache_prefetch_sectors
attempt 0 $vpt/scale_milli
attempt 1000001 $vpt/scale_milli
attempt NaN $vpt/scale_milli
attempt 2 $vpt/scale_auto
attempt 0 $vpt/record
attempt 10000001 $vpt/record
attempt -5 $vpt/record
attempt many $vpt/record
for curve in "0:0" "x" "0:0 $size" "0:0 $size:-5" "0:0 $size:NaN" "0:0 $size:5e6" "1:0 $size:5" \\
	"0:0 100:900 100:901 $size:500" "0:0 200:900 100:901 $size:500" "0:0 $size:1 $size:1" \\
	"0:0 $((size - 1)):500" "0:0 $((size + 1)):500" "0:0 $size:100000000001" \\
	"0:0 $size:18446744073709551617" "0:0, $size:5" "0:0:0 $size:5" ":0 $size:5" "0: $size:5"; do
	attempt "$curve" $vpt/seek_curve
	attempt "$curve" $vpt/transfer_curve
done
attempt "" $vpt/seek_curve
attempt "0:0 $size:15000000001" $vpt/seek_curve
# At this scale a full seek would look like a dead disk.
put 4000000000 $vpt/intercept_ns
attempt 1000000 $vpt/scale_milli
put 4000000 $vpt/intercept_ns
# The longest transfer would look like a dead disk, too.
attempt "0:1000 $size:90000000000" $vpt/transfer_curve
attempt 1 $vpt/requests
# A buffer's values must not contradict other files, whichever is written last.
put "0:1000" $vpt/tracks
put 1000000 $vpt/write_ns
put 8 $vpt/write_back_spans
put 1000 $vpt/write_back_sectors
put 5000 $vpt/read_ahead_sectors
put 1 $vpt/buffered
attempt 0 $vpt/write_back_sectors
attempt 3 $vpt/buffer_segments
attempt "0:1" $vpt/tracks
put 0 $vpt/buffered
put 0 $vpt/write_back_sectors
attempt 1 $vpt/buffered
settings > /out/after
release
ls -F /sys/kernel/vpt >> /out/disks
"""
EINVAL = "Invalid argument"
ERANGE = "Numerical result out of range"
EOPNOTSUPP = "Operation not supported"


@once
def refusals() -> Result:
    """Boot the VM in which everything that must be refused is tried."""
    modules = {
        "iprobe": "",
        "vpt": "",
        "vdisk": "size=67108864",
        "null_blk": "nr_devices=0",
        "brd": "rd_nr=1 rd_size=1024",
    }
    return boot(REFUSALS, modules)


@group("throttle-refusals")
@pytest.mark.parametrize(
    ("disk", "reason"),
    [
        ("completes_inline", "nullb0 completes its requests where they can't be held"),
        ("completes_by_timer", "nullb0 completes its requests where they can't be held"),
        ("bio_based", "ram0 is not a whole disk on blk-mq"),
        ("nullb0p1", "nullb0p1 is not a whole disk on blk-mq"),
    ],
)
def test_refuses_what_it_cannot_hold(disk: str, reason: str) -> None:
    """The error is EOPNOTSUPP, and the log says why."""
    assert attempts(refusals())[f"add=/dev/{disk}"] == EOPNOTSUPP
    after = text(refusals(), "dmesg").split(f"as {disk.replace('nullb0p1', 'partition')}\n")[1]
    assert reason in after.split("\n")[0]


@group("throttle-refusals")
def test_refuses_what_is_no_disk() -> None:
    """The path does not exist, or is no block device."""
    reasons = attempts(refusals())
    assert reasons["add=/dev/there_is_none"] == "No such file or directory"
    assert reasons["add=/proc/version"] == "Block device required"
    assert reasons["add="] == EINVAL


@group("throttle-refusals")
def test_takes_a_disk_after_refusals() -> None:
    """Two disks are throttled one after the other, and requests take the right time."""
    reasons = attempts(refusals())
    assert reasons["add=/dev/nullb0"] == "ok"
    assert reasons["add=/dev/again"] == "Device or resource busy"
    removed = [line for line in text(refusals(), "attempts").splitlines() if "remove=" in line]
    assert removed == [
        "remove=nullb0: ok",
        "remove=nullb0: No such device",
        "remove=none: No such device",
    ]
    assert text(refusals(), "disks").split() == ["add", "remove", "vdisk/", "add", "remove"]
    assert text(refusals(), "progress") == "5 5 5"
    rows = records.from_bytes(refusals().out["records"])
    records.check(rows)
    assert set(rows["model_service_ns"]) == {4_000_000}  # requests begin at the head's position


@group("throttle-refusals")
def test_refuses_bad_values_and_changes_nothing() -> None:
    """Bad values are negative, no number, text, too large, or an invalid curve."""
    assert text(refusals(), "before") == text(refusals(), "after")
    reasons = attempts(refusals())
    tried = {
        key: reason
        for key, reason in reasons.items()
        if key.split("=")[0] not in ("add", "remove", "requests")
    }
    assert len(tried) > 90
    assert set(tried.values()) == {EINVAL, ERANGE}
    for value in ("15000000001", "18446744073709551616"):
        assert tried[f"intercept_ns={value}"] == ERANGE
    assert reasons["scale_milli=0"] == reasons["scale_milli=1000001"] == ERANGE
    assert reasons["scale_milli=1000000"] == ERANGE
    assert [why for curve, why in reasons.items() if curve.endswith(":90000000000")] == [ERANGE]
    assert reasons["buffered=1"] == reasons["tracks=0:1"] == EINVAL
    assert reasons["requests=1"] == "Permission denied"
