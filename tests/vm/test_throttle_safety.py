# SPDX-License-Identifier: MIT
"""What the throttle must never do to a machine, whichever driver the disk has.

Held requests: the driver may reset its controller, be unbound, or look for timed-out requests; held
requests are complete for it, and each ends once. Attaching: it takes as long as the disk's own
answer, whatever the profile before, and can be killed. Limits: no request is held for longer than
allowed, even if the profile changes. Records: only root can read them, too large a number is
refused, and they show when a write was durable.
"""

import re

import pytest
from guests import GIB, MIB, attempts, boot, group, once, text

from understudy_devices.base import programs
from understudy_devices.base.errors import RunFailed
from understudy_devices.measure import records
from understudy_devices.platforms.vm import packages
from understudy_devices.platforms.vm.controllers import CONTROLLERS
from understudy_devices.platforms.vm.machine import Result

CORE = {"iprobe": "", "vpt": ""}
ERANGE = "Numerical result out of range"
NULL = ("-blockdev", f"driver=null-co,node-name=target,size={GIB},read-zeroes=on")

# Held requests, and a driver that gives up on them.

READERS = 4
NVME = f"""
wait_for '[ -b /dev/nvme0n1 ]'
read_one() {{ # NAME PLACE
	dd if=/dev/nvme0n1 of=/dev/null bs=4k skip=$2 count=1 iflag=direct 2> /tmp/why-$2
	echo "$2 $?" >> /out/ended-$1
}}
readers() {{ # NAME
	for place in {" ".join(str(1000 * reader) for reader in range(READERS))}; do
		read_one $1 $place &
	done
}}
throttle /dev/nvme0n1
put 1000000000 $vpt/intercept_ns
put 1 $vpt/reset
readers held
wait_for '[ $(cat $vpt/held) = {READERS} ]'
TROUBLE
wait
for counter in requests completed failed missed; do
	echo "$counter $(cat $vpt/$counter)" >> /out/counters
done
release
AFTER
read_one after 7
"""
TROUBLES = {
    "reset": ("echo 1 > /sys/class/nvme/nvme0/reset_controller || fail reset", ""),
    "time-out": ("sleep 3", ""),
    "remove": (
        "device=$(basename $(readlink /sys/class/nvme/nvme0/device))\n"
        "echo $device > /sys/bus/pci/drivers/nvme/unbind || fail unbind",
        "echo $device > /sys/bus/pci/drivers/nvme/bind || fail bind\n"
        "wait_for '[ -b /dev/nvme0n1 ]'",
    ),
}


@once
def nvme(trouble: str) -> Result:
    """Boot the VM in which a driver gets into trouble while four reads are held, for up to 4 s."""
    return troubled(*TROUBLES[trouble])


def troubled(during: str, after: str) -> Result:
    """Boot the VM that runs `during` while reads are held, and `after` when they have ended."""
    modules = {**CORE, "nvme-core": "io_timeout=1", "nvme": ""}
    devices = (*NULL, "-device", "nvme,serial=1,drive=target")
    scenario = NVME.replace("TROUBLE", during).replace("AFTER", after)
    return boot(scenario, modules, devices=devices)


@pytest.mark.parametrize(
    "trouble", [pytest.param(name, marks=group(f"safety-nvme-{name}")) for name in TROUBLES]
)
def test_a_held_request_ends_once(trouble: str) -> None:
    """Each read succeeds, and the disk works afterwards."""
    result = nvme(trouble)
    ended = sorted(text(result, "ended-held").splitlines())
    assert ended == sorted(f"{1000 * reader} 0" for reader in range(READERS))
    assert text(result, "ended-after") == "7 0"
    counters = dict(line.split() for line in text(result, "counters").splitlines())
    assert (counters["failed"], counters["missed"]) == ("0", "0")
    assert counters["requests"] == counters["completed"]


@group("safety-nvme-shutdown")
def test_a_machine_restarts_with_reads_held() -> None:
    """The driver shuts its device down and regards open requests as complete."""
    with pytest.raises(RunFailed, match="reboot: Restarting system") as died:
        troubled("busybox reboot -f", "")
    assert not re.search("BUG|WARNING|Oops|Call Trace", str(died.value))


@group("safety-nvme-time-out")
def test_no_time_out_for_what_is_held() -> None:
    """For the driver, held requests are complete, so it does not reset its device."""
    assert "timeout" not in text(nvme("time-out"), "dmesg")


# Attaching.

