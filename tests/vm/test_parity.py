# SPDX-License-Identifier: MIT
"""A scheduler's file decides alike in the kernel and in a program, and requests take the same time.

Each of our schedulers runs in a VM, where a tape records every call. The calls, repeated here with
the same scheduler, get the same answers, to the byte: which request, why, and when to ask again.
The drive, given the picks in their order, has the service times and hits of the VM's throttle, to
the nanosecond.

There are six loads. mixed: many processes read and write on a disk so small that requests merge,
and the schedulers' times are so short that they expire. surge: SURGE with the defaults. buffered: a
few processes on a drive whose buffer works in time, so that pauses count. positions: the same with
known angles, so that each time counts from the clock's beginning. queued and queued-buffered: the
drive chooses among eight requests, with the papers' cache, or with buffer and angles. There is one
boot for each load; the schedulers run one after another.
"""

import dataclasses

import numpy as np
import polars as pl
import pytest
from guests import (
    CHEETAH,
    MIB,
    OUR_SCHEDULERS,
    assert_clean,
    experiment,
    first_difference,
    group,
    once,
    pairs,
    slow_group,
)
from positioned import positioned

from understudy_devices.ask.experiment import Experiment
from understudy_devices.device import profile
from understudy_devices.device.profile import CommandQueue, DiskProfile
from understudy_devices.measure import records
from understudy_devices.native import descriptions, replay
from understudy_devices.native.arrays import U64
from understudy_devices.native.drive import Drive
from understudy_devices.native.request import READ, WRITE
from understudy_devices.platforms.vm import machine, scenario, shim_tape

SCHEDULERS = descriptions.schedulers()
REQUESTS = {
    "mixed": 600,
    "surge": 1200,
    "buffered": 600,
    "positions": 600,
    "queued": 600,
    "queued-buffered": 600,
}
THAT_MERGE = ("mixed", "surge")
WITH_WRITES = tuple(name for name in REQUESTS if name != "surge")
SLOW = ("surge", "buffered", "positions", "queued")
QUEUE_DEPTH = 8
TAPE_CALLS = 50_000
TAPE_CALLS_OF = {"sptf": 200_000}  # the tape has estimates for all pending requests
TIMES_CUT = 4
SEED = 1

# The steps of guest/measure for one scheduler, repeated for each.
EACH = """
while read -r SCHEDULER TUNABLES; do
	rm -f /tmp/go
	start_workload
	[ -e $vpt ] || put "/dev/$DISK" /sys/kernel/vpt/add
	set_up_throttle
	set_up_queue
	measure
	stop_workload
	collect
	put "$DISK" /sys/kernel/vpt/remove
	cat /sys/module/$SCHEDULER/tape > /tmp/early 2> /dev/null && fail 'the tape was read early'
	put none $queue/scheduler
	cat /sys/module/$SCHEDULER/tape > /out/tape || fail "no tape of $SCHEDULER"
	mkdir /out/$SCHEDULER
	find /out -maxdepth 1 -type f -exec mv {} /out/$SCHEDULER \\;
done < /schedulers
"""


def with_everything(disk: DiskProfile) -> DiskProfile:
    """Turn on every rule that a profile's buffer can have."""
    assert disk.buffer
    rules = {
        "bus_watermark_percent": 60,
        "after_hit": "return",
        "segment_keeps": "ahead",
        "read_reach_sectors": 100,
        "write_back": 4,
        "write_back_idle_ms": 2.0,
    }
    return disk.model_copy(update={"buffer": disk.buffer.model_copy(update=rules)})


def with_queue(disk: DiskProfile) -> DiskProfile:
    """Add a command queue deeper than the load uses, with an age limit that takes effect."""
    return disk.model_copy(update={"queue": CommandQueue(depth=32, age_limit_ms=60.0)})


