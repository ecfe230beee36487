# SPDX-License-Identifier: MIT
"""Cards and drivers are removed and added under load, and nothing is left behind.

Each cycle loads the copier's reference driver and two cards, while two programs use them without a
pause. It then removes them in one of four ways: card by card, by unloading the driver, by unloading
the card's module under the driver, or by unplugging and replugging. A cycle takes 0.3 s;
CARD_CYCLES=1000 in the environment runs more of them. Afterwards, when nothing else allocates
memory, a card is plugged in and out again and again, and leaks are counted.
"""

import itertools
import os

import pytest
from guests import boot, group, once, text
from places import CHECKOUT

from understudy_devices.cards import specification
from understudy_devices.platforms.vm import card_modules, packages
from understudy_devices.platforms.vm.machine import Result

pytestmark = group("card-lifetimes")

CYCLES = int(os.environ.get("CARD_CYCLES", "60"))
PLUGGED = 200
SAMPLES = range(5)

SCENARIO = (
    f"CYCLES={CYCLES} PLUGGED={PLUGGED} SAMPLES='{' '.join(map(str, SAMPLES))}'\n"
    + r"""
# Partly used slabs count as used until they are shrunk.
count() {
	for round in 1 2 3; do
		sleep 1
		for cache in /sys/kernel/slab/*/shrink; do
			echo 1 > $cache
		done 2> /dev/null
	done
	awk 'NR > 2 { print $1, $2 }' /proc/slabinfo > /out/objects-$1
	awk '/^VmallocUsed|^PageTables/ { print $1, $2 / 4 }' /proc/meminfo > /out/pages-$1
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
# A program may still be using the module.
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
for sample in $SAMPLES; do
	plug
	count $sample
done
rmmod card_copier && rmmod copier_driver || fail 'they stayed'
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
    """Boot the VM for all cycles; boot() checks its log."""
    driver = card_modules.driver(
        packages.fetch_kernel(),
        CHECKOUT / "cards" / "drivers" / "copier_driver.c",
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


def counts(what: str, sample: int) -> dict[str, float]:
    """Return the number of objects or pages of each kind."""
    lines = (line.split() for line in text(worn(), f"{what}-{sample}").splitlines())
    return {name: float(number) for name, number in lines}


@pytest.mark.parametrize("what", ["objects", "pages"])
def test_no_leak(what: str) -> None:
    """A leak of half an object or half a page per plugged card would show in every sample.

    Objects that the kernel caches, or frees late, do not show. The kernel keeps vmap areas for
    long, but not the pages that they map.
    """
    samples = [counts(what, sample) for sample in SAMPLES]
    for kind in samples[0].keys() - {"vmap_area"}:
        of_kind = [sample.get(kind, 0) for sample in samples]
        grown = [after - before for before, after in itertools.pairwise(of_kind)]
        assert min(grown) < PLUGGED / 2, kind


def test_kmemleak() -> None:
    """Only a kernel with kmemleak reports leaks (docs/kernels.md)."""
    assert text(worn(), "leaks") == ""


@pytest.mark.parametrize("copier", [0, 1])
def test_there_was_load(copier: int) -> None:
    """The programs did some work between the changes."""
    assert f"hello {copier}" in text(worn(), f"copies{copier}")


def test_nothing_is_left() -> None:
    """No device, interrupt or address range is left."""
    assert not [name for name in text(worn(), "devices").split() if name.startswith("1000")]
    assert text(worn(), "left").splitlines() == ["/proc/interrupts:0", "/proc/iomem:0"]