ATTACHING = """
clock() {
	read -r now rest < /proc/uptime
	echo "$1 $now" >> /out/clock
}
delay() { # SECONDS
	put $(($1 * HZ)) /sys/bus/pseudo/drivers/scsi_debug/delay
}
read_sda() {
	dd if=/dev/sda of=/dev/null bs=4k count=1 iflag=direct 2> /dev/null || fail "read"
}

# In this profile a hit takes 15 s, and the cache holds the disk's first page.
throttle /dev/vdisk
put 1 $vpt/cache_segments
put 64 $vpt/cache_segment_sectors
put 15000000000 $vpt/hit_ns
dd if=/dev/vdisk of=/dev/null bs=4k count=1 iflag=direct 2> /dev/null
release
clock begin
throttle /dev/vdisk
clock attached
dd if=/dev/vdisk of=/dev/null bs=4k count=1 iflag=direct 2> /dev/null
clock read
release

# The disk answers after a second; sysfs is listed meanwhile.
wait_for '[ -b /dev/sda ]'
throttle /dev/sda
put 1 $vpt/reset
read_sda
release
delay 1
attempt /dev/sda /sys/kernel/vpt/add &
sleep 0.5
ls /sys/kernel/vpt > /out/meanwhile
wait
release

# The disk answers after 20 s; the attaching process is killed before that.
delay 20
echo /dev/sda > /sys/kernel/vpt/add &
waiting=$!
sleep 1
clock killing
kill -KILL $waiting
wait $waiting
ls /sys/kernel/vpt > /out/attached
clock looked
attempt /dev/vdisk /sys/kernel/vpt/add
clock other
sleep 25
delay 20
echo /dev/sda > /sys/kernel/vpt/add &
waiting=$!
sleep 1
kill -KILL $waiting
wait $waiting
rmmod vpt || fail "vpt stays"
clock gone
delay 0
read_sda
"""


@once
def attaching() -> Result:
    """Boot the VM with a slow disk, and with a disk whose profile was slow."""
    modules = {**CORE, "vdisk": f"size={64 * MIB}", "scsi_debug": "delay=0", "sd_mod": ""}
    config = (packages.fetch_kernel().headers / ".config").read_text()
    (hz,) = re.findall(r"^CONFIG_HZ=(\d+)$", config, re.MULTILINE)
    return boot(f"HZ={hz}\n{ATTACHING}", modules)


def instants() -> dict[str, float]:
    words = (line.split() for line in text(attaching(), "clock").splitlines())
    return {name: float(seconds) for name, seconds in words}


@group("safety-attaching")
def test_an_old_profile_does_not_slow_the_next_attach() -> None:
    """The first read is fast, too, since a disk begins without a profile."""
    clock = instants()
    assert clock["attached"] - clock["begin"] < 1
    assert clock["read"] - clock["attached"] < 1


@group("safety-attaching")
def test_a_disk_has_its_files_once_it_is_accepted() -> None:
    """While the throttle attaches, no file of the disk can be written."""
    assert text(attaching(), "meanwhile").split() == ["add", "remove"]
    assert attempts(attaching())["add=/dev/sda"] == "ok"


@group("safety-attaching")
def test_who_attaches_can_be_killed() -> None:
    """The process ends at once, whatever the disk does; a later answer has no effect."""
    clock = instants()
    assert clock["looked"] - clock["killing"] < 10  # the disk answers after 19 s
    assert text(attaching(), "attached").split() == ["add", "remove"]
    assert attempts(attaching())["add=/dev/vdisk"] == "ok"  # other disks are not affected
    assert clock["other"] - clock["looked"] < 10
    assert clock["gone"] - clock["looked"] > 40  # the module waited for the disk's second answer


# Limits.

LIMITS = """
settings() {
	for file in intercept_ns hit_ns rotation_ns seek_curve transfer_curve scale_milli; do
		echo "$file $(cat $vpt/$file)"
	done
}
disk=/dev/nullb0
size=$(cat /sys/block/nullb0/size)
throttle $disk
put 4000000000 $vpt/intercept_ns
put 3000 $vpt/scale_milli
put 100 $vpt/record
settings > /out/before
echo limits > /dev/kmsg
attempt 3751 $vpt/scale_milli
attempt 5000000001 $vpt/intercept_ns
attempt 5000000001 $vpt/hit_ns
attempt 1000000001 $vpt/rotation_ns
attempt "0:0 $size:1000000001" $vpt/seek_curve
attempt "0:0 $size:100000000000" $vpt/transfer_curve
settings > /out/after
attempt 3750 $vpt/scale_milli
put 3000 $vpt/scale_milli
attempt 5000000000 $vpt/intercept_ns

# A read is due in ten seconds; after a reset, another read is due at once.
put 1000 $vpt/scale_milli
put 10000000000 $vpt/intercept_ns
dd if=$disk of=/dev/null bs=4k count=1 iflag=direct 2> /dev/null &
wait_for '[ $(cat $vpt/held) = 1 ]'
put 1 $vpt/reset
put 0 $vpt/intercept_ns
read -r before rest < /proc/uptime
dd if=$disk of=/dev/null bs=4k count=1 iflag=direct 2> /dev/null
read -r after rest < /proc/uptime
echo "$before $after" > /out/second_read
wait
stat -c %a $vpt/records > /out/mode

# Twenty writes are cached when the limit is reduced to one.
echo limits > /dev/kmsg
put 1 $vpt/buffered
put 100000 $vpt/write_back_sectors
put 5000000000 $vpt/write_back_idle_ns
put 20 $vpt/write_back_spans
for place in $(seq 20); do
	dd if=/dev/zero of=$disk bs=4k seek=$((place * 1000)) count=1 oflag=direct 2> /dev/null
done
put 1 $vpt/write_back_spans
attempt 1000000000 $vpt/intercept_ns
put 1 $vpt/reset
attempt 1000000001 $vpt/intercept_ns
"""


