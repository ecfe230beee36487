# SPDX-License-Identifier: MIT
"""How k is found, on a SCSI disk whose service time is set by the test, in the virtual clock.

The profile takes 0.4 ms for every request, so the smallest k without late requests is the disk's
time divided by 0.4 ms.
"""

import pytest
from guests import attempts, boot, group, once, pairs

from understudy_devices.platforms.vm.machine import Result

pytestmark = group("scaling")
PROFILE_NS = 400_000
SLOW_NS, FAST_NS = 4_000_000, 1_000_000
SCENARIO = f"""
wait_for '[ -b /dev/sda ]'
answers_in() {{
	put $1 /sys/bus/pseudo/drivers/scsi_debug/ndelay
}}
read_some() {{ # COUNT
	dd if=/dev/sda of=/dev/null bs=4k count=$1 iflag=direct 2> /dev/null || fail 'read'
}}
say() {{
	for file in scale_milli scale_auto scale_raised scale_lowered late_window_permille \\
		late_window_requests late requests; do
		echo "$file $(cat $vpt/$file)"
	done > /out/$1
}}
answers_in {SLOW_NS}
throttle /dev/sda
put {PROFILE_NS} $vpt/intercept_ns
put 1 $vpt/reset
read_some 500
say by_hand
put 1 $vpt/scale_auto
read_some 1500
say slow
answers_in {FAST_NS}
read_some 20000
say fast
put 0 $vpt/scale_auto
answers_in {SLOW_NS}
read_some 1200
say frozen
put 1 $vpt/reset
say reset
put 1000 $vpt/scale_milli
put "0:0 $(cat /sys/block/sda/size):14000000000" $vpt/seek_curve
put 1 $vpt/scale_auto
read_some 200
say limit
attempt 2 $vpt/scale_auto
put 0 $vpt/scale_auto
put "0:0 $(cat /sys/block/sda/size):0" $vpt/seek_curve
put {10 * FAST_NS} $vpt/intercept_ns
answers_in {FAST_NS}
put 1 $vpt/reset
put 1100 $vpt/scale_milli
put 1 $vpt/scale_auto
read_some 4000
say faster
"""


@once
def scaled() -> Result:
    """Boot the VM in which the disk is slow, then fast, then slow again."""
    modules = {
        "iprobe": "",
        "vpt": "",
        "scsi_debug": "dev_size_mb=128 ndelay=1000000",
        "sd_mod": "",
    }
    return boot(SCENARIO, modules, memory_mib=1024)


def found(name: str) -> dict[str, int]:
    return pairs(scaled().out[name])


def needed_milli(disk_ns: int) -> float:
    """Return the k, in thousandths, below which all requests are late."""
    return 1000 * disk_ns / PROFILE_NS


def test_by_hand_it_stays() -> None:
    """All requests are late, and the window counts them."""
    assert found("by_hand")["scale_milli"] == 1000
    assert found("by_hand")["late_window_permille"] == 1000
    assert found("by_hand")["late_window_requests"] == found("by_hand")["requests"] == 500
    assert found("by_hand")["scale_raised"] == 0


@pytest.mark.parametrize(("name", "disk_ns"), [("slow", SLOW_NS), ("fast", FAST_NS)])
def test_it_follows_the_disk(name: str, disk_ns: int) -> None:
    """k settles where hardly a request is late.

    The limits allow for k's steps and the kernel's own time.
    """
    k = found(name)["scale_milli"]
    assert needed_milli(disk_ns) * 15 / 16 < k < needed_milli(disk_ns) * 1.25 * 1.2
    assert found(name)["late_window_permille"] <= 10


def test_it_rises_fast_and_falls_slowly() -> None:
    """k rises by a quarter after 11 late requests, and falls by a sixteenth after 1,000 in time."""
    slow, fast = found("slow"), found("fast")
    assert slow["scale_raised"] >= 10
    assert slow["late"] - found("by_hand")["late"] <= 11 * slow["scale_raised"]
    assert 10 <= fast["scale_lowered"] - slow["scale_lowered"] <= 20


def test_frozen_it_only_counts() -> None:
    frozen = found("frozen")
    assert frozen["scale_milli"] == found("fast")["scale_milli"]
    assert (frozen["scale_auto"], frozen["late_window_requests"]) == (0, 1000)
    assert frozen["late_window_permille"] == 1000


def test_a_reset_begins_anew_and_keeps_k() -> None:
    reset = found("reset")
    assert reset["scale_milli"] == found("frozen")["scale_milli"]
    assert reset["late_window_requests"] == reset["scale_raised"] == reset["late"] == 0
    assert attempts(scaled())["scale_auto=2"] == "Numerical result out of range"


def test_it_never_makes_the_slowest_request_too_slow() -> None:
    """A full seek takes 14 s, so k can rise by only 7 % to the limit of 15 s, however late the disk
    is.
    """
    limit = found("limit")
    assert limit["scale_milli"] == 15_000_000_000_000 // (14_000_000_000 + PROFILE_NS)
    assert (limit["scale_raised"], limit["scale_lowered"]) == (1, 0)
    assert limit["late"] > 150


def test_nobody_is_served_faster_than_by_the_model() -> None:
    """k falls from 1.1 to its minimum of 1, although the disk is ten times as fast as the
    model.
    """
    assert found("faster")["scale_milli"] == 1000
    assert found("faster")["scale_lowered"] == 2
    assert found("faster")["late"] == 0
