# SPDX-License-Identifier: MIT
"""The virtual disks that the throttle can hold, by the names people choose them with.

Only a disk with a device budget lets a scheduler choose when the disk comes
free, and only one whose data lives in the guest keeps the virtual clock exact
(FINDINGS, "Which virtual disk"): hence the default.
"""

CONTROLLERS = {
    "vdisk": "our own: sparse, in the guest's memory, one request at a time",
    "lsi53c895a": "the papers' SCSI controller",
    "virtio-scsi": "paravirtual SCSI",
    "virtio-blk": "paravirtual disk; picks early, so schedulers are not judged fairly",
    "null_blk": "the kernel's own test disk; picks early as well",
}
DEFAULT = "vdisk"
