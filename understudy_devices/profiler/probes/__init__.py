# SPDX-License-Identifier: MIT
"""Probes: each file measures one part of a drive, using only its response times.

`survey.py` runs the probes in an order in which each probe has the results that it needs.
"""
