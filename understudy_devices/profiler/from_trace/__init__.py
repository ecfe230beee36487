# SPDX-License-Identifier: MIT
"""Fits a profile to a trace with service times, without access to the drive.

`services.py` computes each request's service time, `cache_hits.py` finds the cache hits, `curve.py`
fits a seek curve to all other reads, and `fit.py` makes the profile and replays the trace.

If there are enough reads, `geometry.py` finds the angle of each sector and a seek curve over
tracks.  For this, `turning.py` finds the rotation's period, `window.py` the layout rule of a zone,
`rule_walk.py` where that rule ends, `positions.py` the layout of the whole disk, and
`seek_curve.py` the seek times.  `prior.py` copies values that a trace cannot show from an existing
profile.
"""
