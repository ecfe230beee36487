# SPDX-License-Identifier: MIT
"""Assign VMs to devices so that every VM's 95th percentile of response times meets its target.

A judge (`problem.Judge`), usually a simulation, predicts whether all VMs of a set would meet their
targets on one device; if so, the device can bear the set.  Judgements are expensive, so there are
few, and they are remembered (`verdicts.py`).  `search.place` does the whole search.
"""