def load(name: str) -> Experiment:
    """Return the experiment of a load."""
    if name.startswith("queued"):
        buffered = with_everything(positioned(profile.load("atlas-10k")))
        return experiment(
            disk=with_queue(buffered if name == "queued-buffered" else CHEETAH),
            requests=REQUESTS[name],
            processes=20,
            writes_percent=30,
            virtual_bytes=64 * MIB,
            queue_depth=QUEUE_DEPTH,
        )
    if name == "mixed":
        return experiment(
            requests=REQUESTS[name], processes=24, writes_percent=30, virtual_bytes=4 * MIB
        )
    if name in ("buffered", "positions"):
        disk = profile.load("atlas-10k")
        return experiment(
            disk=with_everything(positioned(disk) if name == "positions" else disk),
            requests=REQUESTS[name],
            processes=4,
            writes_percent=30,
            virtual_bytes=64 * MIB,
        )
    return experiment(
        workload="surge-direct", requests=REQUESTS[name], processes=40, virtual_bytes=256 * MIB
    )


def settings(name: str) -> str:
    """Return a text with each scheduler and its tunables, one a line."""
    lines = []
    for scheduler in OUR_SCHEDULERS:
        times = [t for t in SCHEDULERS[scheduler].tunables if t.name.endswith("_ns")]
        cut = [f"{t.name}={max(t.min, t.initial // TIMES_CUT)}" for t in times]
        lines.append(" ".join([scheduler, *(cut if name == "mixed" else [])]))
    return "\n".join(lines) + "\n"


@once
def all_schedulers(name: str) -> machine.Result:
    """Run all schedulers in a single VM."""
    vm_load = load(name)
    vm = scenario.describe(vm_load, lambda phase, fraction: None)
    functions, begins, _ = vm.scenario.partition("\n$TASK\n")
    assert begins
    parameters = f"queue_depth={vm_load.device.at_once} tape_calls="
    modules = {
        **vm.modules,
        **{one: f"{parameters}{TAPE_CALLS_OF.get(one, TAPE_CALLS)}" for one in OUR_SCHEDULERS},
    }
    vm = dataclasses.replace(
        vm,
        scenario=functions + "\n" + EACH,
        modules=modules,
        files={**vm.files, "schedulers": settings(name)},
    )
    result = machine.run(vm)
    assert result.exit_code == 0, result.console
    assert_clean(result.out)
    return result


on_each = pytest.mark.parametrize(
    ("name", "scheduler"),
    [
        pytest.param(name, scheduler, marks=marks(f"parity-{name}"))
        for name in REQUESTS
        for marks in [slow_group if name in SLOW else group]
        for scheduler in OUR_SCHEDULERS
    ],
)


def recording(name: str, scheduler: str) -> shim_tape.Recording:
    """Return the tape of a scheduler."""
    tape = shim_tape.parse(all_schedulers(name).out[f"{scheduler}/tape"])
    assert tape.scheduler == scheduler
    return tape


def picked(recording: shim_tape.Recording) -> replay.Tape:
    """Return the dispatched requests, in order."""
    calls = recording.calls
    chosen: replay.Tape = calls[(calls["kind"] == replay.NEXT) & (calls["id"] > 0)]
    return chosen


@on_each
def test_same_answers(name: str, scheduler: str) -> None:
    """Picks, reasons, times to ask again and the scheduler's final counters are the same."""
    kernel = recording(name, scheduler)
    fields = pairs(all_schedulers(name).out[f"{scheduler}/scheduler_fields"])
    program, counters = replay.play(
        scheduler,
        kernel.calls,
        tunables={t.name: fields[t.name] for t in SCHEDULERS[scheduler].tunables},
        capacity_sectors=kernel.capacity_sectors,
        max_requests=kernel.max_requests,
        depth=kernel.depth,
    )
    assert first_difference(kernel.calls, program) is None
    assert counters == {counter: fields[counter] for counter in counters}


