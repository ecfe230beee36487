# SPDX-License-Identifier: MIT
"""Fits a profile to a trace with service times, without access to the drive.

`services.py` is the trace as the disk saw it, `cache_hits.py` separates cache hits from other
reads, `curve.py` fits a curve to the other reads, `fit.py` makes the profile and replays the trace.

If there are enough reads, `geometry.py` finds the angle of each sector: `turning.py` finds the
period, `window.py` the rule of a zone, `rule_walk.py` how far that rule is valid, `positions.py`
the layout of the whole disk, `seek_curve.py` the seek times.  `prior.py` copies values that no
trace shows from an existing profile.
"""
