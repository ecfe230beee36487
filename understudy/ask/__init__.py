# SPDX-License-Identifier: MIT
"""The sentence: workload, scheduler, device; checked before anything runs."""
