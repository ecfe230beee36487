# SPDX-License-Identifier: MIT
"""Disks that do not answer, and bad sectors, under load: each process sees only its own errors, the
counters agree, and the throttle keeps time.

Time-outs: a SCSI disk is silent until the kernel's error handler aborts, resets or gives up. Bad
sectors: readers and a writer access them on our disk and on a SCSI disk, while other processes read
elsewhere.
"""

import errno
from typing import NamedTuple

import polars as pl
import pytest
from guests import GIB, boot, group, once, pairs, text

from understudy_devices.measure import records
from understudy_devices.platforms.vm.machine import Result

CORE = {"iprobe": "", "vpt": "", "sd_mod": ""}
ESCAPED = ("missed", "untracked", "lost")
ACCOUNT = """
account() { # NAME
	for counter in requests completed failed held late missed untracked lost; do
		echo "$counter $(cat $vpt/$counter)"
	done > /out/counters-$1
	cat $vpt/records > /out/records-$1
}
"""

# Time-outs, in wall time.

READERS = 4
SERVICE_NS = 1_000_000_000
SILENT = f"""{ACCOUNT}
wait_for '[ -b /dev/sda ]'
sda=/sys/block/sda/device
driver=/sys/bus/pseudo/drivers/scsi_debug
max_retries=$(echo /sys/class/scsi_disk/*/max_retries)
put 1 $sda/timeout
put 1 $sda/eh_timeout
answering() {{ # OPTS EVERY_NTH
	put $2 $driver/every_nth
	put $1 $driver/opts
}}
timed_out() {{
	echo $(($(cat $sda/iotmo_cnt)))
}}
read_page() {{ # NAME PAGE
	dd if=/dev/sda of=/dev/null bs=4k skip=$2 count=1 iflag=direct 2> /tmp/why-$2
	code=$?
	echo "$code $(grep -v records /tmp/why-$2)" >> /out/ended-$1
}}
# No command is answered until TIME_OUTS commands have timed out.
silence() {{ # NAME TIME_OUTS
	put 100 $vpt/record
	enough=$(($(timed_out) + $2))
	answering 4 -1
	for reader in {" ".join(map(str, range(1, READERS + 1)))}; do
		read_page $1 $((1000 * reader)) &
	done
	wait_for '[ $(timed_out) -ge $enough ]'
	answering 0 0
	wait
	account $1
	dmesg | grep -c 'device reset occurred' > /out/resets-$1
}}
throttle /dev/sda
put {SERVICE_NS} $vpt/intercept_ns
silence abort {READERS}
silence reset {2 * READERS}
put 0 $max_retries
silence given-up {READERS}
put 1 $vpt/record
read_page after 7
account after
"""


@once
def silent() -> Result:
    """Boot the VM with a disk that sometimes does not answer."""
    modules = {**CORE, "scsi_debug": "dev_size_mb=64 ndelay=100000 max_queue=16"}
    return boot(SILENT, modules, clock="wall", cpus=2)


@group("errors-silent")
@pytest.mark.parametrize("name", ["abort", "reset"])
def test_a_time_out_that_is_recovered_from_is_late(name: str) -> None:
    """Each read succeeds, none before it is due, whatever the error handler did."""
    result = silent()
    assert text(result, f"ended-{name}").split() == ["0"] * READERS
    rows = records.from_bytes(result.out[f"records-{name}"])
    assert rows["error"].to_list() == [0] * READERS
    assert (rows["completion_ns"] >= rows["due_ns"]).all()
    counters = pairs(result.out[f"counters-{name}"])
    assert counters["requests"] == counters["completed"] == READERS
    assert counters["held"] + counters["late"] == READERS
    assert counters["late"] > 0
    assert [counters[name] for name in ESCAPED] == [0] * 3


@group("errors-silent")
def test_the_error_handler_ran() -> None:
    """The error handler aborts first. If a request times out again, the handler resets the device,
    and the log says so.
    """
    aborted, reset = (int(text(silent(), f"resets-{name}")) for name in ("abort", "reset"))
    assert aborted < reset


@group("errors-silent")
def test_what_the_error_handler_gives_up_is_missed() -> None:
    """The error handler ends the requests itself: they fail, and bypass the throttle."""
    result = silent()
    ended = text(result, "ended-given-up").splitlines()
    assert len(ended) == READERS
    assert all(line.startswith("1 ") and line.endswith("Input/output error") for line in ended)
    rows = records.from_bytes(result.out["records-given-up"])
    assert rows["error"].to_list() == [-errno.EIO] * READERS
    counters = pairs(result.out["counters-given-up"])
    assert counters["requests"] == counters["failed"] == counters["missed"] == READERS
    assert counters["completed"] == counters["untracked"] == counters["lost"] == 0


@group("errors-silent")
def test_the_disk_goes_on_after_time_outs() -> None:
    """The throttle holds a read for its service time as before."""
    assert text(silent(), "ended-after") == "0"
    (row,) = records.from_bytes(silent().out["records-after"]).to_dicts()
    assert row["due_ns"] - row["dispatch_ns"] == SERVICE_NS
    assert 0 <= row["completion_ns"] - row["due_ns"] < SERVICE_NS


