# SPDX-License-Identifier: MIT
"""Targets to measure: a disk of this machine (`disk/`), our own model, or any module:factory.

Probes send their requests through `bench.py`, which keeps the clock, checks each completion, and
gives out fresh places.  `journal.py` records the completions.
"""
