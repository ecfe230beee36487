# SPDX-License-Identifier: MIT
"""Measures a drive that nobody has described, by timing requests, and fits a profile to it.

A target (`target.py`) is a black box.  Each part of the drive has a file here that probes for
it; what a probe has found, and how sure it is, is a `Finding`.  `survey.py` asks for all of
them in order, `fitted.py` is the answer.

The probes are those of the literature where it has them: Worthington, Ganger, Patt and Wilkes,
"On-line extraction of SCSI disk drive parameters", SIGMETRICS 1995, and Schindler and Ganger,
"Automated disk drive characterization", CMU 1999, here without asking the drive for anything
but reads and writes.
"""
