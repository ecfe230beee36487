# SPDX-License-Identifier: MIT
"""Response times when several VMs share one storage device, from traces taken in isolation
(ICPE 2011)."""
