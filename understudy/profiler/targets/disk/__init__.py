# SPDX-License-Identifier: MIT
"""A disk of this machine, or an image file, as a target: its own clock, true times.

`opened.py` is the target and refuses what it can't be; `in_use.py` knows who has the disk
already, `sender.py` is the process that reads and writes, `scsi.py` and `facts.py` what the disk
says of itself.
"""
