# SPDX-License-Identifier: MIT
"""A driver removes the mappings of its processes, again and again.

The kernel has no complaint, and a mapping shows only what was mapped.
"""

from guests import boot, group, once, text
from places import CHECKOUT

from understudy_devices.base.programs import Program, compiled
from understudy_devices.cards import specification
from understudy_devices.platforms.vm import card_modules, packages
from understudy_devices.platforms.vm.machine import Result

pytestmark = group("card-mappings")

FOLDER = "tests/vm/drivers"
SECONDS = 10

SCENARIO = f"""
insmod /mapped_driver.ko || fail 'no driver'
for n in 1 2 3; do
	mapped {SECONDS} > /out/user$n & users="$users $!"
done
while kill -0 $users 2> /dev/null; do
	echo all > /dev/mapped
done
wait
rmmod mapped_driver || fail 'the driver stayed'
"""


@once
def mapped() -> Result:
    """Boot the VM whose processes lose their mappings."""
    kernel = packages.fetch_kernel()
    driver = card_modules.driver(
        kernel, CHECKOUT / FOLDER / "mapped_driver.c", specification.load("copier")
    )
    program = compiled(Program("mapped", (f"{FOLDER}/mapped_user.c",)))
    files = {"mapped_driver.ko": driver, "bin/mapped": program}
    return boot(SCENARIO, {"card_copier": ""}, files=files, clock="wall", cpus=2)


def test_mappings_go_away_under_their_users() -> None:
    """Each process ran to its end; `boot` checks the kernel's log."""
    assert all(int(text(mapped(), f"user{n}").split()[0]) > 10 for n in (1, 2, 3))
