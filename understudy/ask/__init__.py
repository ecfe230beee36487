# SPDX-License-Identifier: MIT
"""The sentence of an experiment (workload, scheduler, device), checked before anything runs."""
