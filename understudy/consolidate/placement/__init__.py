# SPDX-License-Identifier: MIT
"""Assigns VMs to devices, so that every VM's 95th percentile stays under its target.

A judge (`problem.Judge`), usually a simulation, decides whether a device can bear a set of VMs.
Judgements are expensive, so they are few and remembered (`verdicts.py`).  `search.place` does the
whole search.
"""
