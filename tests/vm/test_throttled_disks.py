# SPDX-License-Identifier: MIT
"""Many throttled disks at once: each keeps the time of its own model, as if it were alone.

Sixteen disks have sixteen profiles and values of k, under a mixed load: on one processor in the
virtual clock, and on two in wall time with two hardware queues each. The oracle is the closed form
of a line, with the sectors of the records. Further tests change some disks while others work:
profile and k change a thousand times, one disk's settings change in any order while they are read,
disks are removed, and all are removed with the module.
"""

import random
from collections import Counter
from typing import Any, NamedTuple

import polars as pl
import pytest
from guests import MIB, attempts, boot, group, once, pairs, text

from understudy_devices.measure import records
from understudy_devices.platforms import reads
from understudy_devices.platforms.vm.machine import Result

CORE = {"iprobe": "", "vpt": ""}
SIZE = 256 * MIB
SECTORS = SIZE // 512
DISKS = [f"vdisk{index or ''}" for index in range(16)]
REQUESTS = {"virtual": 400, "wall": 30}
STALLS = {"virtual": 0, "wall": 3}
"""The number of requests that the host may delay, for which the throttle is not to blame."""
COUNTERS = "requests completed failed missed untracked lost late stale"
LOAD = f"""
every() {{ # COMMAND: runs it for each line of /disks
	while read -r disk intercept far k processes writes think scheduler; do
		vpt=/sys/kernel/vpt/$disk
		"$@" || fail "$* on $disk"
	done < /disks
}}
prepare() {{
	throttle /dev/$disk
	put $intercept $vpt/intercept_ns
	put "0:0 {SECTORS}:$far" $vpt/seek_curve
	put $k $vpt/scale_milli
	put $scheduler /sys/block/$disk/queue/scheduler
}}
start() {{
	random --device /dev/$disk --processes $processes --writes $writes --think-us $think \\
		--log /out/reads-$disk --log-max 1000000 < /dev/null > /tmp/said-$disk 2>&1 &
	echo $! > /tmp/pid-$disk
	wait_for "grep -qs ready /tmp/said-$disk"
}}
record() {{
	put $1 $vpt/record
}}
follow() {{
	port follow $vpt/record
}}
stop() {{
	kill -TERM $(cat /tmp/pid-$disk)
	wait $(cat /tmp/pid-$disk) || fail "random on $disk: $(cat /tmp/said-$disk)"
	tr -s ' ' < /sys/block/$disk/stat > /out/stat-$disk
}}
collect() {{
	cat $vpt/records > /out/records-$disk
	for counter in {COUNTERS}; do
		echo "$counter $(cat $vpt/$counter)"
	done > /out/counters-$disk
}}
"""


class Load(NamedTuple):
    """A disk's profile and k, and its load."""

    disk: str
    intercept_ns: int
    full_seek_ns: int
    k_milli: int
    processes: int
    writes_percent: int
    think_us: int
    scheduler: str


