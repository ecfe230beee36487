# SPDX-License-Identifier: MIT
"""Measures an unknown drive by timing requests, and fits a profile to it.

A target (`targets/`) is a black box.  Each file in `probes/` measures one part of the drive.  A
probe returns a `Finding` (`findings/`): a value and its confidence.  A method (`methods/`) runs
some or all probes.  `profile_fit.py` makes the profile and checks it.  `from_trace/` fits a profile
to a trace instead.

Some probes are from the literature: Worthington, Ganger, Patt and Wilkes, "On-line extraction of
SCSI disk drive parameters", SIGMETRICS 1995, or Schindler and Ganger, "Automated disk drive
characterization", CMU 1999.  Unlike the probes of these papers, all probes here send only reads and
writes to the drive.
"""
