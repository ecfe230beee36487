# SPDX-License-Identifier: MIT
"""Debian's nvme.ko, unmodified, drives the card nvme: two namespaces with ext4, a queue a
processor, controller reset, and removal under load.

nvme.ko, nvme-cli and mkfs know nothing of this project, so they are judges of the card.
"""

import json
import re
from pathlib import Path

import pytest
from guests import boot, group, once, text

from understudy_devices.platforms.vm import debian_programs
from understudy_devices.platforms.vm.machine import Result

pytestmark = group("nvme")

PROGRAMS = {
    "nvme": "nvme-cli",
    "mkfs.ext4": "e2fsprogs",
    "fio": "fio",
    "lspci": "pciutils",
}
SCENARIO = """
ready() { for _ in $(seq 100); do [ -e "$1" ] && return; sleep 0.1; done; fail "no $1"; }
# Kernels from 6.11 on look for all namespaces at once, so either may be the first that is there.
name() { # of both namespaces, when there are both
	ready /dev/nvme0n1 && ready /dev/nvme0n2
	small=/dev/nvme0n1 large=/dev/nvme0n2
	[ $(cat /sys/block/nvme0n1/nsid) = 1 ] || { small=/dev/nvme0n2 large=/dev/nvme0n1; }
}
name
nvme id-ctrl /dev/nvme0 -o json > /out/id-ctrl.json || fail id-ctrl
nvme id-ns $large -o json > /out/id-ns.json || fail id-ns
nvme list-ns /dev/nvme0 > /out/list-ns || fail list-ns
nvme smart-log /dev/nvme0 -o json > /out/smart.json || fail smart-log
nvme error-log /dev/nvme0 > /out/errors || fail error-log
nvme fw-log /dev/nvme0 > /out/firmware || fail fw-log
nvme get-feature /dev/nvme0 -f 7 > /out/queues || fail get-feature
nvme show-regs /dev/nvme0 > /out/registers || true
grep nvme /proc/interrupts > /out/interrupts
lspci -vv -s 10000:00:00.0 > /out/lspci
for disk in $small $large; do
	one=$(cat /sys/block/${disk##*/}/nsid)
	mkfs.ext4 -q $disk || fail "mkfs $one"
	mkdir -p /mnt$one && mount -t ext4 $disk /mnt$one || fail "mount $one"
	head -c 9000000 /dev/urandom > /mnt$one/file
	sha256sum < /mnt$one/file > /out/sum$one && umount /mnt$one
done
put 1 /sys/class/nvme/nvme0/reset_controller
name
for disk in $small $large; do
	one=$(cat /sys/block/${disk##*/}/nsid)
	mount -t ext4 -o ro $disk /mnt$one || fail "mount again $one"
	sha256sum < /mnt$one/file > /out/again$one && umount /mnt$one
done
fio --name=verified --filename=$small --rw=randrw --bsrange=512-256k --iodepth=16 \\
	--ioengine=libaio --direct=1 --size=32M --verify=crc32c --verify_fatal=1 \\
	--numjobs=1 > /out/fio 2>&1 || fail "fio: $(cat /out/fio)"
blkdiscard $small || nvme dsm $small -d -s 0 -b 65536 || fail discard
head -c 65536 $small | tr -d '\\000' | wc -c > /out/after-discard
nvme admin-passthru /dev/nvme0 -o 0xc0 -n 1 --cdw10=80 --cdw12=0x281 --cdw13=1 > /dev/null \\
	|| fail 'make a fault'
nvme read $small -s 80 -z 512 -d /sector 2> /out/read && fail 'no error'
nvme read $small -s 80 -z 512 -d /sector 2> /dev/null || fail 'an error again'
mount -t tracefs none /sys/kernel/tracing 2> /dev/null
put 1 /sys/kernel/tracing/events/nvme/nvme_async_event/enable
set_feature() { nvme set-feature /dev/nvme0 -f $1 -v $2 > /dev/null || fail "set-feature $1"; }
events() { sleep 0.5; grep -c 'nvme_async_event: nvme0' /sys/kernel/tracing/trace; }
set_feature 11 0
set_feature 4 300
events > /out/events-masked
set_feature 11 2
events > /out/events
dd if=/dev/zero of=$large bs=4096 count=100000 oflag=direct 2> /dev/null &
load=$!
sleep 0.3
put 0 /sys/kernel/vpcib/remove
wait $load
ls /dev | grep -c '^nvme0n' > /out/left
put nvme /sys/kernel/vpcib/add
ready /dev/nvme0n1
dd if=/dev/nvme0n1 of=/dev/null bs=1M count=8 2> /dev/null || fail 'read after return'
device=/sys/bus/pci/devices/10000:00:00.0
cp $device/resource /out/resource
put 1 $device/remove
[ ! -e /dev/nvme0n1 ] || fail 'the disk of a device that was removed'
put nvme /sys/kernel/vpcib/add
cp ${device%00.0}01.0/resource /out/resource-of-another
put 1 /sys/kernel/vpcib/remove
wait_for '[ ! -e /dev/nvme0n1 ]'
put 1 /sys/bus/pci/rescan
ready /dev/nvme0n1
dd if=/dev/nvme0n1 of=/dev/null bs=1M count=8 2> /dev/null || fail 'read after rescan'
cp $device/resource /out/resource-after
"""


