# SPDX-License-Identifier: MIT
"""Processes drive cards through Debian's vfio-pci.

The bus's IOMMU translates what a card accesses, and refuses what the process has not mapped. QEMU
has a driver of its own for NVMe controllers (nvme://), which knows nothing of this project.
"""

from pathlib import Path

from guests import boot, group, once, text

from understudy_devices.base.programs import Program, compiled
from understudy_devices.cards import specification
from understudy_devices.cards.header import header
from understudy_devices.platforms.vm import debian_programs
from understudy_devices.platforms.vm.machine import Result

pytestmark = group("vfio")

FOLDER = "tests/vm/drivers"
MODULES = {"vfio_iommu_type1": "", "vfio-pci": ""}
GIVE = """
device=10000:00:00.0
put vfio-pci /sys/bus/pci/devices/$device/driver_override
put $device /sys/bus/pci/drivers/vfio-pci/bind
group=$(basename $(readlink /sys/bus/pci/devices/$device/iommu_group))
"""
COPIES = f"""
{GIVE}
vfio $device $group > /out/copies || fail "vfio: $(cat /out/copies)"
put $device /sys/bus/pci/drivers/vfio-pci/unbind
rmmod card_copier || fail 'the card stayed'
rmmod vpcib || fail 'the bus stayed'
ls /sys/kernel/iommu_groups > /out/groups
"""
DISK = f"""
{GIVE}
disk() {{ qemu-io -f raw "$@" nvme://$device/1 > /out/said 2>&1 || fail "$(cat /out/said)"; }}
disk -c 'write -P 0x5a 0 1M' -c 'write -P 0xa5 1M 64k' -c 'write -z 512k 4k' -c flush
disk -c 'read -P 0x5a 0 512k' -c 'read -P 0 512k 4k' -c 'read -P 0xa5 1M 64k'
! grep -q 'verification failed' /out/said || fail "$(cat /out/said)"
cp /out/said /out/read
qemu-img bench -f raw -c 400 -d 16 -s 4096 -t none nvme://$device/1 > /out/bench 2>&1 \\
	|| fail "$(cat /out/bench)"
"""


@once
def copied(processors: int) -> Result:
    """Boot the VM in which a process drives a copier."""
    registers = f"{FOLDER}/copier_registers.h", header(specification.load("copier"))
    program = compiled(Program("vfio", (f"{FOLDER}/vfio_user.c",), generated=(registers,)))
    modules = {"card_copier": "", **MODULES}
    return boot(COPIES, modules, files={"bin/vfio": program}, clock="wall", cpus=processors)


def test_a_process_drives_a_card() -> None:
    """Neighbouring pages of the card are not neighbours in memory; the rest is out of its reach."""
    run = copied(2)
    assert text(run, "copies").splitlines() == [
        "viable 1",
        "across pages: interrupts 1, failed 0, error 0",
        "equal 1",
        "past the end: interrupts 1, failed 1, error 2",
        "to what it may only read: interrupts 1, failed 1, error 2",
        "its own physical address: interrupts 1, failed 1, error 2",
        "unmapped: interrupts 1, failed 1, error 2",
        "mapped anew: interrupts 1, failed 0, error 0",
        "equal 1",
    ]
    assert not text(run, "groups")


def test_qemu_drives_the_nvme_card() -> None:
    files: dict[str, Path] = {}
    for program in ("qemu-io", "qemu-img"):
        files |= debian_programs.files(program, "qemu-utils")
    modules = {"card_nvme": "", **MODULES}
    run = boot(DISK, modules, files=files, clock="wall", cpus=2, memory_mib=1024)
    assert text(run, "read").count("ops; ") == 3
    assert "Run completed" in text(run, "bench")
