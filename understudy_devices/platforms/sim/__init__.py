# SPDX-License-Identifier: MIT
"""The simulator: the same workload, scheduler and disk as in the VM, in milliseconds."""
