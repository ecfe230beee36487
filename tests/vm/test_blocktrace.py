# SPDX-License-Identifier: MIT
"""The kernel's own block trace of a measurement, read like any trace.

On an array that serves many requests at once, the trace has the same requests and times as the
throttle's records. The two share no code: the kernel's blktrace writes the trace's times and
sectors.
"""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from guests import MIB, boot, group, once, text

from understudy_devices.base.programs import compiled
from understudy_devices.measure import records
from understudy_devices.platforms import guest_programs
from understudy_devices.platforms.vm.machine import Result
from understudy_devices.traces import read
from understudy_devices.traces.trace import Trace

REQUESTS = 2000
SERVERS = 8
MEAN_NS = 1_000  # between two readings of the clock in one event's hooks
MOST_NS = 50_000  # if an interrupt comes between the readings
MODULES = {
    "iprobe": "",
    "vpt": "",
    "vdisk": f"size={1024 * MIB} depth={SERVERS}",
    "sfq": f"queue_depth={SERVERS}",
}

TRACED = f"""
wait_for '[ -b /dev/vdisk ]'
mount -t debugfs debugfs /sys/kernel/debug
throttle /dev/vdisk
put {SERVERS} $vpt/array_servers
put 3000000 $vpt/array_service_ns
put 1 $vpt/array_exponential
put sfq /sys/block/vdisk/queue/scheduler
put {REQUESTS} $vpt/record
blocktrace start /dev/vdisk KIB || fail "no block trace"
blocktrace start /dev/vdisk 64 2> /out/twice && fail "two block traces of a disk"
random --device /dev/vdisk --processes 20 --writes 30 --seed 2 < /dev/null > /tmp/said 2>&1 &
workload=$!
port follow $vpt/record || fail "too slow"
kill -TERM $workload
wait $workload || fail "$(cat /tmp/said)"
blocktrace stop /dev/vdisk || fail "it goes on"
cat $vpt/records > /out/records
cat /sys/kernel/debug/block/vdisk/dropped > /out/dropped
for file in /sys/kernel/debug/block/vdisk/trace[0-9]*; do
	cat $file > /out/vdisk.blktrace.${{file##*trace}} || fail "$file can't be read"
done
blocktrace end /dev/vdisk || fail "it stays"
blocktrace stop /dev/vdisk 2> /out/ended && fail "what is over was stopped"
release
"""


@once
def traced(kib: int) -> Result:
    """Boot the VM, with `kib` KiB for the trace."""
    program = compiled(guest_programs.program("blocktrace"))
    return boot(TRACED.replace("KIB", str(kib)), MODULES, files={"bin/blocktrace": program})


def kernels(folder: Path) -> Trace:
    """Return the kernel's trace."""
    for name, content in traced(16 * 1024).out.items():
        if name.startswith("vdisk.blktrace."):
            (folder / name).write_bytes(content)
    return read.load(str(folder / "vdisk"))


def is_once(places: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Return for each place whether it occurs only once."""
    _, which, counts = np.unique(places, return_inverse=True, return_counts=True)
    return np.asarray(counts[which] == 1)


@group("blocktrace")
def test_both_saw_the_same(tmp_path: Path) -> None:
    """Compare place, length and three times of each request, in order of arrival.

    Places that occur twice are left out, since the trace can't distinguish two waiting requests for
    one place.
    """
    trace = kernels(tmp_path)
    ours = records.from_bytes(traced(16 * 1024).out["records"])
    records.check(ours)
    assert ours["request_id"].is_unique().all()  # no merges, which the trace would count once
    order = np.flatnonzero(is_once(trace.sector[:REQUESTS]))
    ours = ours.filter(is_once(ours["sector"].to_numpy()))
    assert len(order) > 0.98 * REQUESTS
    for column in ("sector", "sectors"):
        assert getattr(trace, column)[order].tolist() == ours[column].to_list()
    writes = ours["op"] == "write"
    assert trace.op[order].tolist() == writes.cast(int).to_list()
    for column in ("arrival_ns", "dispatch_ns", "completion_ns"):
        apart = getattr(trace, column)[order] - ours[column].to_numpy()
        assert np.abs(apart).mean() < MEAN_NS, column
        assert np.abs(apart).max() < MOST_NS, column


@group("blocktrace")
def test_nothing_was_lost(tmp_path: Path) -> None:
    trace = kernels(tmp_path)
    assert text(traced(16 * 1024), "dropped") == "0"
    assert not trace.broken
    assert sum(trace.left_out.values()) == 0


@group("blocktrace")
def test_one_disk_has_one_trace() -> None:
    """A second setup and a second stop are refused in one line."""
    assert text(traced(16 * 1024), "twice") == "BLKTRACESETUP: Device or resource busy (errno 16)"
    assert text(traced(16 * 1024), "ended") == "BLKTRACESTOP: Invalid argument (errno 22)"


@group("blocktrace-small")
def test_what_does_not_fit_is_counted() -> None:
    assert int(text(traced(64), "dropped")) > REQUESTS
