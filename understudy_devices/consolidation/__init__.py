# SPDX-License-Identifier: MIT
"""Predict the response times of several VMs that share one storage device, from traces that were
recorded while each VM ran alone (ICPE 2011)."""
