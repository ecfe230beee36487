# SPDX-License-Identifier: MIT
"""What two VMs that were resumed from one saved machine must not share, and the guest's clock.

`forget` runs in the guest before its machine is saved for all: it removes machine-id, the keys of
the SSH server and the seed of random numbers from the disk, and ends the SSH server.  It fails if a
device that the guest should have at each boot (devices.py) is missing.  So a VM that
crashes before it is renewed makes them at its next boot, as any new VM does.  `renew` runs in each
VM that was resumed from this machine, before anybody reaches it.

QEMU gives each VM another generation ID, at which a Linux of 5.18 or later draws new random numbers
by itself; `renew` adds numbers of the host.
"""

import secrets
import time
from collections.abc import Callable

from understudy_devices.lab.agent import Agent, NoAnswer

FORGET_SECONDS = 1800
RENEW_SECONDS = 120
CLOCK_SECONDS = 60
CLOCK_NS_MAX = 5_000_000_000
"""A clock that was set is no farther from the host's, even if the agent counts whole seconds."""
GENERATION = "/sys/bus/acpi/drivers/vmgenid"
RESEED = 0x5207
"""RNDRESEEDCRNG of linux/random.h: use what was written to /dev/urandom from now on."""

NO_DEVICES = "/run/understudy-no-devices"
"""Where a guest writes which of the devices that it should have at each boot are missing."""

FORGET = (
    r"""set -e
if command -v systemctl >/dev/null; then
	systemctl is-system-running --wait >/dev/null || :
fi
"""
    rf"""if [ -s {NO_DEVICES} ]; then
	head -n 1 {NO_DEVICES} >&2
	exit 1
fi
"""
    r"""if command -v systemctl >/dev/null; then
	for unit in ssh.socket ssh.service sshd.service; do
		if systemctl -q is-active $unit 2>/dev/null; then
			systemctl stop $unit
			echo $unit >>/run/understudy-renews
		fi
	done
fi
rm -f /etc/ssh/ssh_host_*_key /etc/ssh/ssh_host_*_key.pub /var/lib/systemd/random-seed
if [ -e /etc/machine-id ]; then
	: >/etc/machine-id
fi
if [ -e /var/lib/dbus/machine-id ] && [ ! -L /var/lib/dbus/machine-id ]; then
	rm -f /var/lib/dbus/machine-id
fi
sync
# Zeroes are not saved: a resume has to load only the memory that is in use.  A guest that has no
# memory left would kill its agent, or another process.
echo 3 >/proc/sys/vm/drop_caches
free=$(sed -n 's/MemFree: *\([0-9]*\) kB/\1/p' /proc/meminfo)
zeroes=$((free / 8 * 7 - 16384))
place=/run/understudy-zeroes
if [ $zeroes -gt 0 ] && mkdir $place && mount -t tmpfs -o size=95% none $place; then
	head -c $((zeroes * 1024)) /dev/zero >$place/file || :
	umount $place
	rmdir $place
fi
"""
)
RENEW = (
    rf"""set -e
echo "$2" >/dev/urandom
if [ ! -e {GENERATION} ] && command -v perl >/dev/null; then
	perl -e 'ioctl(STDIN, {RESEED:#x}, 0)' </dev/urandom
fi
if [ -e /etc/machine-id ]; then
	echo "$1" >/etc/machine-id
fi
"""
    + r"""(
	set +e
	if command -v ssh-keygen; then
		nice -n 19 ssh-keygen -A
		sync
	fi
	if command -v systemctl; then
		systemctl restart systemd-journald
		systemctl try-restart systemd-networkd NetworkManager
		if [ -e /run/understudy-renews ]; then
			systemctl start $(cat /run/understudy-renews)
		fi
	fi
	rm -f /run/understudy-renews
) </dev/null >/dev/null 2>&1 &
"""
)


def forget(agent: Agent) -> None:
    """Prepare a guest that has booted to be saved for all; NoAnswer if that fails."""
    agent.run(FORGET, (), FORGET_SECONDS)


def renew(agent: Agent) -> None:
    """Make a VM that was resumed from a machine for all one of its own, but for its clock;
    NoAnswer if that fails."""
    agent.run(RENEW, (secrets.token_hex(16), secrets.token_hex(32)), RENEW_SECONDS)


def set_clock(agent: Agent, meanwhile: Callable[[], None] = lambda: None) -> None:
    """Set the guest's clock to the host's; NoAnswer if that fails.

    The agent does so at once, and then sets the hardware's clock, too, which takes it a second.
    Call `meanwhile` in this second.
    """
    try:
        agent.set_time(meanwhile, CLOCK_SECONDS)
    except NoAnswer:  # there may be no program that sets the hardware's clock
        if abs(agent.time_ns() - time.time_ns()) > CLOCK_NS_MAX:
            raise
