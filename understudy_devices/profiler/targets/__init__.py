# SPDX-License-Identifier: MIT
"""Targets to measure: a disk of this machine (`disk/`), the project's model, or any module:factory.

Probes send their requests through `bench.py`, which keeps the clock, checks each completion, and
selects random sectors.  `journal.py` records the completions.
"""
