# SPDX-License-Identifier: MIT
"""Who can be asked: a disk of this machine (`disk/`), our own model, any module:factory.

`bench.py` is what probes ask through: it keeps the clock, checks each answer, and gives out places
that nobody has read.  `journal.py` keeps the answers.
"""
