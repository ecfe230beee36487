# SPDX-License-Identifier: MIT
"""What the guest does with a driver: the script of a run, whose exit code is the number of the step
that failed.
"""

import random
from pathlib import Path

from understudy_devices.referee import leftovers, memory
from understudy_devices.referee.faults import Fault

EXERCISE_SECONDS = 120
HOSTILE_SECONDS = 300
ATTACKED_MOST = 4
"""Devices of a driver that the hostile exercise attacks; each takes some seconds."""
STALLED_SECONDS = 4
"""When a card that works 3 s late is ready again."""
FAULT_SECONDS = 30
"""How long the exercise may take with a fault, before it is killed."""
REFUSED_SECONDS = 5
"""The same, for a driver that goes on without what it has requested."""
REQUESTS_MOST = 100
DYING_SECONDS = 65
LOADING_SECONDS = 15
REMOVED_AFTER_SECONDS = (0.1, 1.0)
"""The card is removed this long after the second exercise has begun, at least and at most."""
THE_CARD = "/sys/bus/pci/devices/10000:00:00.0"


def module_name(driver: Path) -> str:
    """Return the name that the kernel gives to a module's file."""
    return driver.stem.replace("-", "_")


def script(driver: Path, card: str, cpus: int, seed: int, fault: Fault | None) -> str:
    """Return the guest's script for a driver of a card.

    Its exit code is the number of the step that failed.

    The seed determines when the card is removed.

    Each processor reports progress as long as it works, so that a hang is noticed.
    """
    masks = " ".join(f"{1 << cpu:x}" for cpu in range(cpus))
    stem = module_name(driver)
    return f"""stem={stem}
{leftovers.COMMANDS}
pulse() {{
	while port notify progress; do
		for mask in {masks}; do
			taskset $mask sleep 1
		done
	done
}}
# Names a process that waits in the driver, with its stack.
stuck() {{
	for process in /proc/[0-9]*; do
		frames=$(sed 's,^\\[<0>\\] ,,' $process/stack 2> /tmp/said)
		case "$frames" in
		*"[{stem}]"*)
			echo "it waits without end:" $frames
			return 0 ;;
		esac
	done
	return 1
}}
# within STEP SECONDS COMMAND: a command that does not return in time is left behind.
within() {{
	step=$1 tries=$(($2 * 10))
	shift 2
	rm -f /tmp/ended
	( "$@"; echo $? > /tmp/ending; mv /tmp/ending /tmp/ended ) &
	until [ -e /tmp/ended ]; do
		tries=$((tries - 1))
		[ $tries -gt 0 ] || {{ stuck || echo "it does not return: $*"; exit $step; }}
		sleep 0.1
	done
	return $(cat /tmp/ended)
}}
load() {{
	within $1 {LOADING_SECONDS} insmod /{driver.name} || exit $1
	sleep 1
	loaded $stem
	[ -e {THE_CARD}/driver ] || {{ echo 'its probe has not taken the card'; exit $1; }}
}}
unload() {{
	attempts=0
	while ! within $1 {LOADING_SECONDS} rmmod {driver.stem} 2> /tmp/said; do
		attempts=$((attempts + 1))
		[ $attempts -lt 50 ] || {{ cp /tmp/said /tmp/why; stuck || cat /tmp/why; exit $1; }}
		sleep 0.1
	done
	{memory.CHECK}
	after_unloading
}}
pull_out() {{
	echo 0 > /sys/kernel/vpcib/remove
}}
exercised() {{
	until [ -e /tmp/exercised ]; do
		sleep 0.1
	done
}}
held() {{
	until grep -q held /tmp/holder; do
		sleep 0.1
	done
}}
released() {{
	until [ -e /tmp/released ]; do
		sleep 0.1
	done
}}
# try_exercise SECONDS: with a fault.  The exercise may fail or wait, but must be mortal.
try_exercise() {{
	rm -f /tmp/exercised
	(
		setsid /bin/exercise > /dev/null 2>&1 &
		echo $! > /tmp/leader
		wait
		: > /tmp/exercised
	) &
	tries=$1
	until [ -e /tmp/exercised ] || [ $tries -eq 0 ]; do
		tries=$((tries - 1))
		sleep 1
	done
	echo none > /sys/kernel/vpcib/fault
	kill -9 -$(cat /tmp/leader) 2> /dev/null
	within 7 {DYING_SECONDS} exercised
}}
# load_refused NUMBER: loads the driver, to which the kernel refuses a request; fails if the driver
# makes fewer requests.
load_refused() {{
	echo request $1 > /sys/kernel/vpcib/fault || exit 98
	within 7 {LOADING_SECONDS} insmod /{driver.name} 2> /tmp/said || return 0
	loaded $stem
	[ -e {THE_CARD}/driver ] || sleep 1
	grep -q none /sys/kernel/vpcib/fault
}}
# The devices that the driver has made, which were not there before it.
devices() {{
	for device in /sys/dev/char/*; do
		grep -qxF "${{device##*/}}" /tmp/before ||
			sed -n 's,^DEVNAME=,/dev/,p' "$device/uevent"
	done
}}
# Those of these devices that belong to the card, to any of its functions, or to nobody, and not to
# a layer of the kernel on top of the driver.
own_devices() {{
	card=$(readlink -f {THE_CARD})
	for device in /sys/dev/char/*; do
		grep -qxF "${{device##*/}}" /tmp/before && continue
		if [ -e "$device/device" ]; then
			owner=$(readlink -f "$device/device")
			[ "${{owner%.[0-7]}}" = "${{card%.0}}" ] || continue
		fi
		sed -n 's,^DEVNAME=,/dev/,p' "$device/uevent"
	done
}}
# removed_while_held CARD: the card is removed while a process has the driver's devices open and
# mapped, which it closes afterwards.
removed_while_held() {{
	echo $1 > /sys/kernel/vpcib/add || exit 97
	load 9
	(
		/bin/holder $(own_devices | head -{ATTACKED_MOST}) > /tmp/holder &
		echo $! > /tmp/leader
		wait
		: > /tmp/released
	) &
	within 9 {LOADING_SECONDS} held
	within 9 {LOADING_SECONDS} pull_out || exit 9
	kill -9 $(cat /tmp/leader)
	within 9 {DYING_SECONDS} released
	unload 9
}}
# If a module goes while a process has its device open, the kernel must not need it afterwards.
unloaded_in_use() {{
	for device in $attacked; do
		(
			exec 3< "$device"
			rmmod {driver.stem} 2> /dev/null || exit 0
			timeout 1 cat <&3 > /dev/null
		)
		[ -e /sys/module/$stem ] || load 3
	done
}}
# Another processor than the one that gets the signal may hang. So all processors print their
# stacks, and are stopped at once.
echo 64 > /proc/sys/kernel/panic_print
echo 1 > /sys/module/kernel/parameters/crash_kexec_post_notifiers
pulse &
insmod /card.ko || exit 99
[ -e /dev/vgpu0 ] && vcd --card /dev/vgpu0 &
ls /sys/dev/char > /tmp/before
before_loading
load 1
{_with_fault(fault) if fault else _without_fault(seed, card)}at_the_end
"""