@once
def limits() -> Result:
    """Boot the VM in which a running profile is made slower and slower."""
    null_blk = "irqmode=1 queue_mode=2 hw_queue_depth=64 bs=512 gb=1 memory_backed=1"
    return boot(LIMITS, {**CORE, "null_blk": null_blk})


@group("safety-limits")
def test_no_change_passes_the_limit() -> None:
    """k, figures and curves are limited, also while recording. Refused values change nothing."""
    reasons = attempts(limits())
    refused = [name for name, why in reasons.items() if why == ERANGE]
    assert refused.pop() == "intercept_ns=1000000000"  # because of cached writes
    assert [name.split("=")[0] for name in refused] == [
        *("scale_milli", "intercept_ns", "hit_ns", "rotation_ns", "seek_curve", "transfer_curve")
    ]
    assert reasons["scale_milli=3750"] == reasons["intercept_ns=5000000000"] == "ok"
    assert text(limits(), "before") == text(limits(), "after")
    output = text(limits(), "dmesg").split("limits\n")[1]
    assert output.count("the slowest request would take") == len(refused)
    assert "nullb0: with scale_milli 3751 the slowest request would take 15004 ms" in output


@group("safety-limits")
def test_writes_that_wait_count_to_the_limit() -> None:
    """A slower disk might have to destage all cached writes before the next request."""
    reasons = attempts(limits())
    assert reasons["intercept_ns=1000000000"] == ERANGE
    assert reasons["intercept_ns=1000000001"] == "ok"


@group("safety-limits")
def test_a_reset_forgets_what_was_due() -> None:
    """The next request does not wait for earlier ones."""
    before, after = map(float, text(limits(), "second_read").split())
    assert after - before < 1


@group("safety-limits")
def test_records_are_for_root() -> None:
    """Records show what every process reads."""
    assert text(limits(), "mode") == "400"


# Memory.

MEMORY = """
throttle /dev/vdisk
attempt 10000000 $vpt/record
attempt 1000000 $vpt/record
attempt 1000 $vpt/record
cat $vpt/record > /out/progress
"""


@group("safety-memory")
def test_records_that_do_not_fit_are_refused() -> None:
    """Too much memory is refused, and no process is killed for it (a kill is a panic in init)."""
    result = boot(MEMORY, {**CORE, "vdisk": f"size={64 * MIB}"}, memory_mib=512)
    reasons = attempts(result)
    assert reasons["record=10000000"] == "Cannot allocate memory"
    assert reasons["record=1000000"] == reasons["record=1000"] == "ok"
    assert text(result, "progress") == "1000 0 0"
    assert re.search(
        r"recording takes 991 MiB of memory, and \d+ MiB are available", text(result, "dmesg")
    )


# Durable writes.

WRITES = 5
DURABLE = f"""
tracing=/sys/kernel/tracing
wait_for '[ -b /dev/vda ]'
put mono $tracing/trace_clock
put 1 $tracing/events/block/block_rq_complete/enable
throttle /dev/vda
put 1000000 $vpt/intercept_ns
put {WRITES} $vpt/record
for place in {" ".join(str(place) for place in range(WRITES))}; do
	durable /dev/vda $((place * 1048576)) || fail "durable"
done
put 0 $tracing/tracing_on
cat /sys/block/vda/queue/fua > /out/fua
grep block_rq_complete: $tracing/trace > /out/trace
cat $vpt/record > /out/progress
cat $vpt/records > /out/records
"""


@once
def durable() -> Result:
    """Boot the VM with a disk that has a write cache and no FUA."""
    virtio_blk = CONTROLLERS["virtio-blk"]
    program = programs.Program("durable", ("tests/vm/durable.c",))
    return boot(
        DURABLE,
        CORE | virtio_blk.module_parameters(GIB),
        files={"bin/durable": programs.compiled(program)},
        devices=virtio_blk.device_arguments(GIB),
    )


@group("safety-durable")
def test_a_durable_write_ends_after_its_flush() -> None:
    """The record ends after the flush, although its service time is the write's."""
    result = durable()
    assert text(result, "fua") == "0"
    assert text(result, "progress") == f"{WRITES} {WRITES} {WRITES}"
    rows = records.from_bytes(result.out["records"], origin_ns=0)
    records.check(rows)
    assert rows["model_service_ns"].to_list() == [1_000_000] * WRITES
    line = re.compile(r" (\d+)\.(\d{6}): block_rq_complete: \S+ (\S+) ")
    flushed_us = [
        int(seconds) * 10**6 + int(us)
        for seconds, us, kind in line.findall(text(result, "trace"))
        if kind.startswith("FF")
    ]
    for row in rows.iter_rows(named=True):
        between = [at for at in flushed_us if row["due_ns"] <= 1000 * at <= row["completion_ns"]]
        assert between, (row, flushed_us)
