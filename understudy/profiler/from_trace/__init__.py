# SPDX-License-Identifier: MIT
"""Fits a profile to a trace with service times, without access to the drive.

`services.py` computes each request's service time, `cache_hits.py` finds the cache hits, `curve.py`
fits a seek curve to all other reads, and `fit.py` makes the profile and replays the trace.

If there are enough reads, `geometry.py` finds the angle of each sector: `turning.py` finds the
period, `window.py` the rule of a zone, `rule_walk.py` how far that rule is valid, `positions.py`
the layout of the whole disk, `seek_curve.py` the seek times.  `prior.py` copies values that no
trace shows from an existing profile.
"""