def _without_fault(seed: int, card: str) -> str:
    moment = random.Random(seed).uniform(*REMOVED_AFTER_SECONDS)
    return f"""attacked=$(devices | head -{ATTACKED_MOST})
within 2 {EXERCISE_SECONDS} /bin/exercise || exit 2
within 6 {HOSTILE_SECONDS} /bin/hostile {seed} /requests $attacked || exit 6
within 3 {LOADING_SECONDS} unloaded_in_use
unload 3
load 4
( /bin/exercise > /dev/null 2>&1; : > /tmp/exercised ) &
sleep {moment:.3f}
within 5 {LOADING_SECONDS} pull_out || exit 5
within 5 {EXERCISE_SECONDS} exercised
unload 5
[ -z "$attacked" ] || removed_while_held {card}
"""


def _with_fault(fault: Fault) -> str:
    """Return the script's part with a fault."""
    if fault.kind == "request":
        return _with_refusals(fault.number)
    return f"""echo {fault.kind} {fault.number} > /sys/kernel/vpcib/fault || exit 98
try_exercise {FAULT_SECONDS}
unload 7
sleep {STALLED_SECONDS if fault.kind == "stall" else 0}
load 8
within 8 {EXERCISE_SECONDS} /bin/exercise || exit 8
unload 8
"""


def _with_refusals(first: int) -> str:
    """Return the script's part in which each request of the driver is refused once.  The exercise
    is tried only if the driver goes on without what it has requested.
    """
    return f"""unload 7
number={first}
while [ $number -lt {first + REQUESTS_MOST} ] && load_refused $number; do
	[ -e {THE_CARD}/driver ] && try_exercise {REFUSED_SECONDS}
	[ -e /sys/module/$stem ] && unload 7 || {{ registered > /tmp/with; after_unloading; }}
	number=$((number + 1))
done
echo none > /sys/kernel/vpcib/fault
[ -e /sys/module/$stem ] || load 8
within 8 {EXERCISE_SECONDS} /bin/exercise || exit 8
unload 8
"""
