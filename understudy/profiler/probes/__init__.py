# SPDX-License-Identifier: MIT
"""Probes: each file measures one part of a drive, by its response times alone.

`survey.py` runs the probes in an order in which each has the results it needs.
"""
