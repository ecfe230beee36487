# SPDX-License-Identifier: MIT
"""A throttled disk with eight reads of some seconds in service, when something happens to it."""

from collections.abc import Iterable, Mapping

import pytest
from guests import MIB, boot, group, pairs, text

from understudy_devices.platforms.vm.machine import Result

READERS = 8
MODULES = {"iprobe": "", "vpt": "", "vdisk": f"size={64 * MIB} depth={READERS}"}
TROUBLES = {
    "nothing": "",
    "reset": "put 1 $vpt/reset\n",
    "record": "put 1000 $vpt/record\n",
    "another scheduler": "put mq-deadline $queue/scheduler\n",
    "detach": "release\n",
    "unload": "rmmod vpt || fail 'vpt stays'\n",
}
DETACHING = ("detach", "unload")  # the disk's counters go with its folder

SCENARIO = f"""
wait_for '[ -b /dev/vdisk ]'
queue=/sys/block/vdisk/queue
read_one() {{ # PLACE
	dd if=/dev/vdisk of=/dev/null bs=4k skip=$1 count=1 iflag=direct 2> /dev/null
	echo "$1 $?" >> /out/ended
}}
throttle /dev/vdisk
SETTINGS
put {READERS} $vpt/queue_depth
put 1 $vpt/reset
for place in {" ".join(str(1000 * reader) for reader in range(READERS))}; do
	read_one $place &
done
wait_for '[ $(cat $vpt/held) = {READERS} ]'
TROUBLE
wait
"""
CLOCK = 'read -r now rest < /proc/uptime\necho "$now" > /out/'
COUNTERS = """
wait
for counter in requests completed failed missed late stale; do
	echo "$counter $(cat $vpt/$counter)"
done > /out/counters
"""


def in_trouble(
    trouble: str,
    settings: str,
    others: Mapping[str, str],
    modules: Mapping[str, str] = MODULES,
) -> Result:
    """Boot the VM in which a disk with these settings meets one of TROUBLES or `others`."""
    counters = "wait\n" if trouble in DETACHING else COUNTERS
    commands = (TROUBLES | dict(others))[trouble]
    during = f"{CLOCK}full_at\n{commands}{counters}{CLOCK}ended_at\n"
    return boot(SCENARIO.replace("SETTINGS", settings).replace("TROUBLE", during), modules)


def on_each(prefix: str, others: Iterable[str]) -> pytest.MarkDecorator:
    """Parametrize a test with each trouble, in an xdist group of its own."""
    return pytest.mark.parametrize(
        "trouble",
        [pytest.param(name, marks=group(f"{prefix}-{name}")) for name in (*TROUBLES, *others)],
    )


def assert_each_read_ended_once_and_well(result: Result, trouble: str) -> None:
    """Check the exit codes of the reads, and the throttle's counters if the throttle is still
    there.
    """
    ended = sorted(text(result, "ended").splitlines())
    assert ended == sorted(f"{1000 * reader} 0" for reader in range(READERS))
    if trouble in DETACHING:
        return
    counters = pairs(result.out["counters"])
    assert (counters["failed"], counters["missed"], counters["late"]) == (0, 0, 0)
    assert counters["requests"] == counters["completed"] == READERS
    assert counters["stale"] == 0


def seconds(result: Result) -> float:
    """Return the seconds from the trouble to the end of the last read."""
    return float(text(result, "ended_at")) - float(text(result, "full_at"))
