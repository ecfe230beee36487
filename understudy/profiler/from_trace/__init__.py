# SPDX-License-Identifier: MIT
"""A profile from a trace with service times: what can be fitted when nothing can be asked.

`served.py` is the trace as the disk saw it, `cached.py` tells hits from other reads, `curve.py`
fits the others, `fit.py` makes a profile of it and replays the trace.

If there are enough reads they show where each sector is (`turned.py`): `turning.py` finds the
period, `window.py` a zone's rule, `followed.py` how far it goes, `positions.py` all of the disk,
`reached.py` the seeks.  What no trace shows may be in a profile that is there (`kept.py`).
"""
