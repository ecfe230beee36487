# SPDX-License-Identifier: MIT
"""Ten NVMe cards at once under Debian's nvme.ko; one of them is pulled out six times under load."""

import pytest
from guests import boot, group, once, text

from understudy_devices.platforms.vm.machine import Result

pytestmark = [group("nvme"), pytest.mark.slow]
CARDS = 10
REMOVALS = 6
BYTES = 3_000_000

SCENARIO = f"""
ready() {{ for _ in $(seq 300); do [ -e "$1" ] && return; sleep 0.1; done; fail "no $1"; }}
disks() {{ ls /dev | grep -c '^nvme[0-9]*n2$'; }}
for card in $(seq 0 {CARDS - 1}); do
	ready /dev/nvme${{card}}n1
	ready /dev/nvme${{card}}n2
done
disks > /out/disks
for card in $(seq 0 {CARDS - 1}); do
	head -c {BYTES} /dev/urandom > /tmp/$card
	dd if=/tmp/$card of=/dev/nvme${{card}}n2 bs=1M conv=fsync 2> /dev/null &
done
wait
echo 3 > /proc/sys/vm/drop_caches
for card in $(seq 0 {CARDS - 1}); do
	head -c {BYTES} /dev/nvme${{card}}n2 | cmp - /tmp/$card >> /out/differences || fail "card $card"
done
for time in $(seq {REMOVALS}); do
	disk=$(basename $(ls -d /sys/bus/pci/devices/10000:00:03.0/nvme/nvme*))n2
	ready /dev/$disk
	dd if=/dev/zero of=/dev/$disk bs=4096 count=100000 oflag=direct 2> /dev/null &
	load=$!
	sleep 0.$time
	put 3 /sys/kernel/vpcib/remove
	wait $load && fail "removal $time: the writer has noticed nothing"
	[ -e /sys/bus/pci/devices/10000:00:03.0 ] && fail "removal $time: still there"
	disks >> /out/without
	put nvme /sys/kernel/vpcib/add
	for _ in $(seq 300); do
		[ -e /sys/bus/pci/devices/10000:00:03.0/nvme ] && break
		sleep 0.1
	done
done
for card in 0 9; do
	head -c {BYTES} /dev/nvme${{card}}n2 | cmp - /tmp/$card || fail "card $card later"
done
dmesg | grep -E 'WARNING|BUG|Oops|Call Trace' > /out/complaints
true
"""


@once
def driven() -> Result:
    """Boot a VM with ten cards."""
    modules = {"card_nvme": f"instances={CARDS}", "nvme": ""}
    return boot(SCENARIO, modules, cpus=2, clock="wall", memory_mib=1024)


def test_ten_cards_at_once() -> None:
    assert text(driven(), "disks") == str(CARDS)
    assert text(driven(), "differences") == ""


def test_six_removals_under_load() -> None:
    """The other nine stay, and the kernel does not complain."""
    assert text(driven(), "without").split() == [str(CARDS - 1)] * REMOVALS
    assert text(driven(), "complaints") == ""
