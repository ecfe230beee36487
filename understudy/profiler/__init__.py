# SPDX-License-Identifier: MIT
"""Measures an unknown drive by timing requests, and fits a profile to it.

A target (`targets/`) is a black box.  Each file in `probes/` measures one part of the drive.  A
probe returns a `Finding` (`findings/`): a value and how sure it is.  A method (`methods/`) runs
some or all probes.  `fitted.py` makes the profile and checks it.  `from_trace/` fits a profile to a
trace instead.

The probes follow the literature where it has them: Worthington, Ganger, Patt and Wilkes, "On-line
extraction of SCSI disk drive parameters", SIGMETRICS 1995, and Schindler and Ganger, "Automated
disk drive characterization", CMU 1999.  Unlike those, our probes send the drive nothing but reads
and writes.
"""