@on_each
def test_the_tape_has_it_all(name: str, scheduler: str) -> None:
    """Each request is dispatched and completed; the tape has merges, reads and writes."""
    calls = recording(name, scheduler).calls
    count = np.bincount(calls["kind"], minlength=4)
    picks = picked(recording(name, scheduler))
    assert len(picks) == count[replay.COMPLETED] == count[replay.ADD] - count[replay.REMOVE]
    assert len(picks) > REQUESTS[name] / 2
    assert count[replay.REMOVE] > 0 or name not in THAT_MERGE
    assert (calls["kind"] == replay.POSITIONING).any() == (scheduler == "sptf")
    assert set(picks["op"]) == ({READ, WRITE} if name in WITH_WRITES else {READ})
    added = calls[calls["kind"] == replay.ADD]
    first = added[np.unique(added["id"], return_index=True)[1]]
    assert (first["now_ns"] == first["arrival_ns"]).all(), "the clock was read twice"


def up_to_the_first_unrecorded(rows: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the rows up to the first request without a record, and their requests."""
    requests = rows.unique("request_id").sort("request_id")
    gaps = np.flatnonzero(requests["request_id"].to_numpy() != np.arange(1, len(requests) + 1))
    known = requests.head(int(gaps[0]) if len(gaps) else len(requests))
    return rows.filter(pl.col("request_id") <= len(known)), known


def served(name: str, drive: Drive, picks: replay.Tape, known: pl.DataFrame) -> tuple[U64, ...]:
    """Return due time, service time and hit of each request, as the core's drive computes them.

    The drive gets the requests one by one after the same pauses, or chooses among them.
    """
    what = (picks["op"], picks["sector"], picks["sectors"])
    dispatch_ns = known["dispatch_ns"].to_numpy().astype(np.uint64)
    if load(name).device.at_once > 1:
        start_ns, service_ns, hit = drive.serve_queued(*what, dispatch_ns)
        return start_ns + service_ns, service_ns, hit.astype(np.uint64)
    due_before = known["due_ns"].shift(1, fill_value=0).to_numpy().astype(np.uint64)
    start_ns = np.maximum(dispatch_ns, due_before)
    service_ns, hit = drive.serve(*what, start_ns - due_before)
    return start_ns + service_ns, service_ns, hit.astype(np.uint64)


@on_each
def test_same_service_times(name: str, scheduler: str) -> None:
    """The n-th pick after the throttle's reset is the n-th request of its records."""
    kernel = recording(name, scheduler)
    data = all_schedulers(name).out[f"{scheduler}/records"]
    rows = records.from_bytes(data, 0, expected=REQUESTS[name])
    records.check(rows)
    picks = picked(kernel)
    rows, known = up_to_the_first_unrecorded(rows)
    assert len(known) > REQUESTS[name] / 3
    picks = picks[picks["now_ns"] >= rows["arrival_ns"].min()][: len(known)]
    drive = Drive(load(name).device.timing(kernel.capacity_sectors), SEED)
    due_ns, service_ns, hit = served(name, drive, picks, known)

    # The drive may serve later, unknown requests before some of the known ones.
    rows = rows.filter(pl.col("due_ns") <= known["dispatch_ns"].max())
    assert len(rows) > REQUESTS[name] / 3
    of_row = rows["request_id"].to_numpy() - 1
    assert rows["due_ns"].to_list() == due_ns[of_row].tolist()
    pick = picks[of_row]
    assert rows["model_service_ns"].to_list() == service_ns[of_row].tolist()
    assert rows["hit"].to_list() == hit[of_row].tolist()
    assert rows["op"].to_physical().to_list() == pick["op"].tolist()
    assert rows["reason"].to_physical().to_list() == pick["reason"].tolist()
    start = rows["sector"].to_numpy()
    end = start + rows["sectors"].to_numpy()
    assert (start >= pick["sector"]).all()
    assert (end <= pick["sector"] + pick["sectors"]).all()
    # The throttle records the pick after the shim's, and before the shim is asked again.
    asked_again = np.append(picks["now_ns"][1:], np.iinfo(np.int64).max)
    pick_ns = rows["pick_ns"].to_numpy()
    assert (pick["now_ns"] <= pick_ns).all()
    assert (pick_ns < asked_again[of_row]).all()
