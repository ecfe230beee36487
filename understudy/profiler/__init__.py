# SPDX-License-Identifier: MIT
"""Measures a drive that nobody has described, by timing requests, and fits a profile to it.

A target (`targets/`) is a black box.  Each part of the drive has a file in `probes/`; what a probe
has found, and how sure it is, is a `Finding` (`findings/`).  A method (`methods/`) runs some probes
or all, and `fitted.py` makes the profile and checks it.  `from_trace/` does the same from a trace.

The probes are those of the literature where it has them: Worthington, Ganger, Patt and Wilkes,
"On-line extraction of SCSI disk drive parameters", SIGMETRICS 1995, and Schindler and Ganger,
"Automated disk drive characterization", CMU 1999, here without asking the drive for anything
but reads and writes.
"""