# Bad sectors, in virtual time.


class Bad(NamedTuple):
    """The bad pages of a disk; a process that reads them sees one error for each."""

    first: int
    pages: int


BAD = {"vdisk": Bad(125, 1), "sda": Bad(582, 2)}
"""The bad sectors are vdisk's 1003, and ten of scsi_debug from 0x1234 on."""
SCHEDULERS = ("none", "mq-deadline", "bfq", "cats")
EACH = 3
PAGES = 30
INTERCEPT_NS = 1_000_000
# No requests are merged here, since a merged request fails as a whole, neighbours included.
SECTORS = f"""{ACCOUNT}
wait_for '[ -b /dev/sda ]'
go_over() {{ # DISK FIRST NAME
	dd if=/dev/$1 of=/dev/null bs=4k skip=$2 count={PAGES} iflag=direct conv=noerror \\
		2> /tmp/why-$1-$3
	echo "$3 $? $(grep -c 'No data available' /tmp/why-$1-$3)" >> /out/ended-$1-$scheduler
}}
write_over() {{ # DISK FIRST NAME
	dd if=/dev/zero of=/dev/$1 bs=4k seek=$2 count={PAGES} oflag=direct 2> /tmp/why-$1-$3
	echo "$3 $? $(grep -c 'No data available' /tmp/why-$1-$3)" >> /out/ended-$1-$scheduler
}}
load() {{ # DISK BAD_PAGE
	for process in {" ".join(map(str, range(EACH)))}; do
		go_over $1 $(($2 - 5 - process)) bad-$process &
		go_over $1 $((5000 + 1000 * process)) good-$process &
	done
	[ $1 != vdisk ] || write_over vdisk $(($2 - 10)) writer &
}}
for disk in vdisk sda; do
	put 2 /sys/block/$disk/queue/nomerges
	throttle /dev/$disk
	put {INTERCEPT_NS} $vpt/intercept_ns
done
for scheduler in {" ".join(SCHEDULERS)}; do
	for disk in vdisk sda; do
		put $scheduler /sys/block/$disk/queue/scheduler
		put 1000 /sys/kernel/vpt/$disk/record
	done
	load vdisk {BAD["vdisk"].first}
	load sda {BAD["sda"].first}
	wait
	for disk in vdisk sda; do
		vpt=/sys/kernel/vpt/$disk
		account $disk-$scheduler
	done
done
"""


@once
def bad_sectors() -> Result:
    """Boot the VM with two disks that have bad sectors."""
    modules = {
        **CORE,
        "vdisk": f"size={GIB} bad_sector=1003",
        "scsi_debug": "dev_size_mb=64 ndelay=100000 max_queue=16 opts=2",
        "bfq": "",
        "cats": "",
    }
    return boot(SECTORS, modules)


on_each_disk = pytest.mark.parametrize("disk", BAD)
on_each_scheduler = pytest.mark.parametrize("scheduler", SCHEDULERS)


@group("errors-sectors")
@on_each_disk
@on_each_scheduler
def test_each_sees_its_own_errors(disk: str, scheduler: str) -> None:
    """A reader of bad pages sees one error for each, their writer one, and no other process any."""
    result = bad_sectors()
    bad = {f"bad-{process}": f"0 {BAD[disk].pages}" for process in range(EACH)}
    good = {f"good-{process}": "0 0" for process in range(EACH)}
    writer = {"writer": "1 1"} if disk == "vdisk" else {}
    ended = text(result, f"ended-{disk}-{scheduler}").splitlines()
    assert dict(line.split(" ", 1) for line in ended) == bad | good | writer
    counters = pairs(result.out[f"counters-{disk}-{scheduler}"])
    assert counters["failed"] == EACH * BAD[disk].pages + len(writer)
    assert counters["requests"] == counters["completed"] + counters["failed"]
    assert [counters[name] for name in ESCAPED] == [0] * 3


@group("errors-sectors")
@on_each_disk
@on_each_scheduler
def test_errors_take_their_time(disk: str, scheduler: str) -> None:
    """Every request completes when it is due, one after another, with errors among them."""
    rows = records.from_bytes(bad_sectors().out[f"records-{disk}-{scheduler}"])
    assert rows["error"].value_counts().height == 2
    rows = rows.sort("due_ns")
    assert (rows["completion_ns"] >= rows["due_ns"]).all()
    free_ns = pl.col("due_ns").shift(1, fill_value=0)
    took_ns = rows.select(pl.col("due_ns") - pl.max_horizontal("dispatch_ns", free_ns))
    assert took_ns["due_ns"].unique().to_list() == [INTERCEPT_NS]


@group("errors-sectors")
@pytest.mark.exact
@on_each_disk
@on_each_scheduler
def test_errors_are_not_late(disk: str, scheduler: str) -> None:
    """Neither errors nor other requests are late."""
    rows = records.from_bytes(bad_sectors().out[f"records-{disk}-{scheduler}"])
    assert (rows["completion_ns"] - rows["due_ns"]).max() < 100_000  # type: ignore[operator]
