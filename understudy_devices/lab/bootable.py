# SPDX-License-Identifier: MIT
"""Whether the lab's machine, a PC with a BIOS, can begin to boot a disk.

The BIOS loads the first sector, if that ends with the signature 55 AA, and jumps to it.  So the
signature is checked, and that there is code before the partition table.  Whether the code finds a
kernel, only a boot shows.
"""

from understudy_devices.base.errors import UserError
from understudy_devices.lab.qcow2 import SECTOR, Image

CODE_BYTES = 440
SIGNATURE = b"\x55\xaa"
GPT = b"EFI PART"
INSTEAD = "give --kernel and --initrd to boot it without a boot loader"


def check(image: Image) -> None:
    """Raise UserError if the BIOS would not boot the disk."""
    if image.header.virtual_bytes < 2 * SECTOR:
        raise UserError(f"{image.path}: not bootable: the disk is too small; {INSTEAD}")
    first = image.read(0, SECTOR)
    if not first.endswith(SIGNATURE):
        raise UserError(
            f"{image.path}: not bootable: its first sector does not end with 55 AA; {INSTEAD}"
        )
    if any(first[:CODE_BYTES]):
        return
    if image.read(SECTOR, SECTOR).startswith(GPT):
        raise UserError(
            f"{image.path}: not bootable: it has a GPT without code for a BIOS, so it boots only "
            f"with UEFI; {INSTEAD}"
        )
    raise UserError(
        f"{image.path}: not bootable: its first sector has a partition table but no code; {INSTEAD}"
    )