@once
def driven(processors: int) -> Result:
    """Boot the VM with the card and Debian's driver."""
    files: dict[str, Path] = {}
    for program, package in PROGRAMS.items():
        files |= debian_programs.files(program, package)
    modules = {"card_nvme": "", "nvme": "", "ext4": "", "crc32c_generic": ""}
    return boot(SCENARIO, modules, files=files, cpus=processors, clock="wall", memory_mib=1024)


@pytest.fixture(params=[1, 4])
def run(request: pytest.FixtureRequest) -> Result:
    """The VM's files, with one and four processors."""
    return driven(request.param)


def test_nvme_cli_sees_the_controller(run: Result) -> None:
    about = json.loads(run.out["id-ctrl.json"])
    assert about["mn"].strip() == "Understudy virtual NVMe controller"
    assert (about["nn"], about["mdts"], about["ver"]) == (2, 5, 0x10400)
    assert re.findall(r"0x[0-9a-f]+", text(run, "list-ns")) == ["0x1", "0x2"]
    assert json.loads(run.out["id-ns.json"])["lbafs"][0]["ds"] == 12
    assert json.loads(run.out["smart.json"])["temperature"] == 313
    assert "MSI-X: Enable+" in text(run, "lspci")


def test_each_processor_has_a_queue(run: Result) -> None:
    """The admin queue's vector, and one for each queue of I/O."""
    lines = text(run, "interrupts").splitlines()
    processors = len(lines[0].split()) - 4
    assert len(lines) == 1 + processors


def test_files_survive_a_reset(run: Result) -> None:
    for number in (1, 2):
        assert text(run, f"sum{number}") == text(run, f"again{number}")


def test_discarded_sectors_are_zero(run: Result) -> None:
    assert text(run, "after-discard") == "0"


def test_an_error_on_demand_is_reported_once(run: Result) -> None:
    assert "Unrecovered Read Error" in text(run, "read")


def test_an_event_is_held_back_while_it_is_masked(run: Result) -> None:
    """It is warmer than the threshold; feature 0Bh lets the driver be told."""
    assert (text(run, "events-masked"), text(run, "events")) == ("0", "1")


def test_the_card_does_not_blame_the_driver(run: Result) -> None:
    """nvme.ko's data pointers and doorbell values are right."""
    assert "misuse" not in text(run, "dmesg")


def test_removal_under_load_leaves_nothing(run: Result) -> None:
    assert text(run, "left") == "0"


def test_it_is_found_again(run: Result) -> None:
    """The device was removed, and its slot scanned, by sysfs: the BARs are where they were, though
    another card came meanwhile.
    """
    assert run.out["resource"] == run.out["resource-after"]
    addresses = {name: text(run, name).split()[0] for name in ("resource", "resource-of-another")}
    assert len(set(addresses.values())) == 2, addresses
    log = run.out["dmesg"].decode()
    assert not re.search("vpcib: misuse|not where it was|derive routing", log), log
