# SPDX-License-Identifier: MIT
"""Cards and drivers come and go under load, and nothing stays behind.

Each cycle loads the copier's reference driver and two cards, while two programs use them without
a pause, and takes them away in one of four ways: card by card, by unloading the driver, by
unloading the card from under it, and out and in again.  CARD_CYCLES=1000 in the environment
makes it as many as one has patience for: a cycle takes 0.3 s.  What a leak would be is seen
afterwards, when nobody else allocates anything, as a card is plugged in and out.
"""

import os

import pytest
from guests import boot, group, once, text

from understudy.base.paths import ROOT
from understudy.cards import specification
from understudy.platforms.vm import modules, packages
from understudy.platforms.vm.machine import Result

pytestmark = group("card-lifetimes")

CYCLES = int(os.environ.get("CARD_CYCLES", "60"))
PLUGGED = 200

SCENARIO = (
    f"CYCLES={CYCLES} PLUGGED={PLUGGED}\n"
    + r"""
# Half-used slabs count as used, until they are shrunk, and so do addresses that the kernel puts
# aside until a module comes or goes.
count() {
	rmmod copier_driver && insmod /copier_driver.ko || fail 'the driver does not come again'
	for round in 1 2 3; do
		sleep 1
		for cache in /sys/kernel/slab/*/shrink; do
			echo 1 > $cache
		done 2> /dev/null
	done
	awk '{ n += $2 } END { print n }' /proc/slabinfo > /out/objects-$1
	awk '/^VmallocUsed|^PageTables/ { n += $2 / 4 } END { print n }' /proc/meminfo > /out/pages-$1
}
plug() {
	n=0
	while [ $n -lt $PLUGGED ]; do
		put copier /sys/kernel/vpcib/add
		put 0 /sys/kernel/vpcib/remove
		n=$((n + 1))
	done
}
use() {
	while :; do
		echo "hello $1" > /nodes/copier$1 && cat /nodes/copier$1 || sleep 0.01
	done > /out/copies$1 2> /dev/null
}
# A program may be using it at this moment.
unload() {
	wait_for "rmmod $1 2> /dev/null"
}
cycle() {
	insmod /copier_driver.ko || fail "cycle $1: no driver"
	insmod /modules/card_copier.ko instances=2 || fail "cycle $1: no card"
	case $(($1 % 4)) in
	0)
		put 1 /sys/kernel/vpcib/remove
		;;
	1)
		put 0 /sys/kernel/vpcib/remove
		put copier /sys/kernel/vpcib/add
		;;
	2)
		unload copier_driver
		rmmod card_copier || fail "cycle $1: the card stayed"
		return
		;;
	esac
	rmmod card_copier || fail "cycle $1: the card stayed"
	unload copier_driver
}

nodes
rmmod card_copier
use 0 &
use 1 &
n=0
while [ $n -lt $CYCLES ]; do
	cycle $n
	n=$((n + 1))
done
kill %1 %2
wait

insmod /copier_driver.ko && insmod /modules/card_copier.ko instances=0 || fail 'not once more'
plug
count 0
plug
count 1
plug
count 2
rmmod card_copier && rmmod copier_driver || fail 'they stayed'
leaks() {
	: > /out/leaks
	mount -t debugfs debug /sys/kernel/debug 2> /dev/null
	kmemleak=/sys/kernel/debug/kmemleak
	[ -e $kmemleak ] || return
	# It tells of what was old enough at the first scan and is still there at the second.
	for round in 1 2; do
		sleep 6
		echo scan > $kmemleak
	done
	cat $kmemleak > /out/leaks
}
leaks
rmmod vpcib || fail 'the bus stayed'
rmmod iprobe || fail 'the probes stayed'
ls /sys/bus/pci/devices > /out/devices
grep -c vpcib /proc/interrupts /proc/iomem > /out/left
true
"""
)


@once
def worn() -> Result:
    """The VM after all cycles; boot() has looked at its log."""
    driver = modules.driver_module(
        packages.fetch_kernel(),
        ROOT / "cards" / "drivers" / "copier_driver.c",
        specification.load("copier"),
    )
    return boot(
        SCENARIO,
        {"card_copier": ""},
        files={"copier_driver.ko": driver},
        clock="wall",
        cpus=2,
        timeout_seconds=1200 + 10 * CYCLES,
    )


@pytest.mark.parametrize("what", ["objects", "pages"])
def test_no_leak(what: str) -> None:
    """Half an object, or half a page, for each time that a card comes and goes would be seen
    both times; what the kernel keeps by itself is not."""
    counts = [float(text(worn(), f"{what}-{when}")) for when in range(3)]
    assert min(counts[1] - counts[0], counts[2] - counts[1]) < PLUGGED / 2


def test_kmemleak() -> None:
    """On a kernel that has it (docs/kernels.md); others tell of no leak."""
    assert text(worn(), "leaks") == ""


@pytest.mark.parametrize("copier", [0, 1])
def test_there_was_load(copier: int) -> None:
    """The programs got work done between the changes."""
    assert f"hello {copier}" in text(worn(), f"copies{copier}")


def test_nothing_is_left() -> None:
    """Neither a device, nor an interrupt, nor an address."""
    assert not [name for name in text(worn(), "devices").split() if name.startswith("1000")]
    assert text(worn(), "left").splitlines() == ["/proc/interrupts:0", "/proc/iomem:0"]
