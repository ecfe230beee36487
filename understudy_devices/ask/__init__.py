# SPDX-License-Identifier: MIT
"""The parts of an experiment (workload, scheduler, device), checked before anything runs."""
