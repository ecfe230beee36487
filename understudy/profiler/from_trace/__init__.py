# SPDX-License-Identifier: MIT
"""Fits a profile to a trace with service times, without access to the drive.

`served.py` is the trace as the disk saw it, `cached.py` tells hits from other reads, `curve.py`
fits a curve to the other reads, `fit.py` makes the profile and replays the trace.

With enough reads, `turned.py` finds the place of each sector: `turning.py` finds the period,
`window.py` a zone's rule, `followed.py` how far that rule holds, `positions.py` the layout of the
whole disk, `reached.py` the seeks.  `kept.py` takes what no trace shows from an existing profile.
"""
