# SPDX-License-Identifier: MIT
"""What each part of a drive is like, found by asking: one file a probe.

`survey.py` runs them in the order in which each knows what it needs.
"""
