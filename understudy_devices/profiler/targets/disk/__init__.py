# SPDX-License-Identifier: MIT
"""A disk of this machine, or an image file, as a target that is measured in real time.

`device_file.py` is the target and refuses unsuitable disks.  `in_use.py` finds other users of the
disk.  `sender.py` is the process that reads and writes.  `scsi.py` and `facts.py` ask the disk for
its identifying data.
"""
