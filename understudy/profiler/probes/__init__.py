# SPDX-License-Identifier: MIT
"""Probes: each file measures one part of a drive, using only its response times.

`survey.py` runs the probes in an order in which each has the earlier results that it needs.
"""
