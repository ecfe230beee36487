# SPDX-License-Identifier: MIT
"""Cards in trouble: several are unplugged under load, and processes write to them at random.

Two copiers and two Zach 1 are used by their reference drivers while all four are unplugged, again
and again. Programs may get error codes and nothing else. Then hostile processes load and store at
random in the registers that the kernel lets them map. Kernel and daemon must survive, and the card
must work for its driver afterwards.
"""

import pytest
from guests import boot, group, once, text
from places import CHECKOUT

from understudy_devices.base.programs import Program, compiled
from understudy_devices.cards import specification
from understudy_devices.platforms.vm import card_modules, card_programs, packages
from understudy_devices.platforms.vm.machine import Result

pytestmark = group("card-trouble")

ROUNDS = 10
ACCESSES = 20_000
ALLOWED = {
    "No such device",
    "Input/output error",
    "No such file or directory",
    "Bus error",
    "nonexistent directory",  # the shell's words
    "Read-only file system",
}

PULLED = (
    f"ROUNDS={ROUNDS}\n"
    + r"""
copy() {
	while :; do
		echo "hello $1" > /nodes/copier$1 && cat /nodes/copier$1 || sleep 0.01
	done > /out/copies$1 2>> /out/copied$1
}
paint() {
	while :; do
		draw_triangles --size 30 --triangles 3000 --pairs 700 --card /dev/zach1_$1 ||
			echo "exit $?"
		sleep 0.1
	done > /out/painted$1 2>&1
}
all_worked() {
	for file in painted0 painted1; do
		[ $(grep -c done /out/$file) -ge $n ] || return 1
	done
	for file in copies0 copies1; do
		[ $(grep -c hello /out/$file) -ge $n ] || return 1
	done
}
nodes
insmod /copier_driver.ko && insmod /zach1_driver.ko || fail 'no driver'
copy 0 & copy 1 & paint 0 & paint 1 &
n=0
while [ $n -lt $ROUNDS ]; do
	for kind in copier zach1 copier zach1; do
		put $kind /sys/kernel/vpcib/add
	done
	for slot in 1 3; do
		vcd --card /dev/vgpu$slot &
	done
	n=$((n + 1))
	wait_for 'all_worked'
	for slot in 0 1 2 3; do
		put $(((slot + n) % 4)) /sys/kernel/vpcib/remove
		sleep 0.1
	done
done
kill %1 %2 %3 %4
wait
rmmod copier_driver && rmmod zach1_driver || fail 'the drivers stayed'
rmmod card_copier && rmmod card_zach1 && rmmod vpcib || fail 'the cards stayed'
"""
)

HOSTILE = (
    f"ACCESSES={ACCESSES}\n"
    + r"""
put zach1 /sys/kernel/vpcib/add
put copier /sys/kernel/vpcib/add
vcd --card /dev/vgpu0 &
daemon=$!
for slot in 0 1; do
	resource=/sys/bus/pci/devices/10000:00:0$slot.0
	put 1 $resource/enable
	for seed in 1 2; do
		hostile $resource/resource0 $seed $ACCESSES || fail "hostile: $?"
	done
done
kill -0 $daemon || fail 'the daemon is gone'
insmod /zach1_driver.ko && insmod /copier_driver.ko || fail 'no driver'
timeout 100 draw_triangles --size 30 --triangles 1000 --card /dev/zach1_0 > /out/drawn ||
	fail "the card does not draw: $?"
draw_triangles --size 30 --triangles 1000 > /out/right
"""
)


def run(scenario: str, cpus: int) -> Result:
    """Boot a VM with both cards, both drivers and their programs."""
    kernel = packages.fetch_kernel()
    built = {
        f"{name}_driver.ko": card_modules.driver(
            kernel, CHECKOUT / "cards" / "drivers" / f"{name}_driver.c", specification.load(name)
        )
        for name in ("copier", "zach1")
    }
    hostile = Program("hostile", ("tests/vm/drivers/hostile_user.c",))
    return boot(
        scenario,
        {"card_copier": "instances=0", "card_zach1": "instances=0"},
        files={
            **built,
            "bin/vcd": compiled(card_programs.vcd()),
            "bin/draw_triangles": compiled(card_programs.draw_triangles()),
            "bin/hostile": compiled(hostile),
        },
        clock="wall",
        cpus=cpus,
        timeout_seconds=900,
    )


@once
def pulled() -> Result:
    """Boot the VM whose cards are unplugged."""
    return run(PULLED, 2)


@once
def hostile() -> Result:
    """Boot the VM with the hostile processes."""
    return run(HOSTILE, 2)


@pytest.mark.parametrize("name", ["copied0", "copied1", "painted0", "painted1"])
def test_only_error_codes(name: str) -> None:
    """Programs get only these errors while their cards are unplugged."""
    lines = text(pulled(), name).splitlines()
    copies = name.startswith("copied")
    errors = [line for line in lines if copies or "rror" in line or "errno" in line]
    assert [line for line in errors if not any(reason in line for reason in ALLOWED)] == []
    assert errors


@pytest.mark.parametrize(
    ("name", "result"),
    [("painted0", "done "), ("painted1", "done "), ("copies0", "hello 0"), ("copies1", "hello 1")],
)
def test_they_worked_in_between(name: str, result: str) -> None:
    assert text(pulled(), name).count(result) >= ROUNDS


def test_hostile_processes_do_no_harm() -> None:
    """The driver's picture afterwards is right."""
    checksum, right = (text(hostile(), name).split()[-1] for name in ("drawn", "right"))
    assert checksum == right
