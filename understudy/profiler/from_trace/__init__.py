# SPDX-License-Identifier: MIT
"""A profile from a trace with service times: what can be fitted when nothing can be asked.

`served.py` is the trace as the disk saw it, `cached.py` tells hits from other reads, `curve.py`
fits the others, `fit.py` makes a profile of it and replays the trace.
"""
