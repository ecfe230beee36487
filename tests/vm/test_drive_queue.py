# SPDX-License-Identifier: MIT
"""The drive's queue in a kernel, when something happens to it while it is full; and sptf, whose
model may be missing.

Eight reads are on a disk that needs a second for each: one is in service and seven wait in the
drive. The virtual disk has completed all of them, and the throttle holds them.
"""

import full_disk
from guests import MIB, attempts, boot, group, once, text

from understudy_devices.platforms.vm.machine import Result

SETTINGS = """
put 1000000000 $vpt/intercept_ns
put 15000000000 $vpt/queue_age_limit_ns
"""
TROUBLES = {"another depth": "put 2 $vpt/queue_depth\n"}


@once
def full(trouble: str) -> Result:
    """Boot the VM."""
    return full_disk.in_trouble(trouble, SETTINGS, TROUBLES)


@full_disk.on_each("queue", TROUBLES)
def test_each_read_ends_once_and_well(trouble: str) -> None:
    full_disk.assert_each_read_ended_once_and_well(full(trouble), trouble)


@full_disk.on_each("queue", TROUBLES)
def test_who_detaches_lets_all_go_at_once(trouble: str) -> None:
    """In the other cases, each read still takes its second."""
    seconds = full_disk.seconds(full(trouble))
    if trouble in full_disk.DETACHING:
        assert seconds < 2
    else:
        assert full_disk.READERS - 1 < seconds < full_disk.READERS + 0.5


# sptf and the disk's model.

ASKING = """
wait_for '[ -b /dev/vdisk ]'
queue=/sys/block/vdisk/queue
read_some() {
	for place in 9000 10 7000 20; do
		dd if=/dev/vdisk of=/dev/null bs=4k skip=$place count=1 iflag=direct 2> /dev/null &
	done
	wait
}
attempt sptf $queue/scheduler
throttle /dev/vdisk
put 2000000 $vpt/intercept_ns
put "0:0 131072:9000000" $vpt/seek_curve
attempt sptf $queue/scheduler
put 1 $vpt/reset
read_some
rmmod vpt 2> /out/rmmod && fail 'vpt went while it was asked'
put "0:0 131072:0" $vpt/seek_curve
read_some
cat $queue/iosched/positioning_ns > /out/positioning
cat $vpt/completed > /out/completed
release
read_some
cat $queue/iosched/positioning_ns > /out/positioning_after
rmmod vpt 2>> /out/rmmod && fail 'vpt went while it might be asked'
put none $queue/scheduler
rmmod vpt || fail 'vpt stays'
attempt sptf $queue/scheduler
"""


@once
def asking() -> Result:
    """Boot the VM in which the throttle, and so the model, is added and removed."""
    return boot(ASKING, {**full_disk.MODULES, "vdisk": f"size={64 * MIB}", "sptf": ""})


@group("queue-asking")
def test_sptf_is_refused_where_nobody_has_a_model() -> None:
    """The log says so twice: before the disk is throttled, and after the throttle is removed."""
    lines = text(asking(), "attempts").splitlines()
    assert [line.rpartition(": ")[2] for line in lines] == [
        "No such device",
        "ok",
        "No such device",
    ]
    assert attempts(asking())["scheduler=sptf"] == "No such device"
    line = "sptf needs a disk's model: vdisk has none; throttle it with vpt first"
    assert text(asking(), "dmesg").count(line) == 2


@group("queue-asking")
def test_the_throttle_stays_while_it_is_asked() -> None:
    """The module can't be unloaded even if the profile changes meanwhile, or the disk
    is released.
    """
    assert text(asking(), "rmmod").count("temporarily unavailable") == 2
    assert text(asking(), "completed") == "8"
    # Four predictions include a seek, four are of 2 ms; without the model there are none.
    foreseen_ns = int(text(asking(), "positioning"))
    assert 8 * 2_000_000 < foreseen_ns <= 8 * 2_000_000 + 4 * 9_000_000
    assert int(text(asking(), "positioning_after")) == foreseen_ns
