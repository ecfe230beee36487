# SPDX-License-Identifier: MIT
"""The virtual disks that a VM can have, with their modules and devices.

vdisk is the default. The data of vdisk is in the guest's memory, so vdisk can hold a file system
and takes almost no time. The dispatch budget of vdisk keeps schedulers from picking a request while
the disk is busy. lsi53c895a is the controller that the papers used. QEMU's controllers store no
data (null-co), so they serve raw reads and writes at any size.
"""

from dataclasses import dataclass

from understudy_devices.base.catalog import pick

SECTOR_BYTES = 512
MIB = 2**20
GIB = 2**30


@dataclass(frozen=True)
class Controller:
    """One kind of virtual disk.

    disk: its name in the guest. modules: kernel modules and their parameters. devices: arguments
    for QEMU. In parameters and arguments, {bytes}, {mib} and {gib} stand for the size, which is
    rounded up to a multiple of `unit`. budget: the disk never makes a scheduler pick while it is
    busy; it accepts --queue-depth requests at the same time, up to `at_once_max`. flushes: the disk
    can report a write cache, and its flushes then reach the throttle. dividing: the module's
    parameter that allows partitions; empty if there can be none.
    """

    name: str
    disk: str
    modules: tuple[tuple[str, str], ...]
    devices: tuple[str, ...] = ()
    holds_data: bool = False
    budget: bool = False
    at_once_max: int = 1
    flushes: bool = False
    unit: int = SECTOR_BYTES
    dividing: str = ""

    def module_parameters(self, size: int, divided: bool = False) -> dict[str, str]:
        sized = {name: _sized(text, size) for name, text in self.modules}
        if divided:
            sized[self.name] += f" {self.dividing}"
        return sized

    def device_arguments(self, size: int) -> tuple[str, ...]:
        return tuple(_sized(text, size) for text in self.devices)

    def capacity_sectors(self, size: int) -> int:
        """Return the size, in sectors, that the guest sees of a disk of `size` bytes."""
        return -(-size // self.unit) * self.unit // SECTOR_BYTES


def _sized(text: str, size: int) -> str:
    return text.format(bytes=size, mib=-(-size // MIB), gib=-(-size // GIB))


NULL = ("-blockdev", "driver=null-co,node-name=target,size={bytes},read-zeroes=on")

CONTROLLERS = {
    controller.name: controller
    for controller in (
        Controller(
            "vdisk",
            "vdisk",
            (("vdisk", "size={bytes}"),),
            holds_data=True,
            budget=True,
            at_once_max=128,  # QUEUE_DEPTH in kernel/vdisk/vdisk.c
            flushes=True,
            dividing="partitions=1",
        ),
        Controller(
            "null_blk",
            "nullb0",
            (
                (
                    "null_blk",
                    "queue_mode=2 irqmode=1 memory_backed=1 submit_queues=1 hw_queue_depth=1 "
                    "bs=512 gb={gib}",
                ),
            ),
            holds_data=True,
            unit=GIB,
        ),
        Controller(
            "lsi53c895a",
            "sda",
            (("sym53c8xx", "cmd_per_lun=1"), ("sd_mod", "")),
            (*NULL, "-device", "lsi53c895a", "-device", "scsi-hd,drive=target"),
            budget=True,
        ),
        Controller(
            "virtio-scsi",
            "sda",
            (("virtio_pci", ""), ("virtio_scsi", ""), ("sd_mod", "")),
            (*NULL, "-device", "virtio-scsi-pci", "-device", "scsi-hd,drive=target"),
        ),
        Controller(
            "virtio-blk",
            "vda",
            (("virtio_pci", ""), ("virtio_blk", "queue_depth=2")),
            (*NULL, "-device", "virtio-blk-pci,drive=target"),
        ),
        Controller(
            "nvme-card",
            "nvme0n1",
            (("card_nvme", "namespaces=1 megabytes={mib}"), ("nvme", "io_queue_depth=2")),
            holds_data=True,
            unit=MIB,
        ),
    )
}


def controller(name: str) -> Controller:
    """Return the controller of that name; UserError names the most similar name."""
    return pick("controller", name, CONTROLLERS)