def load_of(index: int, k_milli: int) -> Load:
    """Return the load of a disk, different for each."""
    return Load(
        *(DISKS[index], 2_000_000 + 250_000 * index, 4_000_000 + 300_000 * index),
        *(k_milli * (20 + index) // 20, 1 + index % 4, 10 * (index % 5), 500 * (index % 3)),
        ("none", "mq-deadline", "cats", "clook")[index // 2 % 4],
    )


LOADS = {
    "virtual": [load_of(index, 8000) for index in range(16)],
    "wall": [load_of(index, 80000) for index in range(16)],
}
"""Loads by clock. In virtual time long services take no host time, and leave the processor to a
kernel that checks memory accesses."""


def lines(loads: list[Load]) -> str:
    return "".join(" ".join(map(str, load)) + "\n" for load in loads)


@once
def sixteen(clock: str) -> Result:
    """Boot the VM with sixteen throttled disks."""
    scenario = f"""{LOAD}
every prepare
every start
every record {REQUESTS[clock]}
every follow
port notify followed # the steps from here on may take long
every stop
every collect
"""
    hardware: dict[str, Any] = {"virtual": {}, "wall": {"clock": "wall", "cpus": 2}}[clock]
    queues = {"virtual": 1, "wall": 2}[clock]
    vdisk = f"size={SIZE} disks={len(DISKS)} queues={queues}"
    modules = {**CORE, "vdisk": vdisk, "cats": "", "clook": ""}
    files = {"disks": lines(LOADS[clock])}
    return boot(scenario, modules, files=files, memory_mib=2048, timeout_seconds=3600, **hardware)


def served(result: Result, load: Load) -> pl.DataFrame:
    """Return the real and the expected service times of requests that follow a recorded one."""
    rows = records.from_bytes(result.out[f"records-{load.disk}"])
    records.check(rows)
    by_request = rows.group_by("request_id").agg(
        pl.col("sector").min(),
        pl.col("sectors").sum(),
        pl.col("dispatch_ns", "completion_ns", "late").first(),
    )
    before = pl.all().shift(1).name.suffix("_before")
    moved = (pl.col("sector") - pl.col("sector_before") - pl.col("sectors_before")).abs()
    start = pl.max_horizontal("dispatch_ns", "completion_ns_before")
    return (
        by_request.sort("request_id")
        .with_columns(before)
        .filter(pl.col("request_id") == pl.col("request_id_before") + 1)
        .with_columns(
            took_ns=pl.col("completion_ns") - start,
            should_ns=(load.intercept_ns + moved * load.full_seek_ns / SECTORS)
            * load.k_milli
            / 1000,
        )
    )


on_each_disk = pytest.mark.parametrize("index", range(len(DISKS)))
on_each_clock = pytest.mark.parametrize(
    ("clock", "tolerance"),
    [
        pytest.param("virtual", 0.001, marks=group("disks-virtual")),
        pytest.param("wall", 0.01, marks=group("disks-wall")),
    ],
)


@pytest.mark.exact
@on_each_disk
@on_each_clock
def test_each_keeps_its_own_time(clock: str, tolerance: float, index: int) -> None:
    """The mean service time is within the tolerance."""
    rows = served(sixteen(clock), LOADS[clock][index])
    assert rows.height > REQUESTS[clock] * 3 // 4
    rows = rows.sort(pl.col("took_ns") - pl.col("should_ns")).head(rows.height - STALLS[clock])
    took_ns, should_ns = rows["took_ns"].to_numpy().mean(), rows["should_ns"].to_numpy().mean()
    error = took_ns / should_ns - 1
    print(f"{clock} {DISKS[index]}: {1e6 * error:.0f} ppm of {should_ns:.0f} ns")
    assert abs(error) < tolerance


@on_each_disk
@on_each_clock
def test_each_counts_its_own_requests(clock: str, tolerance: float, index: int) -> None:
    """All requests of a disk are counted as its own, and none bypassed the throttle.

    At this k at most 1 % of the requests are late.
    """
    del tolerance
    counters = pairs(sixteen(clock).out[f"counters-{DISKS[index]}"])
    assert counters["requests"] == counters["completed"] >= REQUESTS[clock]
    assert [counters[name] for name in ("failed", "missed", "untracked", "lost")] == [0] * 4
    if clock == "virtual":
        assert counters["late"] == counters["stale"] == 0
    assert 100 * counters["late"] <= counters["requests"]


# Changes under load.

CHANGED = LOADS["wall"][:4]
MIXED = load_of(4, 1000)._replace(processes=6, writes_percent=40)
ROTATION_NS = 4_000_000
ANGLES = " ".join(
    f"{first}:{sectors}:{2**64 // sectors}:0:{2**60}:3:{3 * sectors - 5}:{2**60}"
    for first, sectors in ((0, 512), (SECTORS // 2, 400))
)
SETTINGS: dict[str, tuple[object, ...]] = {
    "buffered": (0, 1),
    "cache_segments": (0, 4, 512),
    "cache_segment_sectors": (0, 221, 2**32 - 1),
    "buffer_segments": (0, 1, 16, 256),
    "buffer_segment_sectors": (0, 64, 4096),
    "read_ahead_sectors": (0, 256, 5000),
    "read_ahead_to_track_end": (0, 1),
    "write_back_spans": (0, 1, 16, 64),
    "write_back_sectors": (0, 64, 4096),
    "write_back_full_idle_ns": (0, 1),
    "write_back_low_sectors": (0, 64, 4096),
    "write_back_order": (0, 1, 2, 3),
    "after_hit": (0, 1, 2),
    "rotation_ns": (0, ROTATION_NS, ROTATION_NS, ROTATION_NS),
    "rotation_random": (0, 0, 0, 1),
    "seek_curve": (f"0:0 {SECTORS}:0", f"0:1000000 9000:500000 {SECTORS}:5000000"),
    "transfer_curve": ("", f"0:2000000 {SECTORS}:3000000"),
    "tracks": ("", "", *5 * (ANGLES,), f"0:512 {SECTORS // 2}:400", "0:64"),
    "tracks_slips": ("", "", "9:1 70:3 71:2"),
    "tracks_velocity": (0, 0, *3 * (2**64 // ROTATION_NS,)),
    "tracks_step": (0, 0, 1 << 20),
    "queue_depth": (0, 1, 4, 256),
    "queue_age_limit_ns": (1_000_000, 500_000_000),
    "subtract_overhead": (0, 1),
    "array_servers": (0, 0, 1, 8),
    "array_service_ns": (0, 1_000_000),
    "reset": (1,),
    "record": (10, 5000),
}
"""Values that may be written under load; some contradict others."""
DRAW = random.Random(47)
MIX = [(name, DRAW.choice(SETTINGS[name])) for name in DRAW.choices(list(SETTINGS), k=1000)]
# A disk without service times would leave no processor time for the changes.
CHANGES = f"""{LOAD}
mixed=/sys/kernel/vpt/{MIXED.disk}
mix() {{
	while read -r name value; do
		if {{ echo "$value" > $mixed/$name; }} 2> /tmp/why; then
			echo ok
		else
			sed 's/.*: //' /tmp/why
		fi
	done < /mix > /out/mixed
	: > /tmp/mixed
}}
# Records can't be read while some requests are incomplete.
look() {{
	looks=0
	while [ ! -e /tmp/mixed ]; do
		cat $mixed/record $mixed/seek_curve $mixed/tracks_slips > /dev/null || break
		cat $mixed/records > /dev/null 2>&1 || true
		looks=$((looks + 1))
	done
	echo $looks > /out/looks
}}
put 8 /sys/module/vdisk/parameters/depth
every prepare
every start
mix &
mixing=$!
look &
looking=$!
put 100000 /sys/kernel/vpt/vdisk/record
change=0
while [ $change -lt 1000 ]; do
	put $((1000 + change * 7)) /sys/kernel/vpt/vdisk/scale_milli
	put $((1000000 + change * 10000)) /sys/kernel/vpt/vdisk1/intercept_ns
	put "0:0 {SECTORS}:$((change * 5000))" /sys/kernel/vpt/vdisk1/seek_curve
	[ $((change % 100)) != 0 ] || put 100000 /sys/kernel/vpt/vdisk2/record
	change=$((change + 1))
done
echo $change > /out/changes
wait $mixing $looking
wait_for '[ $(cat $mixed/completed) -gt 0 ]'
every stop
every collect
"""


@once
def changes() -> Result:
    """Boot the VM in which profiles, k and recordings change again and again, on two CPUs."""
    modules = {**CORE, "vdisk": f"size={SIZE} disks=5 queues=2", "cats": "", "clook": ""}
    files = {
        "disks": lines([load._replace(k_milli=1000) for load in CHANGED] + [MIXED]),
        "mix": "".join(f"{name} {value}\n" for name, value in MIX),
    }
    hardware: dict[str, Any] = {"clock": "wall", "cpus": 2, "memory_mib": 1024}
    # A kernel that checks memory accesses takes up to half a second for each change.
    return boot(CHANGES, modules, files=files, timeout_seconds=3600, **hardware)


@group("disks-changes")
@pytest.mark.parametrize("load", [*CHANGED, MIXED], ids=DISKS[:5])
def test_changes_lose_nothing(load: Load) -> None:
    """The disk completed what its processes saw, and the throttle's counters agree."""
    result, disk = changes(), load.disk
    assert text(result, "changes") == "1000"
    log = reads.parse_log(result.out[f"reads-{disk}"], disk)
    stat = [int(word) for word in text(result, f"stat-{disk}").split()]
    assert stat[8] == 0
    assert 0 <= stat[0] + stat[1] + stat[4] + stat[5] - 1 - len(log) <= load.processes
    assert (log["result"] == 4096).all()
    counters = pairs(result.out[f"counters-{disk}"])
    assert counters["requests"] == counters["completed"] > 0
    assert [counters[name] for name in ("failed", "missed", "untracked", "lost")] == [0] * 4


@group("disks-changes")
def test_settings_change_in_any_order() -> None:
    """Each value is accepted at times; a refused value contradicts another file."""
    lines = text(changes(), "mixed").splitlines()
    reasons = Counter(zip(MIX, lines, strict=True))
    print(reasons)
    assert {why for _, why in reasons} == {"ok", "Invalid argument"}
    accepted = {change for change, why in reasons if why == "ok"}
    assert accepted == {(name, value) for name in SETTINGS for value in SETTINGS[name]}
    assert int(text(changes(), "looks")) > 10


# Disks that are removed.

GOING = f"""{LOAD}
every prepare
every start
count() {{
	for counter in completed failed missed; do
		echo "$counter $(cat /sys/kernel/vpt/vdisk3/$counter)"
	done > /out/$1
}}
count before
round=0
while [ $round -lt 20 ]; do
	put vdisk /sys/kernel/vpt/remove
	put vdisk1 /sys/kernel/vpt/remove
	throttle /dev/vdisk1
	throttle /dev/vdisk
	put 3000000 $vpt/intercept_ns
	round=$((round + 1))
done
attempt /dev/vdisk2 /sys/kernel/vpt/add
count after
sleep 0.2
rmmod vpt || fail 'vpt stays'
every stop
insmod /modules/vpt.ko
attempt /dev/vdisk2 /sys/kernel/vpt/add
"""


@once
def going() -> Result:
    """Boot the VM in which two of four disks are removed and added again; then all are removed with
    the module.
    """
    modules = {**CORE, "vdisk": f"size={SIZE} disks=4 queues=2", "cats": "", "clook": ""}
    files = {"disks": lines([load._replace(k_milli=1000) for load in CHANGED])}
    return boot(GOING, modules, files=files, clock="wall", cpus=2, memory_mib=1024)


@group("disks-going")
@pytest.mark.parametrize("load", CHANGED, ids=DISKS[:4])
def test_a_disk_that_goes_leaves_nothing_behind(load: Load) -> None:
    """No process saw an error, each ended, and nothing is in flight."""
    result, disk = going(), load.disk
    log = reads.parse_log(result.out[f"reads-{disk}"], disk)
    stat = [int(word) for word in text(result, f"stat-{disk}").split()]
    assert stat[8] == 0
    assert (log["result"] == 4096).all()
    assert len(log) > 0


@group("disks-going")
def test_the_others_go_on() -> None:
    """A disk can be throttled only once at a time."""
    before, after = pairs(going().out["before"]), pairs(going().out["after"])
    assert after["completed"] > before["completed"]
    assert after["failed"] == after["missed"] == 0
    lines = text(going(), "attempts").splitlines()
    assert lines == ["add=/dev/vdisk2: Device or resource busy", "add=/dev/vdisk2: ok"]
    assert attempts(going())["add=/dev/vdisk2"] == "ok"
