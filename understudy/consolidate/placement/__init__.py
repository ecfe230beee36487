# SPDX-License-Identifier: MIT
"""Which VM goes onto which device, so that every VM's 95th percentile stays under its target.

A device is judged with the VMs that would share it by somebody else (`problem.Judge`), by
simulation as a rule, so judgements are few and remembered (`verdicts.py`).  `search.place` is the
whole.
"""
